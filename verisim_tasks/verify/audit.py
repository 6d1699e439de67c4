"""Auditing finished conversations, and lists of single claims, of this suite or in the published VeriSim format."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from verisim_tasks.cases.bank import load_cases
from verisim_tasks.errors import UserError
from verisim_tasks.patient.base import Exchange, PatientSetting
from verisim_tasks.records.case import Case
from verisim_tasks.records.noise import NoiseProfile
from verisim_tasks.records.transcript import Transcript, Turn
from verisim_tasks.verify.verifier import Draft, Findings, Verifier

PATIENT_NAMES = ("patient", "user", "caregiver", "simulated_patient")
DOCTOR_NAMES = ("doctor", "physician", "assistant", "clinician", "agent")
_TURN_KEYS = ("turns", "conversation", "dialogue", "messages", "transcript", "history")
_ROLE_KEYS = ("role", "speaker", "from")
_TEXT_KEYS = ("content", "text", "message", "utterance", "value")


@dataclass(frozen=True)
class Dialogue:
    """One conversation to audit."""

    place: str
    case_id: str
    noise: NoiseProfile
    turns: tuple[Turn, ...]


@dataclass(frozen=True)
class Offence:
    """One patient turn with something wrong in it."""

    place: str
    case_id: str
    turn: int
    sentence: str
    kind: str
    """``unsupported``, ``contradicted`` or the kind of a problem."""
    detail: str


@dataclass
class Audit:
    """What an audit found."""

    dialogues: int = 0
    patient_turns: int = 0
    hallucinated_turns: int = 0
    """Turns with an unsupported or contradicted claim."""
    claims: Counter[str] = field(default_factory=Counter)
    """Claims by verdict."""
    problems: Counter[str] = field(default_factory=Counter)
    offences: list[Offence] = field(default_factory=list)

    @property
    def hallucination_rate(self) -> float | None:
        """Share of patient turns with an unsupported or contradicted claim; None without a patient turn."""
        return self.hallucinated_turns / self.patient_turns if self.patient_turns else None

    def as_json(self) -> dict[str, Any]:
        """The audit as a JSON object."""
        return {
            "dialogues": self.dialogues,
            "patient_turns": self.patient_turns,
            "hallucinated_turns": self.hallucinated_turns,
            "hallucination_rate": self.hallucination_rate,
            "claims": dict(sorted(self.claims.items())),
            "problems": dict(sorted(self.problems.items())),
            "offences": [asdict(o) for o in self.offences],
        }


def audit(dialogues: Sequence[Dialogue], cases: Mapping[str, Case], verifier: Verifier) -> Audit:
    """Verify every patient turn that answers a doctor. Raises ``UserError`` for a case that is not among ``cases``."""
    drafts: list[Draft] = []
    origins: list[tuple[Dialogue, Turn]] = []
    for dialogue in dialogues:
        case = find_profile(dialogue.case_id, cases, dialogue.place)
        for turn, exchange in _exchanges(dialogue, case):
            drafts.append(Draft(exchange, turn.text))
            origins.append((dialogue, turn))
    result = Audit(dialogues=len(dialogues))
    for (dialogue, turn), findings in zip(origins, verifier.verify(drafts), strict=True):
        _count(result, dialogue, turn, findings)
    return result


def _exchanges(dialogue: Dialogue, case: Case) -> Iterable[tuple[Turn, Exchange]]:
    setting = PatientSetting(case, dialogue.noise)
    message = ""
    for place, turn in enumerate(dialogue.turns):
        if turn.speaker == "doctor":
            message = turn.text
        elif turn.speaker == "patient":
            before = dialogue.turns[: max(0, place - 1)] if message else dialogue.turns[:place]
            yield turn, Exchange(setting, before, message, turn.index)
            message = ""


def _count(result: Audit, dialogue: Dialogue, turn: Turn, findings: Findings) -> None:
    result.patient_turns += 1
    wrong = [c for c in findings.claims if c.verdict in ("unsupported", "contradicted")]
    result.hallucinated_turns += bool(wrong)
    result.claims.update(c.verdict for c in findings.claims)
    result.problems.update(p.kind for p in findings.problems)
    for claim in wrong:
        detail = "; ".join(claim.evidence)
        result.offences.append(Offence(dialogue.place, dialogue.case_id, turn.index, claim.text, claim.verdict, detail))
    for problem in findings.problems:
        result.offences.append(
            Offence(dialogue.place, dialogue.case_id, turn.index, problem.sentence, problem.kind, problem.detail)
        )


def judge_rows(
    rows: Sequence[Mapping[str, Any]], cases: Mapping[str, Case], verifier: Verifier
) -> list[dict[str, Any]]:
    """Each row with its ``verdict`` (supported, unsupported, contradicted, not_clinical) and ``evidence``."""
    by_case: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        by_case.setdefault(str(row["patient_id"]), []).append(place)
    judged: dict[int, dict[str, Any]] = {}
    for patient_id, places in by_case.items():
        case = find_profile(patient_id, cases, f"row {places[0] + 1}")
        verdicts = verifier.judge_claims(case, [str(rows[p]["claim"]) for p in places])
        for place, one in zip(places, verdicts, strict=True):
            verdict = "unsupported" if one.verdict == "unrecorded_denial" else one.verdict
            judged[place] = {**rows[place], "verdict": verdict, "evidence": [*one.facts, *one.reasons]}
    return [judged[place] for place in range(len(rows))]


def find_profile(patient_id: str, cases: Mapping[str, Case], place: str) -> Case:
    """The case of that id; a published profile goes by its own id and by ``verisim-<id>``."""
    for name in (patient_id, patient_id.lower(), f"verisim-{patient_id.lower()}"):
        if name in cases:
            return cases[name]
    raise UserError(f"{place}: no case {patient_id!r}; give the folder of its profiles with --profiles")


def load_profiles(source: str | None) -> dict[str, Case]:
    """Cases by id: the bank, a folder or file of our cases, or of published profiles (``*.json``)."""
    if source is None:
        return {c.id: c for c in load_cases("bank")}
    path = Path(source).expanduser()
    if (path.is_dir() and not any(path.glob("*.yaml")) and any(path.glob("*.json"))) or (
        path.is_file() and path.suffix == ".json"
    ):
        source = f"verisim:{path}"
    return {c.id: c for c in load_cases(source)}


def read_transcripts(path: Path) -> list[Dialogue]:
    """All conversations of a JSON-lines or JSON file, in our format or the published one.

    Raises ``UserError`` naming file and line of a bad one.
    """
    return [_dialogue(record, place) for place, record in _records(path)]


def _records(path: Path) -> list[tuple[str, Any]]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); give a file of transcripts") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: not UTF-8 text; save the file as UTF-8") from error
    whole = _parsed(text)
    if isinstance(whole, dict):
        return [(str(path), whole)]
    if isinstance(whole, list):
        return [(f"{path}, record {n}", r) for n, r in enumerate(whole, start=1)]
    rows: list[tuple[str, Any]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            record = _parsed(line)
            if not isinstance(record, dict):
                raise UserError(f"{path}, line {number}: not a JSON object; write one transcript a line")
            rows.append((f"{path}, line {number}", record))
    if not rows:
        raise UserError(f"{path}: holds no transcript; give a file with one transcript a line")
    return rows


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (json.JSONDecodeError, RecursionError):
        return None


def _dialogue(record: Any, place: str) -> Dialogue:
    if not isinstance(record, dict):
        raise UserError(f"{place}: not a JSON object; a transcript is one")
    if "case_id" in record and "outcome" in record:
        try:
            own = Transcript.model_validate_json(json.dumps(record))
        except ValidationError as error:
            first = error.errors()[0]
            field_name = ".".join(str(p) for p in first["loc"])
            raise UserError(f"{place}: {field_name}: {first['msg']}; give a whole transcript") from error
        return Dialogue(place, own.case_id, own.profile, own.turns)
    return _published(record, place)


def _published(record: Mapping[str, Any], place: str) -> Dialogue:
    """``{"patient_id", "turns": [{"role", "content"}]}`` and what goes by similar names."""
    patient_id = record.get("patient_id") or record.get("case_id") or record.get("id")
    turns = next((record[k] for k in _TURN_KEYS if isinstance(record.get(k), list)), None)
    if not isinstance(patient_id, str) or turns is None:
        raise UserError(f'{place}: no transcript; it needs "patient_id" and a list of "turns"')
    found: list[Turn] = []
    asked = 0
    for number, entry in enumerate(turns, start=1):
        if not isinstance(entry, dict):
            raise UserError(f'{place}: turn {number} is not an object with "role" and "content"')
        role = next((str(entry[k]).strip().lower() for k in _ROLE_KEYS if k in entry), "")
        text = next((entry[k] for k in _TEXT_KEYS if isinstance(entry.get(k), str)), None)
        if text is None or not role:
            raise UserError(f'{place}: turn {number} has no "role" or no "content"')
        if role in DOCTOR_NAMES:
            asked += 1
            found.append(Turn(index=asked, speaker="doctor", text=text))
        elif role in PATIENT_NAMES:
            found.append(Turn(index=asked, speaker="patient", text=text))
    return Dialogue(place, patient_id, _noise_of(record, place), tuple(found))


def _noise_of(record: Mapping[str, Any], place: str) -> NoiseProfile:
    """The noise of a published transcript: a list of type and level, or levels by dimension; none when left out."""
    given = record.get("noise_profile") or record.get("noise") or {}
    if isinstance(given, list):
        given = {str(e.get("type")): e.get("level") for e in given if isinstance(e, dict)}
    if not isinstance(given, dict):
        raise UserError(f"{place}: the noise profile is neither a list nor an object")
    try:
        return NoiseProfile(given)
    except UserError as error:
        raise UserError(f"{place}: {error}") from error

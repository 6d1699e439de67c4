"""The patient played by a language model and held to the truth by a verifier.

What is told, held back or asked back about is planned as for the scripted patient, so that a noise level means the same
for both. The model finds the words. Every draft is verified; a rejected one is written again with what was wrong, at
most twice, and then the scripted patient answers, so that no fabricated claim reaches the doctor.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from verisim_tasks.language.model_text import clean_characters, each_once, own_side, say_once, strip_thinking, whole
from verisim_tasks.noise.scene import Scene
from verisim_tasks.patient.base import Exchange, PatientSetting
from verisim_tasks.patient.plan import Plan
from verisim_tasks.patient.played.echo import echoes
from verisim_tasks.patient.played.prompts import ChatMessage, patient_prompt, prompts_digest, reword_prompt
from verisim_tasks.patient.scripted import ScriptedPatient
from verisim_tasks.records.transcript import Disclosure, Turn, Verification, VerifiedDraft
from verisim_tasks.verify.instrument import verifier_digest
from verisim_tasks.verify.verifier import Draft, Findings

ATTEMPTS = 3
"""Drafts a model may write for one turn: the first and two more."""
NO_REPLY = "no_reply"
REPEATS = "repeats"
"""Kind of violation: word for word what was said before, to another question."""
NO_ANSWER = "no_answer"
"""Kind of violation: tells nothing of the record although the noise lets an answer out."""
ECHOES = "echoes_instructions"
"""Kind of violation: says aloud what the model was told to do."""
_ADVICE = {
    REPEATS: "You have said that already.",
    NO_ANSWER: "It does not answer the doctor's question.",
    ECHOES: "Only the patient's own words are spoken.",
}

Style = Literal["act", "reword"]
"""``act``: the model plays the part from the whole record. ``reword``: it puts the scripted answer in other words."""


class Unanswered(Protocol):
    """Why a model gave no reply."""

    @property
    def reason(self) -> str:
        """In a few words."""


class TurnChat(list[ChatMessage]):
    """A chat that knows which turn of which consultation it is for."""

    def __init__(self, chat: Sequence[ChatMessage], exchange: Exchange) -> None:
        super().__init__(chat)
        self.setting = exchange.setting
        self.turn = exchange.index


Ask = Callable[[Sequence[list[ChatMessage]]], Sequence["str | Unanswered"]]
"""Whoever writes the drafts: all chats of a step at once, one reply for each, in order."""


Check = Callable[[Sequence[Draft]], Sequence[Findings]]
"""The verifier: all drafts of a step at once."""


@dataclass
class _Answering:
    """One turn while it is being written."""

    exchange: Exchange
    scene: Scene
    plan: Plan
    scripted: Turn
    drafts: list[VerifiedDraft] = field(default_factory=list)
    feedback: str = ""
    said: tuple[str, str, Findings] | None = None
    """What was accepted: the reply as written, as heard, and the verdict."""


class PlayedPatient:
    """A patient whose words are a language model's. Raises ``UserError`` for a case that the script cannot follow."""

    def __init__(
        self,
        ask: Ask,
        check: Check,
        *,
        model: dict[str, Any],
        style: Style = "act",
        extractor: dict[str, Any] | str = "rules",
        script: ScriptedPatient | None = None,
    ) -> None:
        self._style = style
        self._extractor = extractor
        self._ask = ask
        self._check = check
        self._model = model
        self._script = script or ScriptedPatient()

    def open(self, setting: PatientSetting) -> Turn:
        """The chief complaint, word for word, as the scripted patient says it."""
        return self._script.open(setting)

    def describe(self) -> dict[str, Any]:
        """The model, its prompts and everything of the script, for the instrument fingerprint."""
        script = self._script.describe()
        return {
            "patient": "model",
            "model": self._model,
            "style": self._style,
            "claims": self._extractor,
            "verifier": verifier_digest(),
            "prompts": prompts_digest(),
            "script": script,
        }

    def reply(self, exchanges: Sequence[Exchange]) -> list[Turn]:
        """One patient turn for each exchange, in order; at most three batched calls of the model."""
        answering = [self._begin(e, s) for e, s in zip(exchanges, self._script.scenes(exchanges), strict=True)]
        for _ in range(ATTEMPTS):
            waiting = [a for a in answering if a.said is None]
            if waiting:
                self._draft(waiting)
        return [_turn(a) for a in answering]

    def _begin(self, exchange: Exchange, scene: Scene) -> _Answering:
        plan = self._script.plan(scene)
        return _Answering(exchange, scene, plan, self._script.voice(scene, plan))

    def _chat(self, a: _Answering) -> list[ChatMessage]:
        if self._style == "reword":
            return reword_prompt(a.scripted.text, a.feedback)
        return patient_prompt(a.scene, a.plan, a.exchange.turns, a.scripted.text, a.feedback)

    def _draft(self, waiting: Sequence[_Answering]) -> None:
        """One more draft for each, written in one call and verified in one call."""
        chats = [TurnChat(self._chat(a), a.exchange) for a in waiting]
        replies = list(self._ask(chats))
        texts = [heard(reply) if isinstance(reply, str) else "" for reply in replies]
        found = self._check([Draft(a.exchange, text) for a, text in zip(waiting, texts, strict=True)])
        for answering, reply, text, findings in zip(waiting, replies, texts, found, strict=True):
            if not isinstance(reply, str):
                answering.drafts.append(VerifiedDraft(text="", problems=(f"{NO_REPLY}: {reply.reason}",)))
                continue
            kinds = [str(p.kind) for p in findings.problems]
            kinds += _evasions(text, findings, answering)
            answering.drafts.append(
                VerifiedDraft(text=text, claims=findings.claims, problems=tuple(dict.fromkeys(kinds)))
            )
            answering.feedback = findings.feedback or " ".join(_ADVICE[k] for k in kinds if k in _ADVICE)
            if findings.ok and not kinds:
                answering.said = (reply, text, findings)


def heard(reply: str) -> str:
    """What is heard of a model's reply: the patient's own words.

    No thoughts, no lines for the doctor, nothing twice, no half sentence behind whole ones, no quotation marks around
    it all.
    """
    spoken, _, closed = strip_thinking(clean_characters(reply))
    own, _ = own_side(spoken if closed else "", "patient")
    text, _ = say_once(own)
    text = each_once(whole(" ".join(text.split())))
    return text[1:-1].strip() if len(text) > 1 and text[0] in '"“' and text[-1] in '"”' else text


def _evasions(text: str, findings: Findings, answering: _Answering) -> list[str]:
    """Ways of giving no answer that the noise does not ask for."""
    before = {t.text for t in answering.exchange.turns if t.speaker == "patient"}
    if text in before and text != answering.scripted.text:
        return [REPEATS]
    if echoes(text, answering.feedback):
        return [ECHOES]
    due = any(line.fact is not None and line.mode in ("tell", "deny") for line in answering.plan.spoken)
    answers = findings.disclosed or any(d.kind == "justified" for d in findings.denials)
    return [NO_ANSWER] if due and not answers else []


def _turn(answering: _Answering) -> Turn:
    """The accepted draft as a turn; without one the scripted answer, marked as such."""
    scripted = answering.scripted
    if answering.said is None:
        return scripted.model_copy(
            update={"verification": Verification(drafts=tuple(answering.drafts), fallback=True), "flags": ("fallback",)}
        )
    reply, text, findings = answering.said
    told = set(findings.disclosed)
    return Turn(
        index=scripted.index,
        speaker="patient",
        text=text,
        heard_by=("doctor",),
        raw=reply if reply != text else None,
        asked=scripted.asked,
        disclosed=tuple(_disclosure(i, text, answering.scene, scripted) for i in findings.disclosed),
        withheld=tuple(i for i in scripted.withheld if i not in told),
        denials=findings.denials,
        events=tuple(e for e in answering.plan.events if e.fact_id not in told),
        verification=Verification(drafts=tuple(answering.drafts)),
    )


def _disclosure(fact_id: str, text: str, scene: Scene, scripted: Turn) -> Disclosure:
    """A fact told: recognisable where the words name what it is about."""
    concept = scene.index.concept_of.get(fact_id)
    named = {value for hit in scene.index.mentions(text) for value in hit.values}
    recognisable = f"fact:{fact_id}" in named or (concept is not None and f"concept:{concept}" in named)
    return Disclosure(
        fact_id=fact_id,
        form="full" if recognisable else "vague",
        asked=fact_id in scripted.asked,
        recognisable=recognisable,
    )

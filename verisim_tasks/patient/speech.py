"""Putting a plan into words: segments whose sources are known, joined into one turn."""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from verisim_tasks._stable import choose, draw
from verisim_tasks.language.lexicon import load_yaml
from verisim_tasks.language.words import fold
from verisim_tasks.noise.markup import Span, blur, plain
from verisim_tasks.noise.scene import Scene
from verisim_tasks.patient.answer import PERSONAL_ITEMS
from verisim_tasks.patient.grounding import SYMPTOM_ITEMS
from verisim_tasks.patient.plan import Aside, Line, Plan
from verisim_tasks.patient.wording import informed
from verisim_tasks.records.case import Case, Fact
from verisim_tasks.records.transcript import Denial, Disclosure, Form, NoiseEvent, Segment, Turn

_NOT_PLAIN = re.compile(
    r"\b(?:used to|stopped|quit|gave up|given up|no longer|never|not|nothing|but|only|\w+n't"
    r"|went away|cleared|grew out)\b"
)

MAX_ASIDES = 2
"""Asides kept before and after an answer."""


def speak(plan: Plan, scene: Scene) -> Turn:
    """The patient's turn: text, what it told, withheld and denied, and where each stretch comes from."""
    segments: list[Segment] = []
    events = list(plan.events)
    disclosed: list[Disclosure] = []
    denials: list[Denial] = []
    if plan.spoken:
        before = sorted(plan.before, key=lambda a: a.device != "greeting")
        segments += [_aside(a, plan, scene) for a in before[:MAX_ASIDES]]
        joint = _denied_together(plan, scene)
        segments += joint
        for line in plan.spoken:
            together = bool(joint) and _is_absent_symptom(line, scene)
            segment, told, denied, blurred = _line(line, scene, said=together, several=len(plan.spoken) > 1)
            if segment.text and segment.text not in {s.text for s in segments}:
                segments += _confirmation(line, scene, segments)
                segments.append(segment)
            disclosed += told
            denials += denied
            events += blurred
        segments += [_aside(a, plan, scene) for a in plan.after[:MAX_ASIDES]]
    else:
        instead = plan.instead or Aside("confused", "plain")
        said = _aside(instead, plan, scene)
        repeated = [_again(fact_id, scene) for fact_id in plan.again]
        segments += [*repeated, said] if instead.device == "fixate" else [said, *repeated]
    segments = [_without_leak(s, scene) for s in segments]
    return Turn(
        index=scene.turn,
        speaker="patient",
        text=" ".join(s.text for s in segments),
        heard_by=("doctor",),
        asked=tuple(dict.fromkeys(k for line in plan.lines for k in (line.key, line.target.key))),
        disclosed=tuple(disclosed),
        withheld=tuple(line.fact.id for line in plan.lines if line.mode == "hold" and line.fact is not None),
        denials=tuple(denials),
        events=tuple(events),
        segments=tuple(segments),
    )


def opening(case: Case) -> Turn:
    """The patient's first line: the chief complaint, exactly, whatever the noise."""
    text = plain(case.opening.lay)
    return Turn(
        index=0,
        speaker="patient",
        text=text,
        heard_by=("doctor",),
        disclosed=(Disclosure(fact_id=case.opening.id, asked=False),),
        segments=(Segment(text=text, kind="fact", fact_ids=(case.opening.id,)),),
    )


def _line(
    line: Line, scene: Scene, *, said: bool, several: bool
) -> tuple[Segment, list[Disclosure], list[Denial], list[NoiseEvent]]:
    """One line in words, with what it discloses or denies."""
    fact = line.fact
    if line.mode == "tell" and fact is not None:
        text, form, events = word_fact(line, fact, scene)
        told = Disclosure(fact_id=fact.id, form=form, asked=True, recognisable=form != "vague")
        return Segment(text=text, kind="fact", fact_ids=(fact.id,), device=form), [told], [], events
    if line.mode == "deny" and fact is not None:
        text, form, events = word_fact(line, fact, scene)
        denial = Denial(kind="recorded", concept=line.concept, fact_id=fact.id)
        told = Disclosure(fact_id=fact.id, form=form, asked=True)
        return Segment(text=text, kind="denial", fact_ids=(fact.id,)), [told], [denial], events
    if line.mode == "deny_falsely" and fact is not None:
        text = scene.say("social_cultural", "deny_falsely")
        denial = Denial(kind="justified", concept=line.concept, fact_id=fact.id)
        return Segment(text=text, kind="denial", device="deny_first"), [], [denial], []
    if line.mode == "absent":
        text = "" if said else _absent(line, scene, named=several)
        return Segment(text=text, kind="denial", device="unrecorded"), [], [_unrecorded(line)], []
    device = "unclear" if line.target.doubtful else "unknown"
    device = "personal" if line.target.item in PERSONAL_ITEMS else device
    return Segment(text=scene.say("plain", device, line.key), kind="social", device=device), [], [], []


def _denied_together(plan: Plan, scene: Scene) -> list[Segment]:
    """Several absent symptoms of one question in one breath; nothing where there are fewer than two."""
    lines = [line for line in plan.spoken if _is_absent_symptom(line, scene)]
    if len(lines) < 2:
        return []
    names = [scene.index.lexicon.concepts[line.target.concept or ""].name for line in lines]
    listed = f"{', '.join(names[:-1])} or {names[-1]}"
    text = scene.say("plain", "unrecorded_several").replace("{terms}", listed)
    return [Segment(text=text, kind="denial", device="unrecorded")]


def _is_absent_symptom(line: Line, scene: Scene) -> bool:
    concept = scene.index.lexicon.concepts.get(line.target.concept or "")
    symptom = concept is not None and concept.kind == "symptom"
    return symptom and line.mode == "absent" and line.target.item is None


def _unrecorded(line: Line) -> Denial:
    return Denial(kind="unrecorded", concept=line.concept)


def word_fact(line: Line, fact: Fact, scene: Scene) -> tuple[str, Form, list[NoiseEvent]]:
    """The fact in this patient's words: the form literacy chose, blurred as memory demands, softened if need be."""
    marked, form = _worded(line, fact, scene)
    text, blurred = blur(marked, lambda span: _is_blurred(span, fact, scene))
    events = [scene.event("health_literacy", "lay_words", line)] if form == "lay" else []
    events += [
        scene.event("memory_recall", "blur_time" if span.kind == "time" else "drop_detail", line, detail=span.kind)
        for span in blurred
    ]
    if blurred and form in ("full", "lay"):
        form = "blurred"
    if fact.sensitive and scene.rate("social_cultural", "euphemism") and line.mode == "tell":
        softened = _soften(text, scene)
        if softened != text:
            events.append(scene.event("social_cultural", "euphemism", line))
            text = softened
    return text, form, events


def _worded(line: Line, fact: Fact, scene: Scene) -> tuple[str, Form]:
    """The marked words and their form: clinical words (``full``) where literacy is not limited, else ``lay`` ones."""
    own = _own_words(fact, scene)
    concept = scene.concept(line)
    if line.form == "vague":
        return fact.vague or (concept.vague if concept and concept.vague else own), "vague"
    if line.form == "colloquial" and fact.colloquial:
        return fact.colloquial, "colloquial"
    lay = line.form == "full" and _limited(scene) and own != _informed(fact, scene)
    return own, "lay" if lay else line.form


def _own_words(fact: Fact, scene: Scene) -> str:
    return fact.lay if _limited(scene) else _informed(fact, scene)


def _informed(fact: Fact, scene: Scene) -> str:
    """The fact with clinical words; the opening is the same at every level."""
    case = scene.setting.case
    return fact.lay if fact.id == case.opening.id else informed(fact.lay, case)


def _limited(scene: Scene) -> bool:
    return bool(scene.rate("health_literacy", "lay_words"))


def _is_blurred(span: Span, fact: Fact, scene: Scene) -> bool:
    if fact.category in ("age", "gender", "race", "occupation"):
        return False
    device = "blur_time" if span.kind == "time" else "drop_detail"
    return scene.applies("memory_recall", device, fact.id)


def _soften(text: str, scene: Scene) -> str:
    for pattern, soft in _euphemisms():
        word = choose(soft, scene.setting.seed, scene.setting.case.id, pattern.pattern)
        text = pattern.sub(word, text)
    return text


@functools.cache
def _euphemisms() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    rows = load_yaml("phrases", "euphemisms.yaml")
    return tuple((re.compile(rf"\b(?:{row['plain']})\b", re.IGNORECASE), tuple(row["soft"])) for row in rows)


def _absent(line: Line, scene: Scene, *, named: bool) -> str:
    """A denial of what the case does not hold, in words that fit what was asked. ``named``: says what is denied."""
    concept = scene.index.lexicon.concepts.get(line.target.concept or "")
    if line.target.item == "family_medical_history":
        return scene.say("plain", "unrecorded_family", line.key)
    if line.target.item is not None and concept is None:
        return scene.say("plain", "unrecorded_list", line.key)
    if concept is None:
        return scene.say("plain", "unrecorded_other", line.key)
    kind = concept.kind if concept.kind in ("symptom", "condition", "drug", "habit") else "other"
    if kind == "symptom" and (named or scene.level("cognitive_processing") or not line.target.yes_no):
        return _not_noticed(concept.name)
    text = scene.say("plain", f"unrecorded_{kind}", line.key)
    return text.replace("{term}", concept.name)


def _not_noticed(name: str) -> str:
    """A denial that names a symptom, whose name may be a noun, a state ("unable to sleep") or a doing."""
    first, *others = name.split()
    if first in ("unable", "always"):
        return f"I haven't been {name}."
    return f"As for {name}, no." if others and first.endswith("ing") else f"I haven't noticed any {name}."


def _confirmation(line: Line, scene: Scene, said: Sequence[Segment]) -> list[Segment]:
    """A yes before the fact, where a plain yes is true and cannot be taken for an answer to something else."""
    plain_yes = line.mode == "tell" and line.target.confirms and line.form != "vague" and not line.told_before
    plain_yes = plain_yes and line.fact is not None and _is_plainly_so(line.fact)
    if not plain_yes or scene.level("cognitive_processing") or any(s.kind in ("fact", "denial") for s in said):
        return []
    setting = scene.setting
    if draw(setting.seed, setting.repeat, setting.case.id, "confirm", scene.turn) > 0.5:
        return []
    return [Segment(text=scene.say("plain", "confirm"), kind="social", device="confirm")]


def _is_plainly_so(fact: Fact) -> bool:
    """A symptom or illness that is there now, without a but: "I stopped" is no plain yes to "do you smoke?"."""
    said = fold(fact.lay)
    return fact.category in (*SYMPTOM_ITEMS, "medical_history") and not _NOT_PLAIN.search(said)


def _aside(aside: Aside, plan: Plan, scene: Scene) -> Segment:
    text = scene.say(aside.dimension, aside.device)
    if plan.asks_about:
        text = text.replace("{term}", plan.asks_about)
    kind = "social" if aside.dimension == "plain" else "noise"
    return Segment(text=text[:1].upper() + text[1:], kind=kind, device=aside.device)


def _again(fact_id: str, scene: Scene) -> Segment:
    """A fact already told, once more, in its plain words; the opening word for word."""
    fact = scene.setting.case.fact(fact_id)
    opens = fact_id == scene.setting.case.opening.id
    text, _ = blur(_own_words(fact, scene), lambda span: not opens and _is_blurred(span, fact, scene))
    return Segment(text=text, kind="fact", fact_ids=(fact_id,), device="again")


def _without_leak(segment: Segment, scene: Scene) -> Segment:
    """Whatever a doctor's word echoed: the diagnosis is never in a patient's mouth."""
    diagnosis = scene.setting.case.diagnosis
    if diagnosis is None or segment.kind == "fact":
        return segment
    said = f" {re.sub(r'[^a-z0-9]+', ' ', fold(segment.text))} "
    for name in (diagnosis.name, *diagnosis.synonyms):
        if f" {re.sub(r'[^a-z0-9]+', ' ', fold(name)).strip()} " in said:
            return segment.model_copy(update={"text": scene.say("health_literacy", "ask_plain")})
    return segment

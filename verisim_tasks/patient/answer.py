"""The plan at level 0: everything that was asked, fully and briefly, and nothing else."""

from __future__ import annotations

from dataclasses import replace

from verisim_tasks.language.words import words
from verisim_tasks.noise.markup import plain
from verisim_tasks.noise.scene import Scene
from verisim_tasks.patient.grounding import SYMPTOM_ITEMS, Target
from verisim_tasks.patient.plan import Aside, Line, Plan
from verisim_tasks.records.case import Fact

MAX_WORDS = 42
"""Words of facts in one answer; what does not fit waits for another question."""
MAX_LISTED = 4
"""Facts told of a list (medicines, past illnesses) in one answer."""
OPEN_FACTS = 2
"""Facts told in answer to an open question."""

PERSONAL_ITEMS = (
    "occupation",
    "living_situation",
    "marital_status",
    "children",
    "insurance",
    "race",
    "exercise",
    "arrival_transport",
    "age",
    "gender",
)
"""Nobody can say "not that I know of" to these; a patient whose case leaves them open keeps them private."""

_MANNERS = (
    ("goodbye", "goodbye"),
    ("reassurance", "comforted"),
    ("empathy", "comforted"),
    ("thanks", "thanks"),
    ("greeting", "greeting"),
    ("normalise", "acknowledge"),
    ("privacy", "comforted"),
    ("reason", "acknowledge"),
)
"""What is answered to a message that asks nothing, by what it does."""


def plan_answer(scene: Scene) -> Plan:
    """What a patient without noise answers."""
    if scene.message.is_blank:
        return Plan(instead=Aside("silence", "plain"))
    lines: list[Line] = []
    budget = MAX_WORDS
    for clause, targets in enumerate(scene.targets):
        for target in targets:
            for line in _lines(clause, target, scene, lines):
                cost = _words(line)
                if lines and cost > budget:
                    continue
                budget -= cost
                lines.append(line)
    lines = _without_loose_ends(lines)
    if lines:
        greeted = "greeting" in scene.message.acts and scene.history.replies == 0
        return Plan(lines=tuple(lines), before=(Aside("greeting", "plain"),) if greeted else ())
    return Plan(instead=Aside(_manner(scene), "plain"))


def _lines(clause: int, target: Target, scene: Scene, so_far: list[Line]) -> list[Line]:
    """The lines that answer one target."""
    if target.key == "open":
        facts = _next_relevant(scene, so_far, beyond=target.beyond)
        if scene.message.clauses[clause].opener and scene.history.replies == 0:
            facts = [scene.setting.case.opening, *facts][:OPEN_FACTS]
        return [_line(clause, target, fact, scene) for fact in facts]
    facts = [scene.setting.case.fact(i) for i in target.fact_ids]
    if not facts:
        return [Line(clause, target, None, "absent" if _can_be_denied(target, scene) else "unsure")]
    chosen = _chosen(facts, target, scene)
    taken = {line.key for line in so_far}
    return [_line(clause, target, f, scene) for f in chosen if f.id not in taken]


def _without_loose_ends(lines: list[Line]) -> list[Line]:
    """Beside an answer, "no, nothing like that" could be taken to deny the answer, and "hard to say" to doubt it."""
    kept = [line for line in lines if line.fact or (line.mode == "absent" and _has_name(line.target))]
    return kept or lines[:1]


def _has_name(target: Target) -> bool:
    return bool(target.concept or target.item)


def _can_be_denied(target: Target, scene: Scene) -> bool:
    """Whether "not that I know of" answers the question and cannot be false. "How did you get here?" has no no."""
    if target.doubtful or target.item in ("aspect", *PERSONAL_ITEMS):
        return False
    concept = scene.index.lexicon.concepts.get(target.concept or "")
    return target.yes_no or target.item is not None or (concept is not None and concept.kind == "symptom")


def _chosen(facts: list[Fact], target: Target, scene: Scene) -> list[Fact]:
    """Which of the facts that fit are told: the best one, a whole list, or the next of an open answer."""
    if target.specificity == "category":
        listed = {f.id for f in facts[:MAX_LISTED]}
        return [f for f in scene.setting.case.facts if f.id in listed]
    if target.specificity == "open":
        told = set(scene.history.told)
        return ([f for f in facts if f.id not in told] or facts)[:OPEN_FACTS]
    best = facts[0]
    twins = [
        f for f in facts[1:] if f.aspect == best.aspect and f.concept == best.concept and f.category == best.category
    ]
    return [best, *twins[:1]]


def _line(clause: int, target: Target, fact: Fact, scene: Scene) -> Line:
    mode = "tell" if fact.polarity == "present" else "deny"
    return Line(clause, target, fact, mode, told_before=fact.id in scene.history.told)  # type: ignore[arg-type]


def _next_relevant(scene: Scene, so_far: list[Line], *, beyond: bool) -> list[Fact]:
    """The next facts of the present illness in case order, the main complaint's sides first (``beyond``: last)."""
    told = {*scene.history.told, *(line.key for line in so_far)}
    case = scene.setting.case
    waiting = [
        f
        for f in case.facts
        if f.category in SYMPTOM_ITEMS and f.polarity == "present" and f.id not in told and not f.sensitive
    ]
    main = [f for f in waiting if f.concept == case.opening.concept]
    others = [f for f in waiting if f not in main]
    return [*others, *main][:OPEN_FACTS] if beyond else [*main, *others][:OPEN_FACTS]


def _manner(scene: Scene) -> str:
    """What is said to a message that asks nothing that can be answered."""
    message = scene.message
    if any(clause.probe for clause in message.clauses):
        return "probe"
    if any(clause.open for clause in message.clauses):
        return "nothing_more"
    if message.clauses:
        return "confused"
    for act, device in _MANNERS:
        if act in message.acts:
            return device
    return "acknowledge" if len(words(message.text)) > 2 and message.text.isascii() else "confused"


def _words(line: Line) -> int:
    return len(plain(line.fact.lay).split()) if line.fact else 6


def retold(plan: Plan) -> Plan:
    """Says first that all of the answer was told before; not where a yes or no was asked of what it leaves open."""
    told = [line for line in plan.spoken if line.fact is not None and line.mode == "tell"]
    settled = all(line.told_before and (line.target.confirms or not line.target.yes_no) for line in told)
    if told and settled and not plan.before:
        return replace(plan, before=(Aside("retell", "plain"),))
    return plan

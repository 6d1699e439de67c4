"""What a clause names of one case and of the lexicon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from verisim_tasks.language.lexicon import Concept
from verisim_tasks.language.phrases import Hit
from verisim_tasks.language.words import words
from verisim_tasks.patient.case_index import CaseIndex
from verisim_tasks.patient.questions import Clause, is_generic
from verisim_tasks.patient.ranking import Asked

SUBORDINATES = frozenset({"before", "since", "after", "when", "while", "during", "because", "until", "without"})
"""Words that begin a clause which only says when or why."""
RESUMES = frozenset(
    ("they", "you", "he", "she", "it", "we", "do", "does", "did", "is", "are", "have", "has", "can", "there", "any")
)
"""Words by which the main clause goes on after a subordinate one at its start."""


def asked_of(clause: Clause, index: CaseIndex, focus: str | None) -> Asked:
    """A clause with what it names of this case and of the lexicon."""
    focus = focus or index.case.opening.concept
    hits = _merged(index.mentions(clause.text))
    hits = tuple(h for h in hits if not is_generic(h.phrase))
    hits = _main_hits(hits, clause.text)
    if clause.aspects:
        hits = tuple(h for h in hits if not _refers_back(h, focus, index))
    concept = asked_concept(hits, index)
    if concept is not None and concept.kind == "symptom" and concept.broader:
        clause = replace(clause, items=tuple(i for i in clause.items if i != "pain"))
    return Asked(
        clause,
        hits,
        focus,
        concept,
        named=tuple(dict.fromkeys(c for h in hits for c in index.concepts_of(h))),
        cued=frozenset(fact_id for hit in index.cues.find(clause.text) for fact_id in hit.values),
    )


def _main_hits(hits: tuple[Hit[str], ...], text: str) -> tuple[Hit[str], ...]:
    """What the main clause names: "before you got the diarrhoea" only says when, where more is named before it."""
    said = words(text)
    aside: set[int] = set()
    for start, word in enumerate(said):
        if word in SUBORDINATES:
            resumed = (i for i in range(start + 4, len(said)) if said[i] in RESUMES)
            aside |= set(range(start, len(said) if start > 2 else next(resumed, start)))
    main = tuple(h for h in hits if h.positions[0] not in aside)
    return main or hits


def _refers_back(hit: Hit[str], focus: str, index: CaseIndex) -> bool:
    """The phrase only takes up, in general words, what was talked about: "the pain" after "my tummy hurts"."""
    talked_of = index.lexicon.named(focus)
    if talked_of is None or hit.weight > 1 or not index.concepts_of(hit):
        return False
    more_general = index.lexicon.ancestors(talked_of.id)
    return any(c.id in more_general and not c.broader for c in index.concepts_of(hit))


def asked_concept(hits: Sequence[Hit[str]], index: CaseIndex) -> Concept | None:
    """The lexicon concept that the question is about: a symptom first, then the longest phrase."""
    best: tuple[bool, int, int] | None = None
    chosen: Concept | None = None
    for hit in hits:
        for value in sorted(hit.values):
            concept = index.lexicon.concepts.get(value.removeprefix("concept:"))
            if value.startswith("concept:") and concept is not None:
                rank = (concept.kind == "symptom", hit.weight, -hit.positions[0])
                if best is None or rank > best:
                    best, chosen = rank, concept
    return chosen


def _merged(hits: Sequence[Hit[str]]) -> tuple[Hit[str], ...]:
    """Hits by place; those at the same place as one."""
    merged: dict[tuple[int, ...], Hit[str]] = {}
    for hit in hits:
        other = merged.get(hit.positions)
        values = dict.fromkeys((*(other.values if other else ()), *hit.values))
        merged[hit.positions] = Hit(other.phrase if other else hit.phrase, tuple(values), hit.positions, hit.content)
    return tuple(merged.values())

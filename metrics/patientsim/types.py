"""What a patient's sentence does: politeness, emotion, inquiry, meta-information or information.

The five types are those of PatientSim (arXiv 2505.17818), which asks a language model; this is a deterministic
stand-in: rules on clauses first (``sentence_types.yaml``), likeness to examples for what no rule reaches.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from verisim_tasks.language.body import sites
from verisim_tasks.language.embedding import Encoder, default_encoder, similarities
from verisim_tasks.language.lexicon import default_lexicon, load_yaml
from verisim_tasks.language.words import fold, words

SentenceType = Literal["politeness", "emotion", "inquiry", "meta_information", "information"]
TYPES: tuple[SentenceType, ...] = ("politeness", "emotion", "inquiry", "meta_information", "information")

STRENGTH: tuple[SentenceType, ...] = ("information", "inquiry", "meta_information", "emotion", "politeness")
"""Which clause tells what the whole sentence is, strongest first."""

MARGIN = 0.10
"""By how much an example of another type must be more alike than every example of information."""
LEAST = 0.45
"""Least cosine similarity to an example that can tell a type; design choice."""

SHORT_ANSWER = 8
"""Most words of a short answer."""

_STAGE_DIRECTION = re.compile(
    r"\*[^*]{1,80}\*|\([^()]{0,40}(?:sighs?|pauses?|laughs?|cries|crying|coughs?)[^()]{0,40}\)"
)
_ANSWER = re.compile(r"(?:no|yes|yeah|nope|not)\b")
_TELLING = frozenset({"symptom", "condition", "drug", "procedure", "exposure", "habit", "allergy_agent", "device"})


@dataclass(frozen=True)
class Rules:
    """The rules of the data file, compiled."""

    lead: re.Pattern[str]
    tail: re.Pattern[str]
    split: re.Pattern[str]
    bare: re.Pattern[str]
    filler: re.Pattern[str]
    answer: re.Pattern[str]
    inquiry: re.Pattern[str]
    clauses: Mapping[SentenceType, re.Pattern[str]]
    content: re.Pattern[str]
    lasting: re.Pattern[str]
    examples: tuple[tuple[str, SentenceType], ...]


@functools.cache
def rules() -> Rules:
    """The rules that ship with the suite."""
    data = load_yaml("patientsim", "sentence_types.yaml")
    return Rules(
        lead=re.compile(rf"(?:{data['lead']})+"),
        tail=re.compile(data["tail"]),
        split=re.compile(data["split"]),
        bare=re.compile(data["bare"]),
        filler=re.compile(data["filler"]),
        answer=re.compile(data["answer"]),
        inquiry=_any(data["inquiry"]),
        clauses={kind: _any(patterns) for kind, patterns in data["clauses"].items()},
        content=_any(data["content"]),
        lasting=re.compile(data["lasting"]),
        examples=tuple((text, kind) for kind in TYPES for text in data["examples"][kind]),
    )


def sentence_types(sentences: Sequence[str], encoder: Encoder | None = None) -> tuple[SentenceType, ...]:
    """The type of each sentence, in order. Deterministic; the encoder only sees what no rule reaches."""
    by_rule = {text: by_rules(text) for text in sentences}
    rest = sorted(text for text, kind in by_rule.items() if kind is None)
    by_likeness = dict(zip(rest, _by_likeness(rest, encoder or default_encoder()), strict=True)) if rest else {}
    return tuple(by_rule[text] or by_likeness[text] for text in sentences)


@functools.lru_cache(maxsize=50_000)
def by_rules(sentence: str) -> SentenceType | None:
    """The type as the rules see it; ``None`` where they do not reach."""
    known, said = rules(), _cleaned(sentence)
    if not words(said) or known.filler.fullmatch(said):
        return "meta_information"
    if known.bare.fullmatch(said):
        return "information"
    clauses = [c for c in (_stripped(part) for part in known.split.split(said)) if words(c)]
    if said.rstrip("\"') ").endswith("?") or any(known.inquiry.match(c) for c in (said, *clauses[:1])):
        return "meta_information" if any(_meta_question(c) for c in clauses) else "inquiry"
    return _strongest(said, clauses or [said])


def _strongest(said: str, clauses: Sequence[str]) -> SentenceType | None:
    """What one clause tells outweighs the others; politeness beside a clause that no rule knows decides nothing."""
    kinds = [_clause_type(c) for c in (said, *clauses)]
    found = next((kind for kind in STRENGTH if kind in kinds[1:]), None)
    if found in (None, "politeness") and _ANSWER.match(said) and kinds[0] != "politeness":
        return "information"
    if found is None:
        return kinds[0]
    unknown = any(kind is None and len(words(c)) > 2 for kind, c in zip(kinds[1:], clauses, strict=True))
    return None if found == "politeness" and unknown else found


@functools.lru_cache(maxsize=50_000)
def is_short_answer(sentence: str) -> bool:
    """Whether a sentence answers without saying what ("No.", "Not that I've noticed."): only its question tells."""
    said = _cleaned(sentence)
    bare = rules().lead.sub("", said, count=1) if rules().lead.match(said) else said
    answers = any(rules().answer.match(text) for text in (said, bare))
    return answers and len(words(said)) <= SHORT_ANSWER and not tells(said)


def _any(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{p})" for p in patterns))


def _cleaned(sentence: str) -> str:
    text = _STAGE_DIRECTION.sub(" ", fold(sentence)).replace("…", "...")
    return " ".join(text.split()).strip("\"' ")


def _stripped(clause: str) -> str:
    """The clause without the words before and after it that change nothing."""
    bare = rules().tail.sub("", clause.strip())
    shorter = rules().lead.sub("", bare, count=1) if rules().lead.match(bare) else bare
    return (shorter if words(shorter) else bare).strip(" .!")


def _meta_question(clause: str) -> bool:
    """Asking to talk of something else is about the conversation, not a question to the doctor."""
    return re.match(r"can we (?:talk|skip|move|leave|stick|change)|do we have to talk|where was i", clause) is not None


def _clause_type(clause: str) -> SentenceType | None:
    for kind, pattern in rules().clauses.items():
        match = pattern.match(clause)
        if match is None:
            continue
        if kind == "emotion" and rules().lasting.search(clause):
            return "information"
        if kind == "politeness" and tells(clause[match.end() :]) and not clause.startswith(("thank", "i'm sorry to")):
            return "information"
        return kind
    return "information" if tells(clause) else None


def tells(clause: str) -> bool:
    """Whether a clause has content of its own: a number, a time, a concept, a place of the body, a life's fact."""
    if rules().content.search(clause) or sites(clause):
        return True
    lexicon = default_lexicon()
    return any(lexicon.concepts[i].kind in _TELLING for hit in lexicon.mentions(clause) for i in hit.values)


def _by_likeness(sentences: Sequence[str], encoder: Encoder) -> list[SentenceType]:
    """The type of the most alike example, where it beats information clearly; else information."""
    examples = rules().examples
    near = similarities(encoder.encode(sentences), encoder.encode([text for text, _ in examples]))
    found: list[SentenceType] = []
    for row in near:
        best = {kind: max(float(s) for s, (_, k) in zip(row, examples, strict=True) if k == kind) for kind in TYPES}
        top = max(TYPES, key=lambda kind: (best[kind], kind))
        sure = best[top] >= LEAST and best[top] >= best["information"] + MARGIN
        found.append(top if sure else "information")
    return found

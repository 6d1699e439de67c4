"""Is a predicted diagnosis the reference diagnosis? Deterministic, without a model.

Used by ``diagnostic_accuracy`` and ``diagnostic_category`` and by ``verisim match``. The order of the rules: what the
prediction asserts first (see ``matching_text``), the same name, the same code, a more exact form of the name; a name of
another disease, a less exact form, or nothing known is no match.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

from verisim_metrics.matching_text import Piece, pieces, read_prediction, stated
from verisim_metrics.matching_words import (
    ACUTE_MATTERS,
    EVENTS,
    MAY_BE_MISSING,
    QUALIFIERS,
    TELLING,
    WEAK,
    opposed,
    undone,
)
from verisim_tasks.language.icd import exact_links, named
from verisim_tasks.language.icd_codes import category, codes_in, find_code, is_below, is_unspecified_child, same_block
from verisim_tasks.language.icd_names import hand_index, mended_tokens
from verisim_tasks.language.icd_words import anatomy, canonical, name_tokens, raw_tokens

Tokens = frozenset[str]


@dataclass(frozen=True)
class Match:
    """The verdict on one prediction."""

    match: bool
    rule: str
    """What decided: ``same name``, ``synonym``, ``code``, ``more specific``, ``cause``; or, for no match, ``empty``,
    ``no diagnosis``, ``rule out``, ``negated``, ``history``, ``other diagnosis``, ``less specific``,
    ``unrecognised``."""
    candidate: str | None = None
    """The diagnosis text that was judged."""
    same_category: bool | None = None
    """Whether it links to the three-character category of an accepted code; ``None`` when it links to nothing."""


@dataclass(frozen=True)
class _Target:
    """What counts as right."""

    names: tuple[Tokens, ...]
    """Token sets of the reference, then of its synonyms."""
    codes: tuple[str, ...]
    given: bool
    """Whether the codes were given by the case, not linked from the names."""
    own: tuple[str, ...]
    """Codes that the names themselves link to and that stand above a given one: the given codes only add detail."""


def match_diagnosis(
    prediction: str | None, reference: str, synonyms: Sequence[str] = (), accepted_codes: Sequence[str] = ()
) -> Match:
    """Judge a predicted diagnosis against the reference.

    A prediction matches when the first condition it asserts is the reference or a synonym by name, links to one of
    ``accepted_codes`` or below it (to the code of the reference itself when none are given), or is a more specific
    form of the name. ``rule`` says what decided. Never raises on any text.
    """
    target = _target(reference, tuple(synonyms), tuple(accepted_codes))
    plain = stated(prediction or "").casefold()
    for place, name in enumerate((reference, *synonyms)):
        if plain and plain == stated(name).casefold():
            return Match(True, "synonym" if place else "same name", plain, True)
    unread: Match | None = None
    for reading in read_prediction(prediction):
        if reading.phrase is None:
            unread = unread or Match(False, reading.refusal or "no diagnosis")
            continue
        matched, rule, text = _decide(reading.phrase, target)
        if rule != "unrecognised":
            codes = _codes(text)
            same = {category(c) for c in codes} & {category(c) for c in target.codes}
            return Match(matched, rule, text, matched or bool(same) if codes or matched else None)
        unread = unread if unread and unread.candidate else Match(False, rule, text)
    return unread or Match(False, "no diagnosis")


@functools.lru_cache(maxsize=2_000)
def _target(reference: str, synonyms: tuple[str, ...], accepted: tuple[str, ...]) -> _Target:
    names = tuple(dict.fromkeys(_tokens(n) for n in (reference, *synonyms) if n.strip()))
    codes = tuple(find_code(c) or c for c in accepted)
    if not codes:
        return _Target(names, next((found for n in (reference, *synonyms) if (found := _codes(n))), ()), False, ())
    linked = [_codes(n) for n in (reference, *synonyms) if not _is_broad(n)]
    own = {c for found in linked for c in found if any(is_below(a, c) for a in codes)}
    return _Target(names, codes, True, tuple(sorted(own)))


@functools.lru_cache(maxsize=20_000)
def _tokens(text: str) -> Tokens:
    return frozenset(mended_tokens(text))


@functools.lru_cache(maxsize=20_000)
def _codes(text: str) -> tuple[str, ...]:
    """Codes that go by this name, qualifiers aside. Empty when there is none."""
    if code := find_code(text):
        return (code,)
    links = exact_links(text)
    if not links:
        for dropped in (QUALIFIERS - TELLING - EVENTS, QUALIFIERS - EVENTS, QUALIFIERS):
            plain = " ".join(t for t in raw_tokens(text) if t not in dropped)
            links = links or (exact_links(plain) if plain else [])
    return tuple(dict.fromkeys(x.code for x in links))


Verdict = tuple[bool, str, str]
"""Match or not, the rule, the text that was judged."""


def _decide(phrase: str, target: _Target) -> Verdict:
    fallback: Verdict | None = None
    for piece in pieces(phrase):
        verdict = _judge(piece, target)
        if verdict is None:
            continue
        matched, rule, _ = verdict
        if matched or (rule == "other diagnosis" and piece.role == "whole" and not _may_go_on(piece, target)):
            return verdict
        if fallback is None or fallback[1] == "unrecognised":
            fallback = verdict
        if rule == "other diagnosis" and piece.role == "companion":
            return verdict
    bracketed = codes_in(phrase)
    if (fallback is None or fallback[1] == "unrecognised") and bracketed and _accepted(bracketed, target):
        return True, "code", phrase
    return fallback or (False, "unrecognised", phrase)


def _may_go_on(piece: Piece, target: _Target) -> bool:
    """A symptom or a broad name may still be followed by the disease that causes it."""
    codes = _codes(piece.text)
    return (
        all(c.startswith("R") for c in codes)
        or _is_broad(piece.text)
        or any(sep in piece.text for sep in (" due ", " from "))
    )


def _is_broad(text: str) -> bool:
    found = hand_index().exact(canonical(raw_tokens(text)))
    return bool(found) and any(n.broad for n in found)


def _judge(piece: Piece, target: _Target) -> Verdict | None:
    if piece.role == "comma":
        return _judge_commas(piece.text, target)
    if piece.role == "pair":
        return _judge_pair(piece.text, target)
    text, tokens = piece.text, _tokens(piece.text)
    if not tokens:
        return None
    for place, name in enumerate(target.names):
        if _same(tokens, name):
            rule = "cause" if piece.role == "cause" else "same name" if place == 0 else "synonym"
            return True, rule, text
    codes = _codes(text)
    broad = _is_broad(text)
    if codes and not broad and _accepted(codes, target) and not _conflicts(tokens, target):
        return True, "cause" if piece.role == "cause" else "code", text
    if piece.role in ("cause", "merged"):
        finer = piece.role == "merged" and _finer(tokens, codes, target)
        return (True, "more specific", text) if finer else None
    if piece.role == "whole":
        if not codes or broad:
            return None
        return (True, "more specific", text) if _finer(tokens, codes, target) else (False, "other diagnosis", text)
    return _judge_head(piece, tokens, codes, target)


def _judge_head(piece: Piece, tokens: Tokens, codes: Sequence[str], target: _Target) -> Verdict | None:
    text = piece.text
    if _finer(tokens, codes, target):
        return True, "more specific", text
    if any(_core(tokens) < _core(name) for name in target.names) or (_is_broad(text) and _accepted(codes, target)):
        return None if piece.role == "companion" else (False, "less specific", text)
    if codes:
        return False, "other diagnosis", text
    if piece.role == "companion":
        return None
    inner = _longest_known(text)
    if inner and _accepted(_codes(inner), target) and not _is_broad(inner) and not undone(tokens - _tokens(inner)):
        return (False, "other diagnosis", text) if _conflicts(tokens, target) else (True, "code", text)
    return False, "other diagnosis" if inner else "unrecognised", text


def _judge_pair(text: str, target: _Target) -> Verdict | None:
    """The complication counts when its code belongs to the disease before it ("type 1 diabetes with ketoacidosis")."""
    head, tail = (s.strip() for s in text.split("|", maxsplit=1))
    if not {category(c) for c in _codes(head)} & {category(c) for c in target.codes}:
        return None
    named = any(_same(_tokens(tail), name) for name in target.names)
    return (True, "cause", tail) if named or _accepted(_codes(tail), target) else None


def _judge_commas(text: str, target: _Target) -> Verdict | None:
    """Commas may hold qualifiers ("diabetes mellitus, type 2"), or the next item of a list."""
    head, *rest = [s.strip() for s in text.split("|")]
    merged = " ".join((head, *rest))
    tokens = _tokens(merged)
    if any(_same(tokens, name) for name in target.names):
        return True, "same name", merged
    kept = [s for s in rest if not _codes(s)]
    merged = " ".join((head, *kept)) if len(kept) == len(rest) else head
    codes = _codes(merged)
    if kept and codes and not _is_broad(merged):
        if _accepted(codes, target) and not _conflicts(_tokens(merged), target):
            return True, "code", merged
        return None
    if kept and len(kept) == len(rest) and _finer(_tokens(merged), codes, target):
        return True, "more specific", merged
    return None


def _core(tokens: Tokens) -> Tokens:
    kept = tokens - WEAK - QUALIFIERS
    return kept if kept - anatomy() else tokens


def _same(tokens: Tokens, name: Tokens) -> bool:
    """Whether two names are the same but for weak words, qualifiers added and qualifiers that may be missing."""
    left, right = _core(tokens), _core(name)
    if left == right:
        return not opposed(tokens, name)
    missing = right - left
    if missing and missing <= MAY_BE_MISSING and left == right - missing:
        return (
            not (missing & {"acute"} and left & ACUTE_MATTERS) and "chronic" not in tokens and not opposed(tokens, name)
        )
    added = left - right
    return added == {"acute"} and right == left - added and "chronic" not in name


def _conflicts(tokens: Tokens, target: _Target) -> bool:
    """Whether the words speak against every name of the target."""
    return bool(target.names) and all(opposed(tokens, name) for name in target.names)


def _finer(tokens: Tokens, codes: Sequence[str], target: _Target) -> bool:
    """Whether the words hold a whole accepted name and only narrow it down.

    A name with a code of its own outside the given ones must narrow the reference itself: synonyms are often broader.
    """
    elsewhere = target.given and bool(codes)
    for name in target.names[:1] if elsewhere else target.names:
        core = _core(name)
        required = core - (MAY_BE_MISSING if not core & ACUTE_MATTERS else frozenset())
        added = tokens - name
        if not required or not required <= tokens or opposed(tokens, name) or undone(added):
            continue
        if not codes or _related(codes, target):
            return True
    return False


def _related(codes: Sequence[str], target: _Target) -> bool:
    """Whether a narrower name may still be the target: same category, or the same block when no codes were given."""
    if not target.codes:
        return True
    if any(category(c) == category(a) for c in codes for a in target.codes):
        return True
    return not target.given and any(same_block(c, a) for c in codes for a in target.codes)


def _accepted(codes: Sequence[str], target: _Target) -> bool:
    """Whether a code is accepted, stands below an accepted one, or says no less than an accepted unspecified one."""
    return any(code in target.own for code in codes) or any(
        is_below(code, accepted) or is_unspecified_child(accepted, code) or _both_unspecified(code, accepted)
        for code in codes
        for accepted in target.codes
    )


def _both_unspecified(code: str, accepted: str) -> bool:
    parent = category(accepted)
    return is_unspecified_child(code, parent) and is_unspecified_child(accepted, parent)


@functools.lru_cache(maxsize=20_000)
def _longest_known(text: str) -> str | None:
    """The run of words in the text that is a name of its own and has most tokens, the first of equals."""
    words = text.split()[:40]
    best: tuple[int, str] | None = None
    for start in range(len(words)):
        for end in range(start + 1, min(start + 7, len(words)) + 1):
            run = " ".join(words[start:end])
            tokens = name_tokens(run)
            if (best is None or len(tokens) > best[0]) and named(tokens) and not _is_broad(run):
                best = (len(tokens), run)
    return best[1] if best else None

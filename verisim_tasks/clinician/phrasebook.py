"""Finding what patients say by the words they use: known phrases, longest first, with negation."""

from __future__ import annotations

import functools
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from verisim_tasks.clinician.tokens import NEGATION, NUMBER, Token, lemma, tokenise, wordset

SLACK = 3
"""Foreign words, articles and the like apart, that may stand between the words of one phrase."""
GAP = 1
"""Foreign words that may stand between neighbours of a phrase that is matched in order."""

_LIGHT = wordset(
    "a an the i i'm i've i'd me my mine you your he he's she she's it it's its they them their we our us his "
    "her him is are was were am be been being do does did have has had having this that these those of to and "
    "really very just quite so too bit some any would will well oh um uh also"
)
"""Words that never matter in a phrase."""
_HEAVY = _LIGHT | wordset(
    "in on at for with by from as or if when then than there here about around all now more most much lot get "
    "got getting go goes going come comes coming feel feels feeling felt make makes making keep keeps take "
    "takes taking like time times thing things something say says said can could may might must should who "
    "which what one again ago last since still yet even always look looks looking looked seem seems ever bad "
    "badly quite anything everything"
)
"""Words too common to find a phrase by."""
_PARTICLES = wordset("up down out off over on back away through")
"""Words that belong to a phrase but do not carry it."""


_ORDINARY = wordset(
    "accident attack baby babi before better binge bit black both boyfriend bypass buzz camp carrier chicken "
    "chosen coil cold collaps constant count day detach die divorc drag drain drink drop eat ecstasi exam "
    "expect failur famili flood genius heat heavi help hit home hot hous huge hunt huski injur keep knock late "
    "lie low month morn night overdu peanut peel peopl person pick prick prickl prematur purg restless roommat "
    "run runs shrunk shuffl sick side sit skunk speed spot stand start stop sugar thirsti time trickl urgenc "
    "wake walk watch week wet work worse year agoni"
)
"""Stems of single words that mean a feature only in a talk about it."""


_COMMON = _ORDINARY | _PARTICLES | _HEAVY | frozenset(lemma(w) for w in _HEAVY) | {NEGATION, NUMBER}


@dataclass(frozen=True)
class Mention:
    """A feature's phrase found in a sentence."""

    feature: str
    negated: bool
    positions: frozenset[int]
    """Token positions covered."""
    phrase: str
    weak: bool = False
    """Ordinary words that mean this only in a talk about it."""


@dataclass(frozen=True)
class _Phrase:
    text: str
    key: tuple[str, ...]
    ordered: bool
    features: tuple[str, ...]
    broken: bool
    """Goes on after a "but" or a stop, so it need not stand within one stretch."""


class PhraseBook:
    """Maps the phrases of features to places in a sentence.

    A phrase with two or more telling words is found in any word order within a short window; a phrase of one telling
    word must stand in order ("I feel sick"). A negating word inside a phrase ("cannot sleep") belongs to it.
    """

    def __init__(self, entries: Iterable[tuple[str, str]]) -> None:
        keys: dict[tuple[tuple[str, ...], bool], list[tuple[str, str]]] = defaultdict(list)
        for phrase, feature in entries:
            key, ordered = _key(phrase)
            if key:
                keys[(key, ordered)].append((phrase, feature))
        self._phrases = tuple(
            _Phrase(found[0][0], key, ordered, tuple(sorted({f for _, f in found})), _breaks(found[0][0]))
            for (key, ordered), found in sorted(keys.items())
        )
        counts = Counter(s for p in self._phrases for s in set(p.key))
        self._by_stem: dict[str, list[int]] = defaultdict(list)
        for number, entry in enumerate(self._phrases):
            self._by_stem[min(entry.key, key=lambda s: (counts[s], s))].append(number)

    def find(self, sentence: str) -> tuple[Mention, ...]:
        """All mentions in one sentence, longer ones first; shorter ones inside a longer one are dropped."""
        return _find(self, sentence)

    def features_in(self, text: str) -> frozenset[str]:
        """Every feature that any phrase in the text mentions, those inside longer phrases included."""
        return frozenset(f for phrase, _ in self._matches(tokenise(text)) for f in phrase.features)

    def search(self, tokens: tuple[Token, ...]) -> tuple[Mention, ...]:
        """``find`` for a tokenised sentence, without memory."""
        return _resolve(self._matches(tokens), tokens)

    def _matches(self, tokens: tuple[Token, ...]) -> list[tuple[_Phrase, frozenset[int]]]:
        places: dict[str, list[int]] = defaultdict(list)
        for i, token in enumerate(tokens):
            places[token.stem].append(i)
            if token.near_negation:
                places[NEGATION + token.stem].append(i)
        light = [i for i, token in enumerate(tokens) if token.word not in _LIGHT]
        rank = {i: n for n, i in enumerate(light)}
        found: list[tuple[_Phrase, frozenset[int]]] = []
        for number in sorted({n for stem in places for n in self._by_stem.get(stem, ())}):
            phrase = self._phrases[number]
            match = _in_order(phrase.key, light, tokens) if phrase.ordered else _in_window(phrase, places, rank, tokens)
            if match is not None:
                found.append((phrase, frozenset(match)))
        return found


@functools.lru_cache(maxsize=100_000)
def _find(book: PhraseBook, sentence: str) -> tuple[Mention, ...]:
    return book.search(tokenise(sentence))


def telling_stems(text: str) -> frozenset[str]:
    """Stems of the words that are not too common to find a phrase by."""
    return frozenset(t.stem for t in tokenise(text) if t.word not in _HEAVY | _PARTICLES) - {NEGATION, NUMBER}


def _key(phrase: str) -> tuple[tuple[str, ...], bool]:
    tokens = tokenise(phrase)
    light = [t for t in tokens if t.word not in _LIGHT]
    heavy: list[str] = []
    for t in light:
        if t.word not in _HEAVY and t.stem != NEGATION:
            stem = (NEGATION if t.near_negation and t.stem != NUMBER else "") + t.stem
            if stem not in heavy:
                heavy.append(stem)
    if len([s for s in heavy if s != NUMBER and s not in _PARTICLES]) >= 2 or (len(heavy) == 1 and len(light) == 1):
        return tuple(heavy), False
    return tuple(t.stem for t in light), True


def _breaks(phrase: str) -> bool:
    return len({t.segment for t in tokenise(phrase)}) > 1


def _in_window(
    phrase: _Phrase, places: dict[str, list[int]], rank: dict[int, int], tokens: tuple[Token, ...]
) -> tuple[int, ...] | None:
    key = phrase.key
    if any(stem not in places for stem in key):
        return None
    for start in (p for p in places[key[0]] if p in rank):
        chosen = [start]
        for stem in key[1:]:
            near = [
                p
                for p in places[stem]
                if p in rank and p not in chosen and (phrase.broken or tokens[p].segment == tokens[start].segment)
            ]
            if not near:
                break
            chosen.append(min(near, key=lambda p: (abs(p - start), p)))
        else:
            if rank[max(chosen)] - rank[min(chosen)] < len(key) + SLACK:
                return tuple(chosen)
    return None


def _in_order(key: tuple[str, ...], light: list[int], tokens: tuple[Token, ...]) -> tuple[int, ...] | None:
    for first in range(len(light)):
        chosen: list[int] = []
        at = first
        for stem in key:
            reach = light[at : at + 1 + (GAP if chosen else 0)]
            hit = next((k for k, i in enumerate(reach) if tokens[i].stem == stem), None)
            if hit is None or (chosen and tokens[light[at + hit]].segment != tokens[chosen[0]].segment):
                break
            chosen.append(light[at + hit])
            at += hit + 1
        else:
            return tuple(chosen)
    return None


def _resolve(found: list[tuple[_Phrase, frozenset[int]]], tokens: tuple[Token, ...]) -> tuple[Mention, ...]:
    found.sort(key=lambda item: (-len(item[1]), min(item[1]), item[0].text))
    kept: list[tuple[_Phrase, frozenset[int]]] = []
    for phrase, positions in found:
        if not any(positions < other for _, other in kept):
            kept.append((phrase, positions))
    mentions: list[Mention] = []
    for phrase, positions in kept:
        negated = any(tokens[p].negated for p in positions) and not any(s.startswith(NEGATION) for s in phrase.key)
        weak = set(phrase.key) <= _COMMON
        mentions += [Mention(f, negated, positions, phrase.text, weak) for f in phrase.features]
    return tuple(mentions)

"""Finding what a text names: items, imaging studies, and entries of the case by their own names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from verisim_tasks.examiner.imaging import ImagingReader, Study
from verisim_tasks.examiner.samples import SampleReader
from verisim_tasks.examiner.tokens import Token, forms
from verisim_tasks.examiner.vocabulary import Name, Vocabulary

_WALLS = frozenset(";.\n?!:|•–—")
"""Punctuation that no name runs across."""
_HEAD_ENDS = frozenset(["for", "to", "against"])
"""Words with which the head of a name ends that several things may follow."""
_TAIL = 3
"""How many words a thing behind a shared head may have."""
_EXAM_WORDS = frozenset(["exam", "examination", "test"])
_REACH = 12
"""How many words behind a name its head still reaches."""
_UNITS = frozenset(["mg", "g", "l", "k"])
_SHORT = 2
"""Names of one word up to this length are read only with a capital letter ("K", "Na"), for "pt" is the patient."""


@dataclass(frozen=True)
class Mention:
    """One thing named in words ``start`` to ``end``: exactly one of entry, items and study is there."""

    start: int
    end: int
    entry: tuple[str, ...] = ()
    """Ids of the case's entries of that very name."""
    items: tuple[Name, ...] = ()
    study: Study | None = None
    sides: frozenset[str] = frozenset()
    known: tuple[Name, ...] = ()
    """Items that the words of ``entry`` mean wherever else they stand."""
    explicit: bool = True
    """Whether it means an examination wherever it stands."""
    sampled: bool = False
    """Whether it is read with the sample named before it ("urine: culture")."""

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """Longer first; for equals those of a sample, plain tests, the case's own names, items, studies."""
        kind = 0 if self.entry else 1 if self.items else 2
        return (self.start - self.end, 0 if self.sampled else 1, 0 if self.explicit else 1, kind)


class MentionFinder:
    """Finds mentions in words. Built once from the vocabulary."""

    def __init__(self, vocabulary: Vocabulary, imaging: ImagingReader) -> None:
        self.items = vocabulary.items
        self._names = vocabulary.names
        self._capitals: dict[tuple[str, ...], tuple[Name, ...]] = {
            forms(word): (Name(item=item, explicit=True),) for word, item in vocabulary.requests["capitals"].items()
        }
        self._samples = SampleReader(vocabulary)
        self._imaging = imaging
        self._sides = {w: side for side, ws in vocabulary.imaging["sides"].items() for w in ws}
        self._longest = max(map(len, self._names))

    def find(
        self,
        tokens: Sequence[Token],
        own: Mapping[tuple[str, ...], tuple[str, ...]],
        *,
        marked: bool,
        more: Iterable[Mention] = (),
    ) -> list[Mention]:
        """Mentions in order, overlaps resolved.

        Args:
            tokens: The words.
            own: Comparable words of the case's own names, and the ids they belong to.
            marked: Whether this is an order line, where short names count in small letters too.
            more: Mentions found otherwise, which compete with those of the vocabulary.
        """
        named = [m for m in self._candidates(tokens, own) if not _is_unit(m, tokens)]
        found = [m for m in named if marked or not _is_too_short(m, tokens)]
        found = [m for m in found if not _is_side(m, tokens)]
        for start, end, names in self._samples.read(tokens):
            found.append(Mention(start, end, items=names, sampled=True))
        return _resolved(self._sided([*found, *more], tokens), tokens)

    def named_in(self, tokens: Sequence[Token]) -> list[Mention]:
        """Everything that the name of an entry names; readings of the same words all count."""
        return _resolved(self._sided(self._candidates(tokens, {}), tokens), tokens, ties=True)

    def sides(self, tokens: Iterable[Token]) -> frozenset[str]:
        """Left, right, both or none."""
        return frozenset(self._sides[t.word] for t in tokens if t.word in self._sides)

    def _candidates(self, tokens: Sequence[Token], own: Mapping[tuple[str, ...], tuple[str, ...]]) -> list[Mention]:
        longest = max([self._longest, *map(len, own)])
        found: list[Mention] = []
        for start in range(len(tokens)):
            key: tuple[str, ...] = ()
            for place in range(start, len(tokens)):
                if place > start and _WALLS & set(tokens[place].broken):
                    break
                if not tokens[place].form:
                    if place == start or tokens[place - 1].word == "and":
                        break  # "your hands and your wrists" are two things
                    continue
                key = (*key, tokens[place].form)
                if key in own:
                    known, explicit = self._names.get(key, ()), self._is_explicit(key, own[key])
                    found.append(Mention(start, place + 1, entry=own[key], known=known, explicit=explicit))
                if key in self._names:
                    shouted = self._capitals.get(key) if place == start and not tokens[start].lower else None
                    names = shouted or self._names[key]
                    found.append(Mention(start, place + 1, items=names, explicit=any(n.explicit for n in names)))
                    found += self._sharing_head(tokens, place + 1, key)
                if len(key) >= longest:
                    break
        if any(t.word in self._sides for t in tokens):
            found += self._across_sides(tokens)
        found += self._across_brackets(tokens, own)
        studies = self._imaging.studies(tokens, [(m.start, m.end) for m in found if m.items and m.explicit])
        return found + [Mention(s.start, s.end, study=s) for s in studies]

    def _sharing_head(self, tokens: Sequence[Token], place: int, key: tuple[str, ...]) -> list[Mention]:
        """What else the head of a name goes with: "blood for your kidneys and liver", "IgE to wheat and rye"."""
        cut = next((n for n, word in enumerate(key) if n and word in _HEAD_ENDS), 0)
        found: list[Mention] = []
        last = min(len(tokens), place + _REACH)
        while cut and place < last:
            ends = range(place + 1, min(len(tokens), place + _TAIL) + 1)
            keys = {end: key[: cut + 1] + tuple(t.form for t in tokens[place:end] if t.form) for end in ends}
            fits = [e for e in ends if tokens[place].form and tokens[e - 1].form and keys[e] in self._names]
            if fits:
                found.append(Mention(place, fits[-1], items=self._names[keys[fits[-1]]]))
            elif tokens[place].form and not _is_single(tokens, place):
                break
            place = fits[-1] if fits else place + 1
        return found

    def _across_brackets(
        self, tokens: Sequence[Token], own: Mapping[tuple[str, ...], tuple[str, ...]]
    ) -> list[Mention]:
        """Names with an aside in brackets inside: "posterior (V7 to V9) leads"."""
        outside: list[int] = []
        depth = 0
        for place, token in enumerate(tokens):
            depth = max(0, depth + token.broken.count("(") - token.broken.count(")"))
            if not depth:
                outside.append(place)
        if len(outside) == len(tokens):
            return []
        bare = [replace(tokens[p], broken=tokens[p].broken.replace(")", "").replace("(", "")) for p in outside]
        found = self._candidates(bare, own)
        moved = [replace(m, start=outside[m.start], end=outside[m.end - 1] + 1) for m in found if m.study is None]
        return [m for m in moved if any(t.broken for t in tokens[m.start + 1 : m.end])]

    def _across_sides(self, tokens: Sequence[Token]) -> list[Mention]:
        """Items named with a side in the middle: "aspirate the right knee"."""
        found: list[Mention] = []
        for start in range(len(tokens)):
            key: tuple[str, ...] = ()
            for place in range(start, min(len(tokens), start + 8)):
                if place > start and _WALLS & set(tokens[place].broken):
                    break
                sided = place > start and tokens[place].word in self._sides
                key = key if sided or not tokens[place].form else (*key, tokens[place].form)
                if key in self._names and not sided and tokens[start].form:
                    names = self._names[key]
                    found.append(Mention(start, place + 1, items=names, explicit=any(n.explicit for n in names)))
        return found

    def _is_explicit(self, key: tuple[str, ...], entries: Sequence[str]) -> bool:
        """A name of the case's own is as plain as the same words in the vocabulary are, or as its kind is."""
        known = self._names.get(key)
        if known is not None:
            return any(n.explicit for n in known)
        return any(e.startswith("test:") for e in entries) or not _EXAM_WORDS.isdisjoint(key)

    def _sided(self, found: Iterable[Mention], tokens: Sequence[Token]) -> list[Mention]:
        return [replace(m, sides=self.sides(self._around(m, tokens))) for m in found]

    @staticmethod
    def _around(mention: Mention, tokens: Sequence[Token]) -> Sequence[Token]:
        start = mention.start
        while start > 0 and mention.start - start < 2 and not tokens[start].broken:
            start -= 1
        return tokens[start : mention.end]


def _is_single(tokens: Sequence[Token], place: int) -> bool:
    """Whether a word links a list or is a whole item of it."""
    links = ("and", "or", *_HEAD_ENDS)
    behind = tokens[place + 1] if place + 1 < len(tokens) else None
    return tokens[place].word in links or behind is None or behind.broken == "," or behind.word in links


def _is_unit(mention: Mention, tokens: Sequence[Token]) -> bool:
    """Whether it is the unit of a number before it, as in "200 mg"."""
    if mention.start == 0 or mention.end - mention.start != 1 or tokens[mention.start].broken:
        return False
    return tokens[mention.start].word in _UNITS and tokens[mention.start - 1].word.isdigit()


def _is_side(mention: Mention, tokens: Sequence[Token]) -> bool:
    """Whether "back" is a side of what is named before, as in "your lungs, front and back"."""
    if mention.end - mention.start != 1 or tokens[mention.start].word != "back":
        return False
    around = [t.word for t in tokens[max(0, mention.start - 2) : mention.start + 3]]
    return "front" in around


def _is_too_short(mention: Mention, tokens: Sequence[Token]) -> bool:
    if mention.end - mention.start != 1 or mention.study is not None:
        return False
    token = tokens[mention.start]
    before = [t.word for t in tokens[max(0, mention.start - 2) : mention.start] if t.form]
    if token.word in ("lab", "leads") or (token.word == "blood" and before[-1:] in (["on"], ["in"], ["with"])):
        return True
    return len(token.word) <= _SHORT and token.lower


def _resolved(found: Sequence[Mention], tokens: Sequence[Token], *, ties: bool = False) -> list[Mention]:
    kept: list[Mention] = []
    found = [m for m in found if not _runs_over(m, found, tokens)]
    for mention in sorted(found, key=lambda m: (*m.rank, m.start)):
        clashes = [k for k in kept if k.start < mention.end and mention.start < k.end]
        same = ties and all((k.start, k.end) == (mention.start, mention.end) for k in clashes)
        if not clashes or same:
            kept.append(mention)
    kept = [k for k in kept if not _is_tail(k, kept)]
    return sorted(kept, key=lambda m: (m.start, m.rank))


def _runs_over(mention: Mention, others: Sequence[Mention], tokens: Sequence[Token]) -> bool:
    """Whether a name runs over a comma into the next name, as "hCG, urine" does in "hCG, urine dip"."""
    commas = [p for p in range(mention.start + 1, mention.end) if "," in tokens[p].broken]
    return bool(commas) and any(o.start in commas and o.end > mention.end and o.items for o in others)


def _is_tail(mention: Mention, others: Sequence[Mention]) -> bool:
    """A lone "scan" right behind another name belongs to it."""
    lone = mention.study is not None and not mention.study.sites and mention.study.modality in ("scan", "imaging")
    return lone and any(o.end == mention.start for o in others)

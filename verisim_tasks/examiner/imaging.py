"""Reading imaging orders: a modality and the parts of the body that go with it, as in "X-ray of the left knee"."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from verisim_tasks.examiner.tokens import Token, forms

MAX_GAP = 4
"""How many linking words may stand between a modality and a site."""
CONJUNCTIONS = frozenset(["and", "or"])
_PAUSES = frozenset(",;.\n")
_SAME = ("one", "another")
"""Words that stand for the modality before: "an ultrasound of the heart, and one of the gallbladder"."""


@dataclass(frozen=True)
class Study:
    """One imaging study: words ``start`` to ``end`` of a message or of an entry's name."""

    start: int
    end: int
    modality: str
    sites: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Span:
    start: int
    end: int
    value: str
    sites: tuple[str, ...] = ()


class ImagingReader:
    """Finds studies in words, and says how sites and modalities relate."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._modalities = _named(data["modalities"])
        self._sites = _named(data["sites"])
        self._aliases = {
            forms(k): (v[0], tuple(s.strip() for s in v[1].split(","))) for k, v in data["aliases"].items()
        }
        self._between = frozenset(str(w) for w in data["between"])
        self._kinds = {k: tuple(v.get("kinds", ())) for k, v in data["modalities"].items()}
        self._parts = {k: tuple(v.get("parts", ())) for k, v in data["sites"].items()}
        self.loose = frozenset(k for k, v in data["modalities"].items() if v.get("loose"))
        self.one_order = frozenset(k for k, v in data["modalities"].items() if v.get("one_order"))
        self.siteless = frozenset(k for k, v in data["modalities"].items() if v.get("siteless"))

    def below(self, modality: str) -> frozenset[str]:
        """The modality and its more specific forms."""
        return _closure(modality, self._kinds)

    def related(self, one: str, other: str) -> bool:
        """Whether one site holds the other, or they are the same."""
        return other in _closure(one, self._parts) or one in _closure(other, self._parts)

    def studies(self, tokens: Sequence[Token], named: Iterable[tuple[int, int]] = ()) -> list[Study]:
        """All studies in the words, in order.

        Args:
            tokens: The words.
            named: Spans of other things; a site inside one ("lumbar" in "lumbar puncture") is no site of a study.
        """
        made = [Study(s.start, s.end, s.value, s.sites) for s in self._alias_spans(tokens)]
        taken = {i for study in made for i in range(study.start, study.end)}
        modalities = [m for m in _longest(tokens, self._modalities) if not taken & set(range(m.start, m.end))]
        modalities = _with_ellipses(tokens, modalities)
        own = {p for m in modalities for p in range(m.start, m.end)}
        others = [n for n in named if not own & set(range(*n))]
        sites = [
            s
            for s in _longest(tokens, self._sites)
            if not taken & set(range(s.start, s.end)) and not any(_is_inside(s, n) for n in others)
        ]
        return self._by_means(tokens, sorted(made + self._bind(tokens, modalities, sites), key=lambda s: s.start))

    def _by_means(self, tokens: Sequence[Token], studies: Sequence[Study]) -> list[Study]:
        """One study where another is only its means: "scan the belly with ultrasound"."""
        found: list[Study] = []
        for study in studies:
            last = found[-1] if found else None
            between = [t.word for t in tokens[last.end : study.start] if t.form] if last else []
            if last and last.modality in self.loose and not study.sites and between in (["with"], ["by"], ["using"]):
                found[-1] = Study(last.start, study.end, study.modality, last.sites)
            else:
                found.append(study)
        return found

    def _alias_spans(self, tokens: Sequence[Token]) -> list[_Span]:
        plain = {key: "|".join(key) for key in self._aliases}
        spans = _longest(tokens, plain)
        return [_Span(s.start, s.end, *self._aliases[tuple(s.value.split("|"))]) for s in spans]

    def _bind(self, tokens: Sequence[Token], modalities: Sequence[_Span], sites: Sequence[_Span]) -> list[Study]:
        used: set[int] = set()
        starts = {m.start for m in modalities}
        found: list[Study] = []
        for modality in modalities:
            mine = self._left(tokens, modality, sites, used)
            if not mine and modality.value not in self.siteless:
                mine = self._right(tokens, modality, sites, used, starts)
            used.update(s.start for s in mine)
            first = min([modality.start, *(s.start for s in mine)])
            last = max([modality.end, *(s.end for s in mine)])
            found.append(Study(first, last, modality.value, tuple(dict.fromkeys(s.value for s in mine))))
        return found

    def _left(self, tokens: Sequence[Token], modality: _Span, sites: Sequence[_Span], used: set[int]) -> list[_Span]:
        """Sites right before the modality: "chest and abdominal CT"."""
        by_end = {s.end: s for s in sites if s.start not in used}
        mine: list[_Span] = []
        edge, gap, joined = modality.start, 0, True
        while edge > 0 and gap <= MAX_GAP:
            if tokens[edge].broken if edge < len(tokens) else False:
                if not mine or tokens[edge].broken != ",":
                    break
                joined = True
            site = by_end.get(edge)
            if site is not None and joined:
                mine.insert(0, site)
                edge, gap, joined = site.start, 0, False
                continue
            word = tokens[edge - 1].word
            if word not in self._between or word in ("of", "on", "over") or (word in CONJUNCTIONS and not mine):
                break
            if word in ("a", "an") and (joined or tokens[edge - 1].broken):
                break  # "blood for the thyroid, a pelvic ultrasound"
            joined = joined or word in CONJUNCTIONS
            edge, gap = edge - 1, gap + 1
        return mine

    def _right(
        self, tokens: Sequence[Token], modality: _Span, sites: Sequence[_Span], used: set[int], starts: set[int]
    ) -> list[_Span]:
        """Sites behind the modality: "CT of the chest, abdomen and pelvis"."""
        by_start = {s.start: s for s in sites if s.start not in used}
        mine: list[_Span] = []
        place, gap, joined = modality.end, 0, True
        while place < len(tokens) and gap <= MAX_GAP:
            broken = tokens[place].broken
            if broken.strip(",/()") or (broken and not mine and broken.strip("(")):
                break
            joined = joined or bool(broken)
            site = by_start.get(place)
            if site is not None:
                if self._belongs_to_next(tokens, site, starts) or not joined:
                    break
                mine.append(site)
                place, gap, joined = site.end, 0, False
                continue
            word = tokens[place].word
            if word not in self._between or (word in CONJUNCTIONS and not mine):
                break
            joined = joined or word in CONJUNCTIONS or word in ("of", "with")
            place, gap = place + 1, gap + 1
        return mine

    @staticmethod
    def _belongs_to_next(tokens: Sequence[Token], site: _Span, starts: set[int]) -> bool:
        if site.end >= len(tokens):
            return False
        follower = tokens[site.end]
        examined = follower.form in ("exam", "examination", "auscultation", "palpation")
        return examined or (site.end in starts and not follower.broken)


def _with_ellipses(tokens: Sequence[Token], modalities: Sequence[_Span]) -> list[_Span]:
    """The modalities and the words that stand for the one before them: "... and one of the gallbladder"."""
    found = list(modalities)
    for place in range(len(tokens) - 1):
        before = [m for m in modalities if m.end <= place]
        if before and tokens[place].word in _SAME and tokens[place + 1].word == "of":
            found.append(_Span(place, place + 1, before[-1].value))
    return sorted(found, key=lambda m: m.start)


def _is_inside(site: _Span, span: tuple[int, int]) -> bool:
    """Whether the site is a smaller part of the span."""
    return span[0] <= site.start and site.end <= span[1] and site.end - site.start < span[1] - span[0]


def _named(section: Mapping[str, Mapping[str, Any]]) -> dict[tuple[str, ...], str]:
    return {forms(name): key for key, value in section.items() for name in (*value.get("names", ()), key)}


def _closure(start: str, links: Mapping[str, Sequence[str]]) -> frozenset[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        current = waiting.pop()
        if current not in found:
            found.add(current)
            waiting.extend(links.get(current, ()))
    return frozenset(found)


def _longest(tokens: Sequence[Token], names: Mapping[tuple[str, ...], str]) -> list[_Span]:
    """Names in the words, left to right, the longest at each place."""
    longest = max(map(len, names), default=0)
    found: list[_Span] = []
    place = 0
    while place < len(tokens):
        hit = _match(tokens, place, names, longest)
        if hit is not None:
            found.append(hit)
        place = hit.end if hit is not None else place + 1
    return found


def _match(tokens: Sequence[Token], start: int, names: Mapping[tuple[str, ...], str], longest: int) -> _Span | None:
    if not tokens[start].form:
        return None
    best: _Span | None = None
    key: tuple[str, ...] = ()
    for place in range(start, len(tokens)):
        if place > start and _PAUSES & set(tokens[place].broken):
            break
        if tokens[place].form:
            key = (*key, tokens[place].form)
            if key in names:
                best = _Span(start, place + 1, names[key])
        if len(key) >= longest:
            break
    return best

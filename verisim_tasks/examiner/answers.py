"""Which entries of a case answer an order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from verisim_tasks.examiner.entries import Entry, Holdings
from verisim_tasks.examiner.imaging import ImagingReader, Study
from verisim_tasks.examiner.mentions import Mention
from verisim_tasks.examiner.tokens import forms
from verisim_tasks.examiner.vocabulary import Item, Vocabulary


@dataclass(frozen=True)
class Answer:
    """What one order brings."""

    name: str
    """Canonical name of what was ordered."""
    entries: tuple[Entry, ...] = ()
    unclear: bool = False
    """Too general: several entries fit, and the doctor must say which is meant."""


class Answerer:
    """Finds the entries that answer, by name, panel, kind and body site. Pure."""

    def __init__(self, vocabulary: Vocabulary, imaging: ImagingReader) -> None:
        self._vocabulary = vocabulary
        self._imaging = imaging
        self._site_forms = {
            site: tuple(forms(n) for n in (site, *value.get("names", ())))
            for site, value in vocabulary.imaging["sites"].items()
        }

    def answers(self, mention: Mention, held: Holdings) -> list[Answer]:
        """The answers to one mention; more than one where it names several body sites."""
        if mention.entry:
            entries = held.of(mention.entry)
            return [Answer(entries[0].name, entries)]
        if mention.study is not None:
            return [self._study(s, mention.sides, held) for s in self._split(mention.study)]
        found = [self._item(self._vocabulary.items[n.item], mention.sides, held) for n in mention.items]
        full = [a for a in found if a.entries] or [a for a in found if a.unclear] or found[:1]
        entries = _own_first(tuple(dict.fromkeys(e for a in full for e in a.entries)), {n.item for n in mention.items})
        return [Answer(full[0].name, entries, unclear=not entries and full[0].unclear)]

    # items

    def _item(self, item: Item, sides: frozenset[str], held: Holdings) -> Answer:
        if item.all_findings:
            return Answer(item.name, tuple(e for e in held.entries if e.kind == "finding"))
        found = self._direct(item, held)
        if item.single:
            return Answer(item.name, found if len(found) == 1 else (), unclear=len(found) > 1)
        if not found:
            found = self._of_parts(item, held) or self._wider_kind(item, held) or self._wider_panel(item, held)
        if not found and item.kind == "examination":
            found = self._mentioning(item, held)
        if any(_has_other_purpose(e, item) for e in found):
            plain = [e for e in (*found, *self._mentioning(item, held)) if not _has_other_purpose(e, item)]
            found = _in_order(plain, held) or found
        return Answer(item.name, tuple(e for e in found if _same_side(sides, e.sides)))

    def _direct(self, item: Item, held: Holdings) -> tuple[Entry, ...]:
        if item.first:
            held_kinds = (self._direct(self._vocabulary.items[kind], held) for kind in item.kinds)
            return next((found for found in held_kinds if found), ())
        below = self._vocabulary.below(item.name)
        system = item.kind == "examination" and bool(item.members)
        spoken = _spoken(item) if system else frozenset()
        return tuple(
            e
            for e in held.entries
            if (e.items & below and not self._is_apart(item, e))
            or e.panels & below
            or (e.kind == "finding" and spoken and not spoken.isdisjoint(e.known_as))
        )

    def _is_apart(self, item: Item, entry: Entry) -> bool:
        """Whether a panel is ordered and the case counts the entry with another sample."""
        own = self._vocabulary.below(item.name, ("kinds",))
        apart = [p for p in entry.panels if self._vocabulary.items[p].apart]
        return bool(
            item.members and apart and not entry.items & own and not self._vocabulary.below(item.name) & set(apart)
        )

    def _of_parts(self, item: Item, held: Holdings) -> tuple[Entry, ...]:
        """Findings on parts of a region that has no finding of its own."""
        found = [e for part in item.parts for e in self._direct(self._vocabulary.items[part], held)]
        return _in_order(found, held)

    def _wider_kind(self, item: Item, held: Holdings) -> tuple[Entry, ...]:
        """Entries with a more general name: asked for fasting glucose, "glucose" answers."""
        above = self._vocabulary.wider(item.name, "kinds")
        return tuple(e for e in held.entries if e.items & set(above))

    def _wider_panel(self, item: Item, held: Holdings) -> tuple[Entry, ...]:
        """Entries of a panel or region that name the item, or that name no member at all and so speak for all."""
        found: list[Entry] = []
        for relation in ("members", "parts"):
            for holder in self._vocabulary.wider(item.name, relation):
                same = self._vocabulary.below(holder, ("kinds",))
                for entry in held.entries:
                    if entry.items & same and self._speaks_for(entry, item, self._vocabulary.items[holder]):
                        found.append(entry)
        return _in_order(found, held)

    def _speaks_for(self, entry: Entry, item: Item, holder: Item) -> bool:
        if _names(entry, item):
            return True
        if item.kind == "examination" or item.name not in holder.members:
            return False
        others = (self._vocabulary.items[m] for m in self._vocabulary.below(holder.name) if m != holder.name)
        return not any(_says(entry, other) for other in others)

    @staticmethod
    def _mentioning(item: Item, held: Holdings) -> tuple[Entry, ...]:
        """Findings of another name that tell of the item: by their terms, else by their text."""
        findings = [e for e in held.entries if e.kind == "finding"]
        by_name = tuple(e for e in findings if _known_as(e, item))
        return by_name or tuple(e for e in findings if _says(e, item))

    # imaging

    def _split(self, study: Study) -> Iterable[Study]:
        """A CT of three regions is one study; X-rays of two regions are two."""
        if len(study.sites) < 2 or study.modality in self._imaging.one_order:
            return [study]
        return [Study(study.start, study.end, study.modality, (site,)) for site in study.sites]

    def _study(self, study: Study, sides: frozenset[str], held: Holdings) -> Answer:
        name = " ".join([study.modality, *(s for s in sorted(sides) if study.sites), ", ".join(study.sites)]).strip()
        fits = [(self._fit(study, e), e) for e in held.entries if e.studies and _same_side(sides, e.sides)]
        ranked = [(fit, e) for fit, e in fits if fit is not None]
        if not ranked:
            return Answer(name)
        best = min(fit for fit, _ in ranked)
        found = tuple(e for fit, e in ranked if fit == best)
        if not study.sites:
            whole = tuple(e for _, e in ranked)
            return Answer(name, whole if len(whole) == 1 else (), unclear=len(whole) > 1)
        return Answer(name, found)

    def _fit(self, study: Study, entry: Entry) -> int | None:
        """How well an entry fits a study, 0 best; none where it does not."""
        fits = [self._fit_one(study, held, entry) for held in entry.studies]
        return min((f for f in fits if f is not None), default=None)

    def _fit_one(self, study: Study, held: Study, entry: Entry) -> int | None:
        loosely_named = held.modality in self._imaging.loose and study.modality in self._imaging.below(held.modality)
        if not loosely_named and held.modality not in self._imaging.below(study.modality):
            return None
        rank = 0 if held.modality == study.modality else 1
        if not study.sites or set(study.sites) & set(held.sites):
            return rank
        if not held.sites:
            told = any(_contains(entry.says, f) for s in study.sites for f in self._site_forms.get(s, ()))
            return rank + 2 if told else None
        related = any(self._imaging.related(a, b) for a in study.sites for b in held.sites)
        return rank + 2 if related else None


def _has_other_purpose(entry: Entry, item: Item) -> bool:
    """Whether a finding was made for something else: asked for the face, "skin and face for cortisol signs"."""
    _, purposed, purpose = entry.name.partition(" for ")
    return entry.kind == "finding" and bool(purposed) and forms(purpose) not in _spoken(item)


def _same_side(ordered: frozenset[str], held: frozenset[str]) -> bool:
    return not ordered or not held or bool(ordered & held)


def _own_first(found: Sequence[Entry], meant: Set[str]) -> tuple[Entry, ...]:
    """Where a vital sign answers, a finding that tells of other things as well does not: "neck veins and pulse"."""
    if not any(e.kind == "vital" for e in found):
        return tuple(found)
    return tuple(e for e in found if e.kind == "vital" or e.items <= meant)


def _in_order(found: Sequence[Entry], held: Holdings) -> tuple[Entry, ...]:
    wanted = set(found)
    return tuple(e for e in held.entries if e in wanted)


def _spoken(item: Item) -> frozenset[tuple[str, ...]]:
    return frozenset(forms(n) for n in (item.name, *item.words, *item.names))


def _shown_by(item: Item) -> Iterable[tuple[str, ...]]:
    """Comparable words that show in a text that the item was looked at."""
    return (f for n in item.mention or (item.name, *item.names, *item.words) if (f := forms(n)))


def _names(entry: Entry, item: Item) -> bool:
    return _known_as(entry, item) or _says(entry, item)


def _known_as(entry: Entry, item: Item) -> bool:
    """Whether a finding goes by the item's name, or a test's name holds it."""
    spoken = _spoken(item) | set(_shown_by(item))
    if entry.kind == "finding":
        return not spoken.isdisjoint(entry.known_as)
    return bool(entry.known_as) and any(_contains(entry.known_as[0], words) for words in spoken)


def _says(entry: Entry, item: Item) -> bool:
    return any(_contains(entry.says, words) for words in _shown_by(item))


def _contains(text: Sequence[str], words: Sequence[str]) -> bool:
    size = len(words)
    return any(tuple(text[i : i + size]) == tuple(words) for i in range(len(text) - size + 1))

"""Understanding the patient: from one answer to findings, in the light of the question."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from verisim_tasks.clinician.beliefs import Finding
from verisim_tasks.clinician.context import (
    ANY_KIN,
    FAMILY,
    FEARED,
    KIN_SPEAKS,
    ONSETS,
    OTHER_PERSON,
    SINCE_ONSET,
    VAGUE,
)
from verisim_tasks.clinician.knowledge import Knowledge
from verisim_tasks.clinician.measures import duration_in, temperature_in
from verisim_tasks.clinician.phrasebook import Mention, PhraseBook, telling_stems
from verisim_tasks.clinician.script import OpenQuestion
from verisim_tasks.clinician.signals import Signals, read_signals
from verisim_tasks.clinician.tokens import expand, tokenise
from verisim_tasks.language.embedding import Encoder, similarities
from verisim_tasks.language.words import sentences

# Measured on the labelled answers of tests/test_clinician_reading.py (75 statements with their features, 90 answers):
# at 0.50 with a gap of 0.10, 88% of the true statements pass and 1.9% of those about another feature of the same group
# (0.50 alone: 93% and 7.8%; 0.60 with the gap: 77% and 1.4%). At 0.72 the best of all features is right 9 times in 10.
ASKED_SIMILARITY = 0.50
"""Cosine from which a statement without a yes or a no counts as a yes to the feature that was asked."""
ASKED_GAP = 0.10
"""Most that any other feature may be nearer by."""
FREE_SIMILARITY = 0.72
"""Cosine from which it counts as a feature nobody asked about."""
FREE_LEAD = 0.03
"""Least lead of that feature over every unrelated one."""
EMBEDDED_WEIGHT = 0.7
UNNOTICED_WEIGHT = 0.6
"""Of "not that I've noticed"."""
SENSITIVE_DENIAL_WEIGHT = 0.5
NONE_WEIGHT = 0.4
"""Of everything covered by an open question that is answered with "none"."""
MAX_WORDS_TO_EMBED = 40
SHORT = 5
"""Words of a negative statement that needs no object ("I don't, no")."""
MAX_SENTENCES = 12
"""Sentences read of one answer."""


@dataclass(frozen=True)
class Asked:
    """What the doctor's last message asked: one feature, one open question, or nothing that is known."""

    feature: str | None = None
    open: OpenQuestion | None = None


Trouble = Literal["silent", "forgotten", "unclear", "evasive", "worried", "off_topic"]


@dataclass(frozen=True)
class Heard:
    """What one answer said."""

    findings: Mapping[str, Finding] = field(default_factory=dict)
    trouble: Trouble | None = None
    """Why the question is still open, or None when it is settled."""
    signals: Signals = field(default_factory=Signals)


class Hearing:
    """Reads answers against one body of knowledge. Remembers sentences, never patients."""

    def __init__(self, knowledge: Knowledge, encoder: Encoder) -> None:
        self.knowledge = knowledge
        self._encoder = encoder
        self._book = PhraseBook(
            (h, f.id)
            for f in knowledge.features
            if not f.id.startswith("onset_") or f.id == "onset_sudden"
            for h in f.hears
        )
        self._near: dict[str, npt.NDArray[np.float32]] = {}

    @functools.cached_property
    def _phrases(self) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int64]]:
        """Vectors of every feature's name and phrases, and where each feature's start."""
        texts: list[str] = []
        starts: list[int] = []
        for f in self.knowledge.features:
            starts.append(len(texts))
            texts += [f.name, *f.hears]
        return self._encoder.encode(texts), np.array(starts)

    def prepare(self, answers: Iterable[tuple[str, Asked]]) -> None:
        """Encodes in one batch what ``listen`` will need of these answers. Only saves time."""
        self._similar(sorted({s for answer, asked in answers for s in self._unclear_sentences(answer, asked)}))

    def listen(
        self, answer: str, asked: Asked, present: frozenset[str] = frozenset(), caregiver: bool = False
    ) -> Heard:
        """Findings of one answer.

        Args:
            answer: the patient's words; anything at all.
            asked: what they answer. ``Asked()`` for the opening complaint.
            present: features already known to be present; details of others are not credited.
            caregiver: the speaker talks about a relative, so a relative's trouble is the patient's own.
        """
        signals = read_signals(answer)
        found: dict[str, Finding] = {}
        opening = asked.feature is None
        for sentence in _sentences(answer):
            known = present | {n for n, f in found.items() if f.state == "present"}
            found.update(self._sentence(sentence, asked, known, caregiver))
        self._numbers(answer, asked, found)
        denied = signals.no or signals.negative
        if asked.feature is not None and asked.feature in self.knowledge.index:
            self._settle(asked.feature, answer, signals, found)
        elif asked.open is not None and asked.open.none_means_absent and denied and not found:
            self._none(asked.open, found)
        for name in sorted(found):
            if found[name].state == "absent" and self.knowledge.feature(name).sensitive:
                found[name] = Finding("absent", min(found[name].weight, SENSITIVE_DENIAL_WEIGHT))
        return Heard(
            found, None if opening and asked.open is None else self._trouble(asked, signals, found, answer), signals
        )

    def _sentence(self, sentence: str, asked: Asked, present: frozenset[str], caregiver: bool) -> dict[str, Finding]:
        text = expand(sentence)
        if text.rstrip().endswith("?"):
            return {}
        local = read_signals(sentence)
        if local.unclear:
            return {}
        kin = not caregiver and bool(OTHER_PERSON.search(text)) and not KIN_SPEAKS.search(text)
        feared = bool(FEARED.search(text))
        asked_family = self._asked_groups(asked) == {"family_history"}
        mentions = self._book.find(sentence)
        if local.unknown:
            mentions = tuple(m for m in mentions if read_signals(m.phrase).unknown)
        if kin or asked_family:
            mentions = tuple(self._of_family(m) for m in mentions)
        mentions = tuple(m for m in mentions if self._fits(m, kin, feared, asked_family))
        found: dict[str, Finding] = {}
        named = present | {m.feature for m in mentions if not m.negated}
        for m in mentions:
            if self._credible(m, asked, named):
                state: Literal["present", "absent"] = "absent" if m.negated else "present"
                if m.feature not in found or state == "present":
                    found[m.feature] = Finding(state)
        about_time = asked.open is not None and asked.open.id == "onset"
        if (
            asked.feature is None
            and not about_time
            and not mentions
            and not kin
            and not feared
            and self._wants_vector(sentence)
        ):
            name = self._nearest(sentence, present)
            if name is not None:
                found[name] = Finding("present", EMBEDDED_WEIGHT)
        return found

    def _of_family(self, mention: Mention) -> Mention:
        """A relative's illness as family history."""
        family = FAMILY.get(mention.feature)
        return replace(mention, feature=family) if family in self.knowledge.index else mention

    def _fits(self, mention: Mention, kin: bool, feared: bool, asked_family: bool) -> bool:
        group = self.knowledge.feature(mention.feature).group
        if group == "family_history":
            return kin or asked_family
        if kin and not ANY_KIN.search(mention.phrase.lower()):
            return group in ("exposures", "social", "genital_sexual")
        return not asked_family and not (feared and group in ("past_history", "medicines"))

    def _credible(self, mention: Mention, asked: Asked, present: frozenset[str]) -> bool:
        """Not when it is a detail of something that is not there, or ordinary words out of their context."""
        name = mention.feature
        if name == asked.feature:
            return True
        wholes = self.knowledge.ancestors(name)
        named = self._book.features_in(mention.phrase)
        if wholes and asked.feature not in wholes and wholes[0] not in present and wholes[0] not in named:
            return False
        if not mention.weak or asked == Asked():
            return True
        return self.knowledge.feature(name).group in self._asked_groups(asked) or bool(set(wholes) & present)

    def _asked_groups(self, asked: Asked) -> set[str]:
        if asked.feature is not None:
            return {self.knowledge.feature(asked.feature).group} if asked.feature in self.knowledge.index else set()
        return set(asked.open.groups) if asked.open is not None else set()

    def _settle(self, name: str, answer: str, signals: Signals, found: dict[str, Finding]) -> None:
        """Yes, no, unknown or a matching statement as the answer to a closed question."""
        if name in found:
            if found[name].state == "absent" and signals.yes:
                found[name] = Finding("present")
            return
        child = any(f.state == "present" and name in self.knowledge.ancestors(n) for n, f in found.items())
        if child or (signals.yes and not signals.unknown):
            found[name] = Finding("present")
        elif signals.no or (signals.negative and self._speaks_of(answer, name)):
            found[name] = Finding("absent", UNNOTICED_WEIGHT if signals.not_noticed else 1.0)
        elif signals.unknown:
            found[name] = Finding("unknown")
        else:
            column = self.knowledge.index[name]
            nears = self._similar(self._wanted(answer))
            if any(n[column] >= ASKED_SIMILARITY and n[column] >= n.max() - ASKED_GAP for n in nears):
                found[name] = Finding("present", EMBEDDED_WEIGHT)

    def _speaks_of(self, answer: str, name: str) -> bool:
        """A negative statement that is short or shares a telling word with the question."""
        feature = self.knowledge.feature(name)
        said = telling_stems(answer)
        return len(tokenise(answer)) <= SHORT or bool(said & telling_stems(f"{feature.ask} {feature.rephrase}"))

    def _unclear_sentences(self, answer: str, asked: Asked) -> list[str]:
        """What of this answer will be compared by meaning because its words are not known."""
        if asked.feature is None:
            return [s for s in self._wanted(answer) if all(m.weak for m in self._book.find(s))]
        signals = read_signals(answer)
        return [] if signals.yes or signals.no or signals.unknown else self._wanted(answer)

    def _wanted(self, answer: str) -> list[str]:
        return [s for s in _sentences(answer) if self._wants_vector(s)]

    def _none(self, question: OpenQuestion, found: dict[str, Finding]) -> None:
        for f in self.knowledge.features:
            if f.group in question.groups or f.id in question.ids:
                found[f.id] = Finding("absent", NONE_WEIGHT)

    def _numbers(self, answer: str, asked: Asked, found: dict[str, Finding]) -> None:
        about_time = asked.open is not None and asked.open.id == "onset"
        if about_time or (asked == Asked() and SINCE_ONSET.search(expand(answer))):
            name = ONSETS.get(duration_in(answer) or "")
            if name in self.knowledge.index:
                found[str(name)] = Finding("present")
        degrees = temperature_in(answer)
        if degrees is not None:
            for name, limit in (("fever", 37.8), ("high_fever", 39.0)):
                if name in self.knowledge.index:
                    found[name] = Finding("present" if degrees >= limit else "absent")

    def _trouble(self, asked: Asked, signals: Signals, found: Mapping[str, Finding], answer: str) -> Trouble | None:
        settled = (
            asked.feature in found if asked.feature is not None else self._open_settled(asked, signals, found, answer)
        )
        forgotten = signals.unknown and all(f.state == "unknown" for f in found.values())
        guarded = signals.evasive and asked.feature in found and found[str(asked.feature)].state != "present"
        if settled and not forgotten and not guarded and not signals.silent:
            return None
        troubles: tuple[tuple[Trouble, bool], ...] = (
            ("silent", signals.silent),
            ("unclear", signals.unclear),
            ("evasive", signals.evasive),
            ("forgotten", forgotten),
            ("worried", signals.worried),
        )
        return next((trouble for trouble, holds in troubles if holds), "off_topic")

    def _open_settled(self, asked: Asked, signals: Signals, found: Mapping[str, Finding], answer: str) -> bool:
        if found or signals.no or signals.negative:
            return True
        if asked.open is None:
            return True
        return (
            asked.open.id in ("work", "allergies", "modifiers", "character", "location", "travel")
            and len(tokenise(answer)) > 2
            and not (signals.unclear or signals.evasive or signals.worried)
        )

    def _wants_vector(self, sentence: str) -> bool:
        """Only a plain, concrete statement is worth an embedding."""
        tokens = tokenise(sentence)
        if not 2 <= len(tokens) <= MAX_WORDS_TO_EMBED or any(t.negated for t in tokens):
            return False
        text = expand(sentence)
        if text.rstrip().endswith("?") or VAGUE.search(text):
            return False
        signals = read_signals(sentence)
        return not (signals.unknown or signals.unclear or signals.evasive or signals.worried)

    def _nearest(self, sentence: str, present: frozenset[str]) -> str | None:
        near = self._similar([sentence])[0]
        order = sorted(np.flatnonzero(near >= FREE_SIMILARITY - FREE_LEAD), key=lambda i: (-near[i], i))
        if not order or near[order[0]] < FREE_SIMILARITY:
            return None
        best = self.knowledge.features[order[0]].id
        family = {best, *self.knowledge.ancestors(best)}
        for i in order[1:]:
            other = self.knowledge.features[i].id
            if near[order[0]] - near[i] < FREE_LEAD and not family & {other, *self.knowledge.ancestors(other)}:
                return None
        wholes = self.knowledge.ancestors(best)
        if best.startswith("onset_") or (wholes and wholes[0] not in present):
            return None
        return best

    def _similar(self, texts: Sequence[str]) -> list[npt.NDArray[np.float32]]:
        new = [t for t in texts if t not in self._near]
        if new:
            phrases, starts = self._phrases
            table = np.maximum.reduceat(similarities(self._encoder.encode(new), phrases), starts, axis=1)
            self._near.update(zip(new, table, strict=True))
        return [self._near[t] for t in texts]


def _sentences(answer: str) -> list[str]:
    return [s for s in sentences(answer) if re.search(r"\w", s)][:MAX_SENTENCES]

"""The patterns and word lists of ``requests.yaml``, made ready for use."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from verisim_tasks.examiner.tokens import Token, forms, phrase, tokenise

QUESTION_WORDS = frozenset(["have", "has", "had", "do", "does", "did", "are", "is", "were", "was"]) | {
    *("how", "what", "when", "where", "why", "who", "which", "any")
}
"""Words with which a question to the patient begins."""


class Wording:
    """How orders are worded. Built once; only reads."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.marker = re.compile(
            rf"^[^\w\n\[]*\[?[*_ ]*{data['marker']}[*_ ]*[:\uff1a][*_ ]*(?P<content>[^\n]*)$",
            re.IGNORECASE | re.MULTILINE,
        )
        self.heading = re.compile(rf"^[ ]*(?:#+|\*\*|__)[ *_]*{data['marker']}[ *_]*$", re.IGNORECASE | re.MULTILINE)
        self.inline = re.compile(
            rf"(?<!\w)(?<!in )\[?\**{data['inline_marker']}\**[ ]?[:\uff1a]\**(?P<content>[^\n]*)$",
            re.IGNORECASE | re.MULTILINE,
        )
        self.wish = _start(data["cues"]["wish"])
        self.will = _start(data["cues"]["will"])
        self.asks = _start(data["cues"]["asks"])
        self.sends = _start(data["cues"]["sends"])
        self.staged = frozenset(data["cues"]["staged"])
        self.staged_words = re.compile(data["cues"]["staged_words"])
        self.handling = frozenset(data["cues"]["handling"])
        self.may_i = _start(data["cues"]["may_i"])
        self.looked = re.compile(data["looked"])
        self.signs = frozenset(data["signs"])
        self.hearsay = _phrases(data["cues"]["hearsay"])
        self.fillers = _phrases(data["fillers_before"])
        self.verbs = {
            k: _phrases(v) for k, v in data["verbs"].items() if k not in ("past", "manner", "nouns", "places")
        }
        nouns = data["verbs"]["nouns"]
        looks = itertools.product(nouns["take"], ["a"], nouns["noun"], nouns["at"])
        self.verbs["examine"] |= frozenset(looks)
        self.verbs["examine"] |= _handwork(data["verbs"]["places"])
        self.looks = frozenset(itertools.product(nouns["noun"], nouns["at"]))
        self._gerunds = {_gerund(v[0]): v[0] for kind in ("order", "examine") for v in self.verbs[kind]}
        self._manner = frozenset(data["verbs"]["manner"])
        self.past: dict[str, str] = dict(data["verbs"]["past"])
        self.light = frozenset(data["light"])
        self.statement = frozenset(data["statement"])
        self.after_word = frozenset(data["after_word"])
        self.clinical = frozenset(f for word in data["notes"]["clinical"] for f in forms(word))
        self.looked_for = frozenset(f for word in data["notes"]["looked_for"] for f in forms(word))
        self.unaskable = re.compile(rf"\b(?:{data['notes']['unaskable']})\b")
        hands = data["hands_on"]
        self.hands_on = re.compile(rf"\b(?:{hands['doctor']} (?:{hands['verb']})|{hands['tool']}|{hands['noun']})\b")
        self.seen_whole = re.compile(rf"\b(?:{hands['doctor']} (?:{hands['whole']})|{hands['whole_alone']})")
        self.ask = re.compile(rf"^(?:{data['results']['ask']})")
        self.shown = re.compile(rf"^(?:{data['results']['shown']})")
        self.after_result = frozenset(data["results"]["after"])
        self.passive = re.compile(rf"\b(?:{'|'.join(data['passive'])})\b")
        self.tail = re.compile(rf"(?<!and )\b(?:{data['tail']})\b")
        self.injection = _any(data["veto"]["message"])
        self.injection_raw = re.compile(data["veto"]["raw"])
        self.demand = _any(data["veto"]["sentence"])
        self.no_order = _any(data["veto"]["clause"])
        self.conditional = re.compile(data["veto"]["conditional"])
        self.harmless = _any(data["veto"]["harmless"])
        self.polite = re.compile(data["veto"]["polite"])
        self.no_test = _any([data["veto"]["fragment"], data["veto"]["dose"]])
        self.substances = frozenset(data["substances"])
        self.measuring = _phrases(data["measuring"])
        self.takes = frozenset(data["takes"])
        self.take_words = frozenset(data["take_words"])
        self.patient_does = _any(data["patient_does"])
        self.drug = re.compile(data["drug"])
        self.unknown_test = re.compile(data["unknown_test"])
        self.unknown_not = re.compile(data["unknown_not"])
        self.acknowledgement = re.compile(rf"(?:{data['acknowledgement']} ?)*")

    def plain(self, words: Sequence[str]) -> tuple[str, ...]:
        """A verb without the word of manner inside."""
        inside = words[1:2] in (["a"], ["another"]) and bool(words[2:3]) and words[2] in self._manner
        return (words[0], "a", *words[3:]) if inside else tuple(words)

    def base(self, words: Sequence[str]) -> Sequence[str]:
        """The words with a gerund in front made plain: "listening to" is "listen to"."""
        return [self._gerunds.get(words[0], words[0]), *words[1:]] if words else words

    def verb(self, words: Sequence[str]) -> tuple[str, int]:
        """Class and length of the verb that the words start with; ("", 0) for none. Longer verbs win.

        Words of manner inside do not count: "have a good look at" is "have a look at".
        """
        plain = self.plain(words)
        if len(plain) < len(words):
            kind, size = self.verb(plain)
            return kind, size + 1 if size > 1 else size
        found = [(longest_start(words, phrases), kind) for kind, phrases in self.verbs.items() if kind in _CLASSES]
        length = max((n for n, _ in found), default=0)
        if not length:
            return "", 0
        kinds = [kind for n, kind in found if n == length]
        return next(k for k in _CLASSES if k in kinds), length


def _handwork(data: Mapping[str, Sequence[str]]) -> frozenset[tuple[str, ...]]:
    """Verbs of examining with the place behind: "feel along", "run my fingers down"."""
    places = [tuple(at.split()) for at in data["at"]]
    verbs: list[tuple[str, ...]] = [(verb,) for verb in data["verb"]]
    verbs += itertools.product(data["hold"], ["my"], data["hands"])
    return frozenset(verb + place for verb in verbs for place in places)


_CLASSES = ("treat", "talk", "examine", "order", "handle")
"""Verb classes; the first that fits counts, where one verb stands in several."""


def longest_start(words: Sequence[str], phrases: frozenset[tuple[str, ...]]) -> int:
    """Length of the longest phrase that the words start with."""
    return max((n for n in range(1, _most_words(phrases) + 1) if tuple(words[:n]) in phrases), default=0)


@functools.cache
def _most_words(phrases: frozenset[tuple[str, ...]]) -> int:
    return max(map(len, phrases), default=0)


def _gerund(verb: str) -> str:
    """The -ing form of a verb: "get" is "getting", "take" is "taking"."""
    if _DOUBLED.search(verb):
        return f"{verb}{verb[-1]}ing"
    return f"{verb[:-1]}ing" if verb.endswith("e") and not verb.endswith("ee") else f"{verb}ing"


_DOUBLED = re.compile(r"^[^aeiou]*[aeiou][bdgmnpt]$")


def count_words(match: re.Match[str]) -> int:
    """How many words a match of a pattern at the start covers."""
    return len(match.group().split())


def masked(tokens: Sequence[Token], known: Iterable[tuple[int, int]]) -> str:
    """The words joined, each known span of positions as the one word ``item``."""
    inside = {p: start for start, end in known for p in range(start, end)}
    words = [("item" if inside[p] == p else "") if p in inside else t.word for p, t in enumerate(tokens)]
    return " ".join(w for w in words if w)


def _phrases(texts: Iterable[str]) -> frozenset[tuple[str, ...]]:
    return frozenset(tuple(phrase(tokenise(t)).split()) for t in texts)


def _start(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile(rf"^(?:{'|'.join(patterns)})(?:(?<= )|(?= |$))")


def _any(patterns: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(f"(?:{p})" for p in patterns))

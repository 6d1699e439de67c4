"""Splitting a free-text diagnosis, English or Chinese, into the diseases it asserts.

The published evaluation has a language model do this ("disease##disease"); here rules do, so that scores need no model:
lists and connectors part the text, labels, hedges, reasons and advice go, denied diseases are left out. What the words
are stands in ``fixtures/mvme/entities.yaml``.
"""

from __future__ import annotations

import functools
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from verisim_tasks.language.lexicon import load_yaml

MAX_CHARACTERS = 4_000
MAX_ENTITIES = 60
_MIN_LATIN, _MIN_CHINESE = 2, 2

_CIRCLED = re.compile(r"[\u2460-\u2473\u2474-\u2487\u2488-\u249b\u24ea\u24f5-\u24fe]")
_MARKDOWN = re.compile(r"[*_`#>]{1,6}")
_NUMBERS = re.compile(
    r"(?:(?<=^)|(?<=[\s;,.、)]))[(（]?(?<![\d.])(?:1?\d|20)(?:[)）]|[.、](?!\d))(?=\s*\D)|^\s*[一二三四五六七八九十]{1,2}、|^\s*[-+•·]\s",
    re.MULTILINE,
)
_HARD = re.compile(r"[\n;!。]+|\.(?=\s|$)|、|(?<![0-9]),(?=\S)|,\s")
_CLAUSE = re.compile(r"[\n;!。]+|\.(?=\s|$)")
_CHINESE = re.compile(r"[\u3400-\u9fff]")
_ALTERNATIVE = re.compile(r"(?:or|nor|或)", re.IGNORECASE)
_BRACKET = re.compile(r"[(\[]([^()\[\]]*)[)\]]")
_HELD = re.compile("\ue000(\\d+)\ue000")


@dataclass(frozen=True)
class _Words:
    leads: re.Pattern[str]
    labels: re.Pattern[str]
    dropped: re.Pattern[str]
    negated: re.Pattern[str]
    advice: re.Pattern[str]
    front: re.Pattern[str]
    end: re.Pattern[str]
    connectors: re.Pattern[str]
    whole: re.Pattern[str]
    disease: re.Pattern[str]
    vague: re.Pattern[str]
    qualifiers: frozenset[str]


@functools.cache
def _words() -> _Words:
    data: dict[str, Any] = load_yaml("mvme", "entities.yaml")

    def any_of(key: str, form: str = "{}") -> re.Pattern[str]:
        return re.compile(form.format("|".join(f"(?:{p})" for p in data[key])), re.IGNORECASE)

    return _Words(
        any_of("leads"),
        any_of("labels"),
        any_of("dropped_clauses"),
        any_of("negations"),
        any_of("advice"),
        any_of("hedges_front", "^(?:{})"),
        any_of("hedges_end"),
        any_of("connectors"),
        any_of("kept_whole"),
        re.compile(data["disease_parts"], re.IGNORECASE),
        re.compile(data["vague_heads"], re.IGNORECASE),
        frozenset(str(data["qualifiers"]).split()),
    )


def entities(text: str | None) -> tuple[str, ...]:
    """The diseases that a diagnosis text asserts, in order, each once. Empty when it names none. Never raises.

    Text beyond ``MAX_CHARACTERS`` and entities beyond ``MAX_ENTITIES`` are not read.
    """
    return _entities((text or "")[:MAX_CHARACTERS])


@functools.lru_cache(maxsize=20_000)
def _entities(text: str) -> tuple[str, ...]:
    found: dict[str, str] = {}
    held, kept = _hold(_plain(text))
    for clause in _CLAUSE.split(held):
        for piece in _of_clause(clause.strip()):
            for entity in _clean(_HELD.sub(lambda m: kept[int(m.group(1))], piece)):
                found.setdefault(entity.casefold(), entity)
    return tuple(found.values())[:MAX_ENTITIES]


def _plain(text: str) -> str:
    """One item a line: list marks become line ends, widths and markdown are levelled."""
    text = unicodedata.normalize("NFKC", _CIRCLED.sub("\n", text))
    text = _MARKDOWN.sub("", text).replace("“", "").replace("”", "").replace('"', "")
    return _NUMBERS.sub("\n", text)


def _of_clause(clause: str) -> Iterator[str]:
    """The pieces that may name a disease; places without a disease are joined to the piece behind them."""
    carried = ""
    for part in _stated_parts(_told(clause)):
        if part is None:
            carried = ""
        elif _is_fragment(part):
            carried += part
        else:
            yield carried + part
            carried = ""
    if carried:
        yield carried


def _stated_parts(clause: str) -> Iterator[str | None]:
    """What the clause asserts, parted at commas and connectors; ``None`` where something is dropped between."""
    words = _words()
    denied = False
    for piece in _HARD.split(clause):
        if not piece or not piece.strip():
            continue
        stated = words.advice.sub("", _after_lead(piece.strip()))
        if denied and _ALTERNATIVE.match(stated):
            continue
        denied = bool(words.negated.search(stated))
        if denied or not stated or words.dropped.search(stated) or words.labels.search(stated):
            yield None
            continue
        yield from words.connectors.split(stated)


def _hold(text: str) -> tuple[str, list[str]]:
    """The text with whole names that hold a connector put aside, and those names."""
    kept: list[str] = []

    def hold(match: re.Match[str]) -> str:
        kept.append(match.group())
        return f"\ue000{len(kept) - 1}\ue000"

    return _words().whole.sub(hold, text.replace("\ue000", "")), kept


def _told(clause: str) -> str:
    """The clause without its brackets and without what explains a disease behind a colon."""
    words = _words()
    while match := _BRACKET.search(clause):
        head = clause[: match.start()].rstrip()
        inner = match.group(1)
        vague = bool(words.vague.search(head)) and words.disease.search(inner) and not words.dropped.search(inner)
        clause = (inner if vague or not head else head) + " " + clause[match.end() :].lstrip()
        clause = clause.strip()
    head, colon, rest = clause.partition(":")
    if colon and rest.strip() and not words.leads.search(head + ":") and not words.labels.search(head.strip()):
        single = len(_HARD.split(rest)) == 1
        return rest if single and words.vague.search(head.strip()) else head
    return rest if colon and words.labels.search(head.strip()) else clause


def _after_lead(piece: str) -> str:
    leads = list(_words().leads.finditer(piece))
    if not leads:
        return piece
    last = leads[-1]
    if _words().negated.search(piece[: last.start()].strip()) or _words().dropped.search(piece[last.end() :]):
        return ""
    return piece[last.end() :].strip(" :,")


def _is_fragment(part: str) -> bool:
    """A Chinese piece that names a place only, not a disease."""
    return bool(_CHINESE.search(part)) and not _words().disease.search(part)


def _clean(text: str) -> Iterator[str]:
    words = _words()
    bare = text.strip(" \t:,.-/、?？'")
    if words.negated.search(bare):
        return
    previous = ""
    while bare != previous:
        previous = bare
        bare = words.end.sub("", words.front.sub("", bare).strip(" :,.-、")).strip(" :,.-、的")
    if _is_name(bare):
        yield " ".join(bare.split())


def _is_name(text: str) -> bool:
    if _CHINESE.search(text):
        return len(_CHINESE.findall(text)) >= _MIN_CHINESE and bool(_words().disease.search(text))
    tokens = re.findall(r"[a-z]+", text.casefold())
    return sum(map(len, tokens)) >= _MIN_LATIN and not set(tokens) <= _words().qualifiers


def is_chinese(texts: Sequence[str]) -> bool:
    """Whether any of the texts is written in Chinese characters."""
    return any(_CHINESE.search(t) for t in texts)

"""What a reply answers. Only anchored places count, and only if they agree; else there is a problem to report."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import json_repair

from verisim_metrics.judging.atoms import labelled_value, read_atom
from verisim_metrics.judging.fencing import without_blocks
from verisim_metrics.judging.prompt import ANSWER_KEYS
from verisim_metrics.judging.records import Answer
from verisim_metrics.judging.reply_text import Echo, Span, spans, visible
from verisim_metrics.judging.rubric import Rubric

MAX_REPLY = 50_000
"""Characters; a longer reply is a loop, not a verdict."""
MAX_REPAIR = 20_000
MAX_ITEMS = 500
MAX_JUSTIFICATION = 1_000
_KEYS = (*ANSWER_KEYS.values(), "answer", "rating", "grade", "result", "verdict", "prediction")
_REASONS = ("justification", "reason", "reasoning", "explanation", "analysis", "rationale")
_RAW = re.compile(rf"[\"']?\b({'|'.join(_KEYS)})\b[\"']?\s*[:=]\s*([^,}}\n]*)", re.IGNORECASE)
_UNKNOWN = frozenset({"", "null", "unknown", "not mentioned", "not stated", "not discussed", "n/a", "na"})


@dataclass(frozen=True)
class Reading:
    """An answer, or a problem told in the suite's own words (never in the reply's)."""

    answer: Answer | None = None
    justification: str | None = None
    problem: str | None = None


def read_reply(reply: object, rubric: Rubric, mark: str, echo: Echo) -> Reading:
    """Read one reply; never raises, whatever the reply is.

    Args:
        reply: What the model wrote.
        rubric: The rubric it was asked with.
        mark: The boundary of the prompt's data blocks.
        echo: The data of the question: what stands there word for word is no answer.
    """
    if not isinstance(reply, str):
        return Reading(problem="the reply is no text")
    if len(reply) > MAX_REPLY:
        return Reading(problem="the reply is too long")
    text = without_blocks(visible(reply), mark).strip()
    if not text:
        return Reading(problem="the reply is empty")
    if rubric.kind in ("list", "fields"):
        return _read_structure(text, rubric, echo)
    return _read_objects(text, rubric, echo) or _read_lines(text, rubric, echo)


def _read_objects(text: str, rubric: Rubric, echo: Echo) -> Reading | None:
    """The one answer of the JSON objects, a problem, or None where no object claims to answer."""
    anchored = [span for span in spans(text) if span.anchored]
    own = [span for span in anchored if not echo.holds(span.text)]
    if len(own) < len(anchored) and not own:
        return Reading(problem="the answer stands word for word in the data; judge in your own words")
    strict = [(_claims(data), data) for span in own if isinstance(data := _strict(span), _Object)]
    claiming = [(claims, data) for claims, data in strict if claims]
    valid = [(answer, data) for claims, data in claiming if (answer := _one_symbol(claims, rubric)) is not None]
    if valid:
        return _agreed([(answer, _justification(data)) for answer, data in valid])
    if claiming:
        return Reading(problem="the answer in the JSON object is not one of the possible answers")
    return _repaired(own, rubric)


def _agreed(found: Sequence[tuple[str, str | None]]) -> Reading:
    if len({answer for answer, _ in found}) > 1:
        return Reading(problem="the reply gives several different answers")
    return Reading(answer=found[-1][0], justification=found[-1][1])


def _repaired(own: Sequence[Span], rubric: Rubric) -> Reading | None:
    """A broken object, if it is the only one and its raw text gives the answer that the mended one has.

    A repair alone cannot be trusted: it makes 3 of ``{"score": 3 or 4}``.
    """
    broken = [span for span in own if not isinstance(_strict(span), _Object)]
    raw = [match.group(2).strip() for span in broken for match in _RAW.finditer(span.text)]
    if not raw:
        return None
    mended = _repair(broken[0].text) if len(broken) == 1 and len(raw) == 1 else None
    cut_off = not broken[0].closed and broken[0].text.rstrip().endswith(raw[0])
    if mended is None or cut_off:
        return Reading(problem="the JSON object is broken or cut off")
    answer = _one_symbol(_claims(mended), rubric)
    if answer is None or read_atom(raw[0].strip("'"), rubric) != answer:
        return Reading(problem="the answer in the JSON object is not one of the possible answers")
    return Reading(answer=answer, justification=_justification(mended))


def _read_lines(text: str, rubric: Rubric, echo: Echo) -> Reading:
    """Answers outside JSON: the whole reply, lines such as ``Score: 3``, a first or last line that is the answer."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    labelled = [(line, value) for line in lines if (value := labelled_value(line)) is not None]
    own = [value for line, value in labelled if not echo.holds(line)]
    if own:
        symbols = [read_atom(value, rubric) for value in own]
        known = [symbol for symbol in symbols if symbol is not None]
        if len(known) < len(symbols):
            return Reading(problem="the answer is not one of the possible answers")
        return _agreed([(symbol, text[:MAX_JUSTIFICATION]) for symbol in known])
    if labelled:
        return Reading(problem="the answer stands word for word in the data; judge in your own words")
    ends = lines if len(lines) == 1 else [line for line in (lines[0], lines[-1]) if not echo.holds_line(line)]
    found = [symbol for line in ends if (symbol := read_atom(line, rubric)) is not None]
    if not found:
        return Reading(problem="no answer stands where one was asked for")
    return _agreed([(symbol, text[:MAX_JUSTIFICATION]) for symbol in found])


def _read_structure(text: str, rubric: Rubric, echo: Echo) -> Reading:
    """A list or an object of texts. Nothing that was cut off is mended: a short list would look complete."""
    opener = "[" if rubric.kind == "list" and text.lstrip("`json \n").startswith("[") else "{"
    candidates = [s for s in spans(text, opener) if s.anchored and s.closed and not echo.holds(s.text)]
    parsed = [_strict(span) or _repair(span.text) for span in candidates]
    read = _texts if rubric.kind == "list" else _fields
    found = [answer for data in parsed if (answer := read(data, rubric)) is not None]
    if not found:
        return Reading(problem="no complete JSON object of the asked form was found")
    if any(answer != found[-1] for answer in found):
        return Reading(problem="the reply gives several different answers")
    return Reading(answer=found[-1])


def _texts(data: Any, rubric: Rubric) -> tuple[str, ...] | None:
    items = data.get(rubric.scale.list) if isinstance(data, dict) else data
    if not isinstance(items, list) or len(items) > MAX_ITEMS or not all(isinstance(item, str) for item in items):
        return None
    texts = tuple(dict.fromkeys(item.strip() for item in items if item.strip()))
    allowed = rubric.scale.allowed
    return None if allowed is not None and not set(texts) <= set(allowed) else texts


def _fields(data: Any, rubric: Rubric) -> dict[str, str | None] | None:
    names = rubric.scale.fields or ()
    if not isinstance(data, dict) or not any(name in data for name in names):
        return None
    values = {name: _field(data.get(name)) for name in names}
    return None if any(isinstance(value, _Object) for value in values.values()) else values


def _field(value: Any) -> Any:
    """A text or None; an ``_Object`` marks what is neither."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = "; ".join(item.strip() for item in value if item.strip())
    if isinstance(value, bool):
        value = "yes" if value else "no"
    if isinstance(value, int | float):
        value = str(value)
    if value is None or (isinstance(value, str) and value.strip().casefold() in _UNKNOWN):
        return None
    return value.strip() if isinstance(value, str) else _Object()


class _Object(dict[str, Any]):
    """A JSON object; ``clash`` where one key has two different values."""

    clash = False


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    data = _Object(pairs)
    data.clash = any(data[key] != value for key, value in pairs)
    return data


def _strict(span: Span) -> Any:
    """What the stretch is as JSON, or None."""
    if not span.closed:
        return None
    try:
        return json.loads(span.text, object_pairs_hook=_object)
    except (ValueError, RecursionError):
        return None


def _repair(text: str) -> Any:
    """What a broken stretch most likely was meant to be, or None."""
    if len(text) > MAX_REPAIR:
        return None
    try:
        data = json_repair.loads(text)
    except (ValueError, RecursionError, TypeError, KeyError, IndexError, AttributeError):
        return None
    return data if isinstance(data, dict | list) else None


def _claims(data: Any) -> list[Any]:
    """The values under keys that say they are the answer."""
    if not isinstance(data, dict):
        return []
    values = [value for key, value in data.items() if isinstance(key, str) and key.strip().casefold() in _KEYS]
    return [None] if getattr(data, "clash", False) and values else values


def _one_symbol(claims: Sequence[Any], rubric: Rubric) -> str | None:
    symbols = {_symbol(claim, rubric) for claim in claims}
    return symbols.pop() if len(symbols) == 1 else None


def _symbol(value: Any, rubric: Rubric) -> str | None:
    if isinstance(value, bool):
        return read_atom("yes" if value else "no", rubric) if rubric.kind == "labels" else None
    if isinstance(value, float) and value.is_integer() and abs(value) < 10**6:
        value = int(value)
    if isinstance(value, int) and abs(value) < 10**6:
        value = str(value)
    return read_atom(value, rubric) if isinstance(value, str) else None


def _justification(data: Any) -> str | None:
    found = [data[key] for key in _REASONS if isinstance(data.get(key), str)]
    return found[0][:MAX_JUSTIFICATION] if found else None

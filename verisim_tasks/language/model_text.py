"""What language models write around what they say: thoughts, the other side's lines, loops, control characters."""

from __future__ import annotations

import re
from typing import Literal

_THINK = re.compile(r"[<\[]\s*(/?)\s*(?:think|thinking|thought|reasoning)\s*[>\]]", re.IGNORECASE)


def strip_thinking(text: str) -> tuple[str, bool, bool]:
    """Remove thoughts: ``(what was said, whether there were any, whether the last one was closed)``.

    A closing tag without an opening one ends a thought that the chat template opened.
    """
    said: list[str] = []
    inside, seen, start = False, False, 0
    for tag in _THINK.finditer(text):
        seen = True
        closing = bool(tag.group(1))
        if closing and not inside:
            said.clear()
        elif not closing and not inside:
            said.append(text[start : tag.start()])
        inside = not closing
        start = tag.end()
    if not inside:
        said.append(text[start:])
    return "".join(said).strip(), seen, not inside


_MARKUP = r"[\s*_#>`\"'\[(|]*"
_CLOSE = r"[*_`\"'\])]*\s*[:：]"
_PATIENT = r"(?:the\s+)?(?:patient|user|human|caregiver|parent|mother|father|examiner|nurse)(?:'s\s+\w+)?"
_DOCTOR = r"(?:(?:the\s+)?(?:doctor|physician|clinician|assistant)|dr\.?(?:\s+[A-Z][\w-]*)?)"
_LEADING = {
    "doctor": re.compile(rf"^{_MARKUP}{_DOCTOR}{_CLOSE}[*_]*\s*", re.IGNORECASE),
    "patient": re.compile(rf"^{_MARKUP}{_PATIENT}{_CLOSE}[*_]*\s*", re.IGNORECASE),
}
_OTHER_SIDE = re.compile(
    rf"(?:^|\n){_MARKUP}(?:{_PATIENT}|{_DOCTOR}|system){_CLOSE}"
    rf"|(?<=[.?!…])[\s*_\"']+(?:patient|doctor|user|human){_CLOSE}"
    r"|<\|(?:im_end|im_start|eot_id|end|endoftext|user|system|start_header_id)\|>"
    r"|</s>|\[/?INST\]|<(?:end_of_turn|start_of_turn)>",
    re.IGNORECASE,
)


def own_side(text: str, speaker: Literal["doctor", "patient"]) -> tuple[str, bool]:
    """The speaker's own words, and whether anything was cut that it wrote for another side."""
    text = text.strip()
    while leading := _LEADING[speaker].match(text):
        text = text[leading.end() :].strip()
    found = _OTHER_SIDE.search(text)
    if not found:
        return text, False
    rest = text[found.end() :].strip()
    return text[: found.start()].strip().rstrip("*_#>`").rstrip(), bool(rest) or not _is_end_token(found.group())


def _is_end_token(marker: str) -> bool:
    return ":" not in marker and "：" not in marker


LOOP_REPEATS = 3
"""A stretch said this many times in a row is a loop."""
_LONGEST_LOOP = 40
_SENTENCE = re.compile(r"(?<=[.?!…])\s+|\n+")


def say_once(text: str) -> tuple[str, bool]:
    """The text with loops (of sentences, then of words) said once, and whether there were any."""
    sentences = [s for s in _SENTENCE.split(text) if s.strip()]
    folded = _fold(sentences, longest=8)
    looped = len(folded) < len(sentences)
    if looped:
        text = " ".join(folded)
    words = text.split()
    shorter = _fold(words, longest=_LONGEST_LOOP)
    if len(shorter) < len(words):
        return " ".join(shorter), True
    return text.strip(), looped


_ENDED = re.compile(r"[.?!…][\"'”’)\]]*$")
SHORT = 2
"""Words up to which a sentence may be said twice for weight: "Please. Please."."""


def each_once(text: str) -> str:
    """The text without sentences of more than two words that it has said before."""
    kept: list[str] = []
    seen: set[str] = set()
    for sentence in _SENTENCE.split(text):
        key = " ".join(re.findall(r"\w+", sentence.lower()))
        if key.count(" ") >= SHORT and key in seen:
            continue
        seen.add(key)
        kept.append(sentence)
    return " ".join(kept)


def whole(text: str) -> str:
    """The text without a sentence that breaks off behind whole ones."""
    sentences = _SENTENCE.split(text)
    if len(sentences) > 1 and not _ENDED.search(sentences[-1]):
        sentences.pop()
    return " ".join(sentences)


def _fold(units: list[str], longest: int) -> list[str]:
    """``units`` with every stretch of up to ``longest`` units that comes three or more times in a row kept once."""
    kept: list[str] = []
    position = 0
    while position < len(units):
        for size in range(1, min(longest, (len(units) - position) // LOOP_REPEATS) + 1):
            block = units[position : position + size]
            times = 1
            while units[position + times * size : position + (times + 1) * size] == block:
                times += 1
            if times >= LOOP_REPEATS:
                kept.extend(block)
                position += times * size
                break
        else:
            kept.append(units[position])
            position += 1
    return kept


def clean_characters(text: str) -> str:
    """Text that is valid Unicode and free of control characters other than line breaks and tabs."""
    valid = text.encode("utf-8", "replace").decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")
    return "".join(c for c in valid if c in "\n\t" or (ord(c) >= 32 and not 127 <= ord(c) < 160))

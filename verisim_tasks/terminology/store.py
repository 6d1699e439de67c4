"""Contexts on disk: written in full, read once, looked up by any name."""

from __future__ import annotations

import functools
import json
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from verisim_tasks._files import write_atomically
from verisim_tasks.errors import UserError
from verisim_tasks.terminology.records import Context, ContextFile, Entry, IndexFile, Kind, Source
from verisim_tasks.terminology.spelling import name_key

M = TypeVar("M", bound=BaseModel)

INDEX = "index.json"
FILES: Mapping[Kind, str] = {
    "symptom": "symptoms.json",
    "condition": "conditions.json",
    "medicine": "medicines.json",
    "other": "other.json",
}
_NOTES: Mapping[Source, tuple[str, str]] = {
    "hpo": (
        "HPO names, synonyms, relations and its cross-references to UMLS and SNOMED CT: HPO licence "
        "(https://hpo.jax.org/app/license), content unchanged. Terms with source 'verisim': MIT.",
        "This file uses the Human Phenotype Ontology (http://www.human-phenotype-ontology.org).",
    ),
    "umls": (
        "Holds UMLS Metathesaurus content under your own UMLS licence; do not pass this file on.",
        "Made with the UMLS REST API of the U.S. National Library of Medicine and the Human Phenotype Ontology.",
    ),
}


class Contexts:
    """All contexts of a folder."""

    def __init__(self, contexts: Iterable[Context], concepts: Mapping[str, Entry]) -> None:
        self.by_id = {c.id: c for c in contexts}
        self.concepts = dict(concepts)
        self._names: dict[str, tuple[str, ...]] = {}
        for name in sorted(self.concepts):
            self._names.setdefault(name_key(name), self.concepts[name].ids)
        for context in sorted(self.by_id.values(), key=lambda c: c.id):
            self._names.setdefault(name_key(context.name), (context.id,))
        for context in sorted(self.by_id.values(), key=lambda c: c.id):
            for term in context.synonyms:
                self._names.setdefault(name_key(term.text), (context.id,))

    def find(self, concept: str) -> Context | None:
        """The context that goes by this name, spelling and number aside; the parts of a compound joined."""
        ids = self._names.get(name_key(concept))
        return joined(concept, [self.by_id[i] for i in ids]) if ids else None

    @property
    def names(self) -> list[str]:
        """The concepts of cases, sorted."""
        return sorted(self.concepts)


def joined(concept: str, parts: list[Context]) -> Context:
    """One context for a concept made of several; a single part stays as it is."""
    if len(parts) == 1:
        return parts[0]

    def all_of(field: str) -> tuple[object, ...]:
        return tuple(dict.fromkeys(x for part in parts for x in getattr(part, field)))

    fields = ("codes", "synonyms", "variations", "related", "locations", "modifiers")
    values = {field: all_of(field) for field in fields}
    return parts[0].model_copy(update={"id": "+".join(p.id for p in parts), "name": concept, **values})


def rendered(
    source: Source, version: str, contexts: Iterable[Context], concepts: Mapping[str, Entry]
) -> dict[str, str]:
    """The text of every file of a folder, by file name. The same input gives the same bytes."""
    licence, attribution = _NOTES[source]
    ordered = sorted(contexts, key=lambda c: c.id)
    texts: dict[str, str] = {}
    for kind, name in FILES.items():
        chosen = tuple(c for c in ordered if c.kind == kind)
        whole = ContextFile(source=source, licence=licence, attribution=attribution, version=version, contexts=chosen)
        texts[name] = _json(whole.model_dump(mode="json", exclude_defaults=False))
    texts[INDEX] = _json(IndexFile(concepts=dict(sorted(concepts.items()))).model_dump(mode="json"))
    return texts


def write(folder: Path, texts: Mapping[str, str]) -> None:
    """Write the files, each whole or not at all. Raises ``UserError`` when the folder cannot be written."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            write_atomically(folder / name, text)
    except OSError as error:
        raise UserError(f"{folder} cannot be written ({error.strerror}); give another folder with --out") from error


def outdated(folder: Path, texts: Mapping[str, str]) -> list[str]:
    """Names of the files that are missing or differ."""
    return [n for n, text in texts.items() if not (folder / n).is_file() or (folder / n).read_text("utf-8") != text]


def shipped_folder() -> Path:
    """The folder of the contexts that ship with the suite."""
    return Path(str(files("verisim_fixtures") / "context"))


@functools.lru_cache(maxsize=8)
def load(folder: Path) -> Contexts:
    """All contexts of a folder. Raises ``UserError`` for a missing or malformed file."""
    contexts = [c for name in FILES.values() for c in _read(folder / name, ContextFile).contexts]
    return Contexts(contexts, _read(folder / INDEX, IndexFile).concepts)


def _read(path: Path, model: type[M]) -> M:
    try:
        return model.model_validate_json(path.read_bytes())
    except (OSError, ValidationError) as error:
        reason = error.strerror if isinstance(error, OSError) else f"{error.error_count()} errors in its content"
        remedy = f"make it again with: verisim context build --out {path.parent}"
        raise UserError(f"{path} cannot be read ({reason}); {remedy}") from error


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, indent=1, sort_keys=False) + "\n"

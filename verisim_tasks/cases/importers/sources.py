"""Case sources that name a format: ``agentclinic:/path/file.jsonl``, ``hf://owner/name/split``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from verisim_tasks.cases.importers.registry import FORMATS, Outcome, find_format, import_file, import_rows
from verisim_tasks.errors import UserError, did_you_mean

HF = "hf://"
OPTIONS = ("split", "skip_bad")


def is_import_source(source: str) -> bool:
    """The source names a format or a hub data set, not a folder of case files."""
    name, colon, rest = source.partition(":")
    if source.startswith(HF) or f"+{HF}" in source:
        return True
    return (
        bool(colon)
        and len(name) > 1
        and "/" not in name
        and "\\" not in name
        and bool(rest)
        and not Path(source).exists()
    )


def import_source(source: str) -> Outcome:
    """The cases of ``FORMAT:PATH[?split=NAME&skip_bad=1]`` or ``[FORMAT+]hf://DATASET/SPLIT``.

    Raises ``UserError`` for an unknown format or option, a bad record, or a data set that cannot be loaded.
    """
    place, options = _options(source)
    split, skip_bad = options.get("split"), options.get("skip_bad", "0") in ("1", "true", "yes")
    if HF in place:
        lead, _, rest = place.partition(HF)
        name = lead.removesuffix("+") or None
        if name:
            find_format(name)
        return import_rows(name, hub_rows(rest), f"{HF}{rest}", skip_bad=skip_bad, split=split)
    name, _, path = place.partition(":")
    find_format(name)
    return import_file(name, Path(path).expanduser(), skip_bad=skip_bad, split=split)


def hub_rows(place: str) -> Iterable[Any]:
    """Rows of ``owner/name/split`` through ``datasets``; a local folder of data files works as well."""
    dataset, _, split = place.rstrip("/").rpartition("/")
    if not dataset or not split:
        raise UserError(f"{HF}{place}: needs a data set and a split, as in {HF}owner/name/test")
    import datasets

    try:
        return list(datasets.load_dataset(dataset, split=split))
    except Exception as error:
        reason = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise UserError(f"{HF}{place}: cannot be loaded ({reason}); check name, split and network") from error


def _options(source: str) -> tuple[str, dict[str, str]]:
    place, mark, query = source.rpartition("?")
    if not mark:
        return source, {}
    options = dict(parse_qsl(query, keep_blank_values=True))
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise UserError(f"cases {source!r}: no option {unknown[0]!r}{did_you_mean(unknown[0], OPTIONS)}")
    return place, options


def known_formats() -> str:
    """For help texts."""
    return ", ".join(sorted(FORMATS))

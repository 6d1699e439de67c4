"""Tables of ratings: one CSV file for each rater, one row an item, one column a criterion."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from verisim_tasks.errors import UserError, did_you_mean

ITEM = "item"
"""The column that names what is rated; the first column, where none is called so."""
NOT_RATINGS: tuple[str, ...] = ("comment", "comments", "case_id", "variant", "seed", "repeat", "task", "rater")
"""Columns that are never ratings."""


@dataclass(frozen=True)
class Ratings:
    """Everything one rater said."""

    rater: str
    columns: tuple[str, ...]
    values: Mapping[str, Mapping[str, str]]
    """Item to column to what was written, without blanks; an empty cell is left out."""

    def numbers(self, column: str) -> dict[str, float]:
        """One column as numbers, by item.

        Raises:
            UserError: for a cell that is no number.
        """
        found = {}
        for item, row in self.values.items():
            if column in row:
                found[item] = _number(row[column], f"{self.rater}, item {item}, {column}")
        return found


def read_ratings(path: Path) -> Ratings:
    """The ratings of one file; the rater is named by the file.

    Raises:
        UserError: when it cannot be read, has no rows, no rating column, or names an item twice.
    """
    rows = read_rows(path)
    heads = list(rows[0])
    key = ITEM if ITEM in heads else heads[0]
    columns = tuple(h for h in heads if h != key and h not in NOT_RATINGS)
    if not columns:
        raise UserError(f"{path} has no column of ratings beside {key!r}; write one column for each criterion")
    values: dict[str, dict[str, str]] = {}
    for row in rows:
        item = row[key]
        if item in values:
            raise UserError(f"{path} rates item {item!r} twice; keep one row")
        values[item] = {c: row[c] for c in columns if row[c]}
    return Ratings(path.stem, columns, values)


def read_rows(path: Path) -> list[dict[str, str]]:
    """The rows of a CSV file by column name, cells stripped; comma, semicolon or tab between them.

    Raises:
        UserError: when it cannot be read, is empty, or a row has more cells than there are columns.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UserError(f"{path} cannot be read ({reason}); save it as CSV in UTF-8") from error
    first = text.partition("\n")[0]
    mark = max(",;\t", key=first.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=mark, restkey="", restval="")
    rows = []
    for row in reader:
        if any(cell.strip() for cell in row.get("") or ()):
            raise UserError(f"{path}, line {reader.line_num}: more cells than columns; quote cells that hold {mark!r}")
        cells = {str(k).strip(): (v or "").strip() for k, v in row.items() if k}
        if any(cells.values()):
            rows.append(cells)
    if not rows:
        raise UserError(f"{path} holds no ratings; write a row of column names and one row an item")
    return rows


def shared_columns(tables: Sequence[Ratings], wanted: Sequence[str] = ()) -> list[str]:
    """The rating columns that all raters have, in the order of the first, or those of them that are wanted.

    Raises:
        UserError: when there is none, or a wanted one is not shared.
    """
    shared = [c for c in tables[0].columns if all(c in table.columns for table in tables)]
    for column in wanted:
        if column not in shared:
            raise UserError(f"column {column!r} is not in every file{did_you_mean(column, shared)}")
    if not shared:
        raise UserError("the files have no rating column in common; name the columns alike")
    return [c for c in shared if not wanted or c in wanted]


def as_csv(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows as CSV text."""
    target = io.StringIO(newline="")
    writer = csv.writer(target, lineterminator="\n")
    writer.writerow(heads)
    writer.writerows(rows)
    return target.getvalue()


def _number(text: str, place: str) -> float:
    try:
        found = float(text.replace(",", "."))
    except ValueError:
        raise UserError(f"{place}: {text!r} is no number; write the grade alone, or leave the cell empty") from None
    if found != found or found in (float("inf"), float("-inf")):
        raise UserError(f"{place}: {text!r} is no grade; leave the cell empty where there is none")
    return found

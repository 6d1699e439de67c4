"""What an import did with every sentence of its source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from verisim_tasks.records.case import Case

FATES = ("fact", "finding", "other", "empty", "dropped")
"""``fact``: in a fact of a profile item; ``finding``: in the examination or the tests, where an examiner found it;
``other``: kept in a fact of the catch-all item; ``empty``: the source says that nothing is known; ``dropped``: kept out
of what is spoken, for a stated reason."""


@dataclass(frozen=True)
class Trace:
    """One sentence of the source, and where it went."""

    source: str
    fate: str
    """One of :data:`FATES`."""
    reason: str | None = None
    """Why it was dropped."""
    ids: tuple[str, ...] = ()
    """Facts or findings that hold it."""


@dataclass
class Account:
    """The account of one imported case."""

    case_id: str
    place: str
    traces: list[Trace] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    """What was assumed, and what a reviewer should look at."""

    def count(self, fate: str) -> int:
        """How many sentences met that fate."""
        return sum(t.fate == fate for t in self.traces)

    @property
    def sentences(self) -> int:
        """Sentences that say something."""
        return len(self.traces) - self.count("empty")

    def share(self, *fates: str) -> float | None:
        """Share (0-1) of the sentences with these fates; None where there is no sentence."""
        return sum(self.count(f) for f in fates) / self.sentences if self.sentences else None

    def as_json(self) -> dict[str, Any]:
        """For the report file beside the cases."""
        counts = {fate: self.count(fate) for fate in FATES}
        traces = [{k: v for k, v in vars(t).items() if v} for t in self.traces]
        return {"case": self.case_id, "from": self.place, "counts": counts, "notes": self.notes, "sentences": traces}


@dataclass(frozen=True)
class Imported:
    """One imported case and its account."""

    case: Case
    account: Account


def percent(value: float | None) -> str:
    """``97.5%``, or ``-`` where undefined."""
    return "-" if value is None else f"{100 * value:.1f}%"


def summary_line(imported: Imported) -> str:
    """One line about one case."""
    account, case = imported.account, imported.case
    counts = "\t".join(
        f"{name} {account.count(fate)}" for name, fate in (("findings", "finding"), ("other",) * 2, ("dropped",) * 2)
    )
    placed = percent(account.share("fact"))
    return f"{case.id}\tsentences {account.sentences}\tfacts {len(case.facts)}\tplaced in facts {placed}\t{counts}"


def total_lines(imported: Iterable[Imported], bad: int) -> list[str]:
    """What happened in total, reasons and notes counted."""
    accounts = [i.account for i in imported]
    total = Account("total", "", [t for a in accounts for t in a.traces])
    counts = {fate: total.count(fate) for fate in FATES}
    lines = [
        f"{len(accounts)} cases imported, {bad} records skipped",
        f"{total.sentences} sentences that say something ({counts['empty']} say that nothing is known): "
        f"{counts['fact']} in facts ({percent(total.share('fact'))}), {counts['finding']} in examination or tests, "
        f"{counts['other']} in the catch-all item, {counts['dropped']} dropped; "
        f"placed anywhere but the catch-all: {percent(total.share('fact', 'finding'))}",
    ]
    reasons = Counter(t.reason for t in total.traces if t.fate == "dropped")
    lines += [f"  dropped, {reason}: {n}" for reason, n in sorted(reasons.items(), key=lambda x: (-x[1], str(x[0])))]
    notes = Counter(note.split(":")[0] for a in accounts for note in a.notes)
    lines += [f"  note, {note}: {n}" for note, n in sorted(notes.items(), key=lambda x: (-x[1], x[0]))]
    return lines

"""Link-based diagnosis scores: which diseases of the reference does the report name?

``link_fuzzy`` is the published algorithm (AI Hospital, arXiv 2402.09742, ``src/evaluate/eval_db.py``):

* A language model turns both texts into disease names. *Our choice*: rules do (``entities.py``).
* Each name is compared with every name of an ICD-10 list by ``fuzzywuzzy``'s ``WRatio``, a whole number 0-100; the ten
  best are its candidates (ties in the order of the list), and those below 50 are dropped. Here ``rapidfuzz`` computes
  the same score; its partial ratio is exact where the original's is a heuristic, so single candidates may differ.
* The diseases of the report are taken in order. One matches a reference disease when the two share a candidate name;
  each reference is matched once, and where several are open the last one is taken, as in the original.
* Recall, precision and F1 pool the counts over cases (micro). The original adds 0.00001 to the hits, so that nothing
  divided by nothing is defined; *our choice*: undefined is ``None``.
* The original skips patients whose report has no diagnosis heading. *Our choice*: no diagnosis is a miss of every
  reference disease, and such cases are counted as ``unanswered``.

``link_icd`` is ours: each disease is linked to an ICD-10-CM code by ``verisim_tasks.language.icd`` and two match when
one code is, or stands below, the other. The codes that a case accepts count beside those of its diagnosis by name. It
reads English only.
"""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import rapidfuzz

from verisim_metrics.mvme.entities import entities, is_chinese
from verisim_metrics.mvme.wratio import WRatioScorer
from verisim_tasks._stable import digest
from verisim_tasks.errors import UserError
from verisim_tasks.language.icd import exact_links, link
from verisim_tasks.language.icd_codes import code_table, is_below, is_unspecified_child
from verisim_tasks.language.vector_store import VectorStore

TOP_N = 10
THRESHOLD = 50
ICD_SCORE = 0.6
"""A code found by shared words or by meaning below this is a guess, and no link."""


@dataclass(frozen=True)
class CodeList:
    """Names of diseases with their codes, each name once, in the order of the list."""

    names: tuple[str, ...]
    codes: Mapping[str, str]
    source: str


@dataclass(frozen=True)
class Pair:
    """One case: the reference diagnosis and what was predicted, as free text."""

    id: str
    reference: str
    prediction: str | None
    codes: tuple[str, ...] = ()
    """ICD-10-CM codes that the first disease of the reference goes by, where they are known; read by ``link_icd``."""


@dataclass(frozen=True)
class LinkCount:
    """Hits and misses of one case."""

    id: str
    matched: int
    predicted: int
    reference: int


@dataclass(frozen=True)
class LinkScore:
    """Micro scores over cases, each 0-1 and ``None`` where nothing could be counted."""

    recall: float | None
    precision: float | None
    f1: float | None
    cases: int
    """Cases that are counted."""
    unanswered: int
    """Counted cases whose text names no disease."""
    left_out: int = 0
    reason: str | None = None
    """Why cases are left out."""


def read_code_list(path: Path) -> CodeList:
    """A code list from a CSV file with the columns ``code`` and ``name``. Raises ``UserError`` on any other file."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            if not {"code", "name"} <= set(reader.fieldnames or ()):
                raise UserError(f"{path}: the first line must name the columns 'code' and 'name'")
            rows = [((row["code"] or "").strip(), (row["name"] or "").strip()) for row in reader]
    except OSError as error:
        raise UserError(f"{path} cannot be read ({error.strerror}); give a CSV file with code,name") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise UserError(f"{path}: not a UTF-8 CSV file; save it as UTF-8 with the columns code,name") from error
    kept = [(code, name) for code, name in rows if code and name]
    if not kept:
        raise UserError(f"{path} holds no code with a name; write one code,name a line")
    return _code_list(kept, str(path))


@functools.cache
def icd10_cm() -> CodeList:
    """The shipped ICD-10-CM: titles and inclusion terms. Raises ``UserError`` when it is not installed."""
    return _code_list([(row.code, name) for row in code_table().values() for name in row.names], "ICD-10-CM")


def _code_list(rows: Iterable[tuple[str, str]], source: str) -> CodeList:
    codes: dict[str, str] = {}
    for code, name in rows:
        codes.setdefault(name, code)
    return CodeList(tuple(codes), codes, source)


class FuzzyLinker:
    """Candidate names of entities in one code list; every entity is looked up once, and kept on disk for later runs."""

    def __init__(
        self, code_list: CodeList, top_n: int = TOP_N, threshold: int = THRESHOLD, folder: Path | None = None
    ) -> None:
        self._list = code_list
        self._top_n = top_n
        self._threshold = threshold
        self._known: dict[str, frozenset[str]] = {}
        what = [code_list.names, top_n, threshold, rapidfuzz.__version__]
        self._store = VectorStore(folder, f"candidates {digest(what)}" if folder else "")

    @functools.cached_property
    def _scorer(self) -> WRatioScorer:
        return WRatioScorer(self._list.names)

    def prepare(self, names: Iterable[str]) -> None:
        """Look up many entities at once: quicker than one by one."""
        missing = sorted({n for n in names if n not in self._known})
        if not missing:
            return
        stored = self._store.load(missing)
        fresh = dict(self._search([n for n in missing if n not in stored]))
        self._store.save(fresh)
        for name, places in {**stored, **fresh}.items():
            self._known[name] = frozenset(self._list.names[int(i)] for i in places)

    def _search(self, names: Sequence[str]) -> Iterator[tuple[str, npt.NDArray[np.float32]]]:
        """Each name with the places of its candidates in the list, as floats: what the store keeps."""
        if not names:
            return
        for name, row in self._scorer.best_scores(names, self._top_n, self._threshold):
            best = np.argsort(-row, kind="stable")[: self._top_n]
            yield name, best[row[best] >= self._threshold].astype(np.float32)

    def candidates(self, name: str) -> frozenset[str]:
        """The names of the list that this entity may mean: the ten best at or above the threshold."""
        self.prepare([name])
        return self._known[name]


def link_fuzzy(pairs: Sequence[Pair], linker: FuzzyLinker) -> tuple[LinkScore, list[LinkCount]]:
    """The published link-based scores, and the counts of each case."""
    split = [(p.id, entities(p.reference), entities(p.prediction)) for p in pairs]
    linker.prepare(name for _, reference, predicted in split for name in (*reference, *predicted))

    def same(left: str, right: str) -> bool:
        return not linker.candidates(left).isdisjoint(linker.candidates(right))

    counts = [_count(case, reference, predicted, same) for case, reference, predicted in split]
    return micro(counts), counts


def link_icd(pairs: Sequence[Pair]) -> tuple[LinkScore, list[LinkCount]]:
    """Scores on ICD-10-CM codes by our linker, over the cases written in English."""
    split = [(p.id, entities(p.reference), entities(p.prediction), p.codes) for p in pairs]
    english = [row for row in split if not is_chinese((*row[1], *row[2]))]
    counts = [
        _count(case, reference, predicted, _same_by_code(reference, codes))
        for case, reference, predicted, codes in english
    ]
    left_out = len(split) - len(english)
    return micro(counts, left_out, "not in English" if left_out else None), counts


def _count(
    case: str, reference: Sequence[str], predicted: Sequence[str], same: Callable[[str, str], bool]
) -> LinkCount:
    open_places = list(range(len(reference)))
    matched = 0
    for name in predicted:
        hits = [place for place in open_places if same(name, reference[place])]
        if hits:
            open_places.remove(hits[-1])
            matched += 1
    return LinkCount(case, matched, len(predicted), len(reference))


def micro(counts: Sequence[LinkCount], left_out: int = 0, reason: str | None = None) -> LinkScore:
    """Pooled recall, precision and F1 of many cases; cases whose reference names no disease are left out."""
    used = [c for c in counts if c.reference]
    dropped = len(counts) - len(used)
    if dropped:
        reason = "; ".join(filter(None, (reason, "no disease in the reference")))
    matched, predicted = sum(c.matched for c in used), sum(c.predicted for c in used)
    reference = sum(c.reference for c in used)
    return LinkScore(
        recall=matched / reference if reference else None,
        precision=matched / predicted if predicted else None,
        f1=2 * matched / (reference + predicted) if reference else None,
        cases=len(used),
        unanswered=sum(not c.predicted for c in used),
        left_out=left_out + dropped,
        reason=reason,
    )


def _same_by_code(reference: Sequence[str], known: Sequence[str]) -> Callable[[str, str], bool]:
    def same(left: str, right: str) -> bool:
        given = known if reference and right == reference[0] else ()
        return any(_same_code(a, b) for a in icd_codes(left) for b in (*icd_codes(right), *given))

    return same


def _same_code(left: str, right: str) -> bool:
    return (
        is_below(left, right)
        or is_below(right, left)
        or is_unspecified_child(left, right)
        or is_unspecified_child(right, left)
    )


@functools.lru_cache(maxsize=20_000)
def icd_codes(name: str) -> tuple[str, ...]:
    """The ICD-10-CM codes of one disease: of its very name, else of the best guess if that is a good one."""
    found = exact_links(name) or [x for x in link(name, limit=1) if x.score >= ICD_SCORE]
    return tuple(dict.fromkeys(x.code for x in found))

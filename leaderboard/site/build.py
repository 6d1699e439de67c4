"""From a folder of entries to the folder of the site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from verisim_leaderboard.entries import SUBMITTED_ENTRY, Submission, submissions
from verisim_leaderboard.moments import Moment, telling_moments
from verisim_leaderboard.ranking import Board, boards
from verisim_leaderboard.reading import TranscriptReader
from verisim_leaderboard.scores import CLEAN, MIXED
from verisim_leaderboard.site.board_page import board_page
from verisim_leaderboard.site.columns import Place
from verisim_leaderboard.site.dialogues import CasePage, case_pages
from verisim_leaderboard.site.downloads import boards_csv, boards_json, scores_csv
from verisim_leaderboard.site.model_page import model_page
from verisim_leaderboard.site.render import shipped_files
from verisim_leaderboard.site.text_pages import data_page, method_page, submit_page
from verisim_leaderboard.site.words import file_names
from verisim_leaderboard.submission import slug
from verisim_tasks._files import replacing
from verisim_tasks.cases.bank import load_cases
from verisim_tasks.errors import UserError
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Transcript

Dialogues = Literal["all", "mixed", "none"]
"""Which consultations the site holds: all, clean and mixed ones, or none."""
MARKER = ".verisim-site"
"""A file that says that a folder is a site of ours and may be replaced."""
FIRST_PAGE = "index.html"


@dataclass(frozen=True)
class Built:
    """What was built."""

    folder: Path
    entries: int
    consultations: int
    size: int
    """Bytes of all files."""


@dataclass(frozen=True)
class _Shown:
    """An entry of the site: where it stands and where it lies."""

    place: Place
    source: Submission


@dataclass(frozen=True)
class _Page:
    """A board and the entries on it, in its order."""

    board: Board
    members: tuple[_Shown, ...]

    @property
    def places(self) -> list[Place]:
        """The entries as tables take them."""
        return [one.place for one in self.members]


def build_site(entries: Path, out: Path, *, dialogues: Dialogues = "all", cases: str = "bank") -> Built:
    """Build the site of all entries in a folder; an earlier site in ``out`` is replaced when the new one is whole.

    Args:
        entries: Where entries lie, one folder each.
        out: The folder of the site.
        dialogues: Which consultations the site holds.
        cases: Where the facts of the consultations come from.

    Raises:
        UserError: when there is no entry, an entry or its transcripts cannot be read, the transcripts are not those of
            the entry, or ``out`` holds something else.
    """
    target = out.absolute()
    _check_target(target)
    found = list(submissions(entries))
    try:
        with replacing(target) as made:
            built = _fill(made, found, dialogues, cases)
    except OSError as error:
        raise UserError(f"the site cannot be written to {out} ({error.strerror}); choose another --out") from error
    return Built(out, len(found), built, sum(p.stat().st_size for p in target.rglob("*") if p.is_file()))


def _check_target(out: Path) -> None:
    if not out.exists():
        return
    if not out.is_dir() or (any(out.iterdir()) and not (out / MARKER).is_file()):
        raise UserError(f"{out} holds something that is not a leaderboard site; choose another --out")


def _fill(folder: Path, found: Sequence[Submission], dialogues: Dialogues, source: str) -> int:
    """Write every file; returns the number of consultations."""
    pages = _pages(found)
    members = [one for shown in pages for one in shown.members]
    for path, content in shipped_files().items():
        _write(folder / path, content)
    _write_boards(folder, pages)
    texts = {"method.html": method_page(), "submit.html": submit_page(), "data.html": data_page()}
    for name, text in texts.items():
        _write(folder / name, text)
    needed = dialogues != "none" and any(one.source.transcripts for one in members)
    cases = {case.id: case for case in load_cases(source)} if needed else {}
    written = sum(_write_model(folder, one, dialogues, cases) for one in members)
    _write(folder / MARKER, "Made by 'verisim leaderboard build'; replaced whole by the next build.\n")
    return written


def _pages(found: Sequence[Submission]) -> list[_Page]:
    """Every board, with a folder name for each of its entries."""
    names = file_names(slug(one.entry) for one in found)
    lies = {id(one.entry): (name, one) for name, one in zip(names, found, strict=True)}
    pages = []
    for board in boards(one.entry for one in found):
        held = [(placing, *lies[id(placing.entry)]) for placing in board.placings]
        pages.append(_Page(board, tuple(_Shown(Place(placing, name), source) for placing, name, source in held)))
    return pages


def _write_boards(folder: Path, pages: Sequence[_Page]) -> None:
    prints = [shown.board.fingerprint[:12] for shown in pages]
    files = [FIRST_PAGE, *(f"board-{name}.html" for name in file_names(prints[1:]))]
    labels = [f"{head} ({len(shown.members)} entries)" for head, shown in zip(prints, pages, strict=True)]
    links = [{"file": file, "label": label} for file, label in zip(files, labels, strict=True)]
    for file, shown in zip(files, pages, strict=True):
        _write(folder / file, board_page(shown.board, shown.places, links, file))
    places = [shown.places for shown in pages]
    _write(folder / "data" / "leaderboard.json", boards_json(places))
    _write(folder / "data" / "leaderboard.csv", boards_csv(places))
    _write(folder / "data" / "scores.csv", scores_csv(place for members in places for place in members))


def _write_model(folder: Path, one: _Shown, dialogues: Dialogues, cases: Mapping[str, Case]) -> int:
    """The pages of one entry; returns the number of its consultations."""
    own = folder / "models" / one.place.folder
    transcripts = [] if dialogues == "none" else list(_transcripts(one.source, dialogues))
    pages = case_pages(one.place.entry, transcripts, cases)
    moments = list(_moments(transcripts, cases, pages))
    for made in pages:
        _write(own / made.file, made.html)
    _write(own / FIRST_PAGE, model_page(one.place, moments, [made.row for made in pages]))
    _write(own / SUBMITTED_ENTRY, one.source.path.read_bytes())
    return len(transcripts)


def _transcripts(source: Submission, dialogues: Dialogues) -> Iterator[Transcript]:
    if source.transcripts is None:
        return
    reader = TranscriptReader(source.transcripts)
    for _, transcript in reader:
        if dialogues == "all" or transcript.variant in (CLEAN, MIXED):
            yield transcript
    if reader.sha256 != source.entry.transcripts.sha256:
        raise UserError(
            f"{source.transcripts} are not the transcripts of {source.path}; see 'verisim leaderboard check'"
        )


def _moments(
    transcripts: Sequence[Transcript], cases: Mapping[str, Case], pages: Sequence[CasePage]
) -> Iterator[tuple[Moment, str]]:
    readable = {i: case for i, case in cases.items() if not case.provenance.restricted}
    files = {page.row["id"]: page.file for page in pages}
    for moment in telling_moments(transcripts, readable):
        yield moment, f"{files[moment.case_id]}#{moment.variant}"


def _write(path: Path, content: str | bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)

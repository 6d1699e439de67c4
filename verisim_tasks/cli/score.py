"""``verisim score``: score saved transcripts again, without the model under test."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verisim_tasks.errors import UserError

if TYPE_CHECKING:
    from verisim_metrics.judging import Judge


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "score",
        help="score how truthful the simulator stayed, from saved transcripts",
        description=(
            "Compute PatientSim's scores (Entail %%, contradiction, ICov, ICon, Plausibility) from transcripts, for "
            "each variant and over all; with --judge also VeriSim's four criteria. No model under test is needed."
        ),
    )
    parser.add_argument("transcripts", type=Path, metavar="TRANSCRIPTS", help="transcripts.jsonl, or its folder")
    parser.add_argument("--nli", default="builtin", metavar="NAME", help="'builtin' (default) or a Hugging Face model")
    parser.add_argument("--judge", metavar="JSON", help='{"model": "...", "model_args": {...}}; without it: no judge')
    parser.add_argument("--cases", default="bank", metavar="SOURCE", help="the cases of the run (default: the bank)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the scores as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Score, print a table, write JSON. Raises ``UserError`` for what cannot be read."""
    from verisim_metrics.nli import make_nli
    from verisim_metrics.patientsim.scores import KINDS, instruments, iter_scores, pool
    from verisim_metrics.verisim_judge import judge_transcripts, summarise
    from verisim_tasks._files import write_atomically
    from verisim_tasks.cases.bank import load_cases
    from verisim_tasks.loop.store import load_transcripts

    path = args.transcripts / "transcripts.jsonl" if args.transcripts.is_dir() else args.transcripts
    if not path.is_file():
        raise UserError(f"no transcripts at {path}; give the file, or the run_dir that holds it")
    transcripts = load_transcripts(path)
    if not transcripts:
        raise UserError(f"{path} holds no transcript; run the tasks again")
    cases = {case.id: case for case in load_cases(args.cases)}
    judge = _judge(args.judge)
    nli = make_nli(args.nli)
    tools = instruments(nli, _rating(judge, "plausibility"), _rating(judge, "icon"))
    records = list(iter_scores(transcripts, cases, tools))
    criteria = judge_transcripts(transcripts, cases, judge) if judge else []
    groups: dict[str, list[int]] = defaultdict(list)
    for place, transcript in enumerate(transcripts):
        groups[transcript.variant].append(place)
    found: dict[str, Any] = {}
    for variant, places in [*groups.items(), ("all", list(range(len(transcripts))))]:
        own = [records[i] for i in places]
        found[variant] = {kind: {n: _score(s) for n, s in pool(own, kind, tools).items()} for kind in KINDS}
        if criteria:
            judged = summarise([criteria[i] for i in places])
            found[variant]["judge"] = {n: {"value": c.value, "n": c.n, "of": c.of} for n, c in judged.items()}
    result = {"nli": nli.describe(), "judge": judge.describe() if judge else None, "scores": found}
    _show(found)
    if args.out:
        write_atomically(args.out, json.dumps(result, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
        print(f"scores written to {args.out}")
    return 0


def _judge(text: str | None) -> Judge | None:
    from verisim_tasks.loop.roles import make_judge
    from verisim_tasks.settings import read_settings

    if text is None:
        return None
    try:
        given = json.loads(text)
    except json.JSONDecodeError:
        raise UserError(f'--judge is not JSON: {text!r}; write \'{{"model": "hf", ...}}\'') from None
    return make_judge(read_settings({"verisim": {"judge": given}}))


def _rating(judge: Judge | None, what: str) -> Any:
    """The judge as a rater of pairs of texts, None without one."""
    from verisim_metrics.judging import Question

    if judge is None:
        return None
    rubric, first, second, rest = {
        "plausibility": ("plausibility", "profile", "sentence", {"conversation": "(not given)"}),
        "icon": ("icon_similarity", "original", "derived", {"item": "profile item"}),
    }[what]

    def rate(pairs: Any) -> list[float | None]:
        return [j.score for j in judge([Question(rubric, {first: a, second: b, **rest}) for a, b in pairs])]

    return rate


def _score(score: Any) -> dict[str, Any]:
    return {"value": score.value, "n": score.n, "of": score.of, "reason": score.reason}


def _show(found: dict[str, Any]) -> None:
    from rich.console import Console
    from rich.table import Table

    names = ("entail", "contradict", "icov", "icov_asked", "icon_embed", "icon", "plausibility")
    table = Table(title="How truthful the patient stayed (from the text alone; sentences that relate to an item)")
    table.add_column("variant")
    for name in ("sentences", *names):
        table.add_column(name, justify="right")
    for variant, scores in found.items():
        text = scores["text"]
        table.add_row(variant, f"{text['entail']['n']} of {text['entail']['of']}", *(_cell(text[n]) for n in names))
    Console(width=140).print(table)


def _cell(score: dict[str, Any]) -> str:
    return "-" if score["value"] is None else f"{score['value']:.3f}"

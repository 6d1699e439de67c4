"""``verisim score``: score saved transcripts again, without the model under test."""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from verisim_tasks.cli._role_options import judge_of
from verisim_tasks.errors import UserError

if TYPE_CHECKING:
    from verisim_metrics.judging import Judgement
    from verisim_metrics.patientsim.simulator import PatientScores, Simulator
    from verisim_tasks.records.transcript import Transcript


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Declare the subcommand."""
    parser = subparsers.add_parser(
        "score",
        help="score how truthful the simulator stayed, from saved transcripts",
        description=(
            "Compute PatientSim's scores (Entail %%, contradiction, ICov, ICon, Plausibility) from transcripts, for "
            "each variant and over all; with --judge also VeriSim's four criteria and persona fidelity. No model under "
            "test is needed."
        ),
    )
    parser.add_argument("transcripts", type=Path, metavar="TRANSCRIPTS", help="transcripts.jsonl, or its folder")
    parser.add_argument(
        "--nli", default="builtin", metavar="NAME", help="'builtin' (default), a Hugging Face model, or 'judge'"
    )
    parser.add_argument("--judge", metavar="JSON", help='{"model": "...", "model_args": {...}}; without it: no judge')
    parser.add_argument("--cases", default="bank", metavar="SOURCE", help="the cases of the run (default: the bank)")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the scores as JSON")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Score, print a table, write JSON. Raises ``UserError`` for what cannot be read."""
    from verisim_metrics.patientsim.simulator import Simulator
    from verisim_tasks._files import write_atomically
    from verisim_tasks.cases.bank import load_cases
    from verisim_tasks.loop.simulating import find_nli
    from verisim_tasks.loop.store import read_transcripts

    path = args.transcripts / "transcripts.jsonl" if args.transcripts.is_dir() else args.transcripts
    if not path.is_file():
        raise UserError(f"no transcripts at {path}; give the file, or the run_dir that holds it")
    cases = {case.id: case for case in load_cases(args.cases)}
    judge = judge_of(args.judge)
    simulator = Simulator(find_nli(args.nli, judge), judge)
    variants: list[str] = []
    every = [_light(s) for s in simulator.score(_noting(read_transcripts(path), variants), cases)]
    if not every:
        raise UserError(f"{path} holds no transcript; run the tasks again")
    groups: dict[str, list[PatientScores]] = defaultdict(list)
    for variant, scores in zip(variants, every, strict=True):
        groups[variant].append(scores)
    found = {name: _pooled(own, simulator) for name, own in [*groups.items(), ("all", every)]}
    families = simulator.describe()
    result = {
        "nli": (families["truth"] or {}).get("nli"),
        "judge": judge.describe() if judge else None,
        "scored_by": families,
        "judge_cost": [vars(cost) for cost in judge.spent] if judge else [],
        "scores": found,
    }
    _show(found)
    if args.out:
        write_atomically(args.out, json.dumps(result, ensure_ascii=False, indent=1, allow_nan=False) + "\n")
        print(f"scores written to {args.out}")
    return 0


def _noting(transcripts: Iterator[Transcript], variants: list[str]) -> Iterator[Transcript]:
    """The same transcripts; the variant of each is put into ``variants`` as it passes."""
    for transcript in transcripts:
        variants.append(transcript.variant)
        yield transcript


def _light(scores: PatientScores) -> PatientScores:
    """Without what the judge wrote, so that a long file needs little memory."""
    from verisim_metrics.judging import Judgement
    from verisim_metrics.patientsim.simulator import PatientScores

    def bare(judged: Mapping[str, Judgement]) -> dict[str, Judgement]:
        return {name: Judgement(score=j.score, reason=j.reason) for name, j in judged.items()}

    return PatientScores(scores.truth, bare(scores.criteria), bare(scores.persona))


def _pooled(scores: Sequence[PatientScores], simulator: Simulator) -> dict[str, Any]:
    from verisim_metrics.patientsim.fidelity import FIDELITY
    from verisim_metrics.patientsim.scores import KINDS, pool
    from verisim_metrics.verisim_judge import CRITERIA

    found: dict[str, Any] = {}
    if simulator.tools is not None:
        records = [s.truth for s in scores if s.truth is not None]
        kinds = (*KINDS, "judged") if simulator.judge else KINDS
        found = {k: {n: _score(s) for n, s in pool(records, k, simulator.tools).items()} for k in kinds}
    if simulator.judge is not None:
        found["judge"] = {name: _mean([s.criteria[name] for s in scores if s.criteria]) for name in CRITERIA}
        found["persona"] = {name: _mean([s.persona[name] for s in scores if s.persona]) for name in FIDELITY}
    return found


def _mean(judged: Sequence[Judgement]) -> dict[str, Any]:
    known = [j.score for j in judged if j.score is not None]
    return {"value": sum(known) / len(known) if known else None, "n": len(known), "of": len(judged)}


def _score(score: Any) -> dict[str, Any]:
    return {"value": score.value, "n": score.n, "of": score.of, "reason": score.reason}


def _show(found: Mapping[str, Any]) -> None:
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


def _cell(score: Mapping[str, Any]) -> str:
    return "-" if score["value"] is None else f"{score['value']:.3f}"

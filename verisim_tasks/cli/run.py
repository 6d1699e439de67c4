"""``verisim run``: ``lm_eval run`` with our tasks and the built-in clinician, checked before the model loads."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from verisim_tasks.errors import UserError

DESCRIPTION = """\
Run the suite: 'lm_eval run' with the suite's tasks (--include_path) and the model type verisim-clinician added.
Takes every flag of 'lm_eval run' (listed below). Settings, tasks, model type and output folder are checked before
the model is loaded. With --output_path, transcripts.jsonl is written beside lm-eval's results.

tasks:
  verisim_clean                    no noise
  verisim_<dimension>_l1 ... _l4   one noise dimension at one level
  verisim_mixed                    two dimensions per case (the paper's protocol)
groups: verisim_core (clean + mixed), verisim_<dimension>, verisim_noisy, verisim (all 26); tags: verisim_level_1 ... 4

stopping and going on:
  --resume RUN_DIR   go on with a stopped or incomplete run: nothing that was said is asked again. RUN_DIR is the folder
                     with turns.jsonl; the run's own arguments are kept there, further ones come behind them
  --shard 3/8        run the third of eight parts of the cases; 'verisim merge' puts the parts together
exit codes: 0, 2 for a mistake in the arguments, 3 when consultations, reports or judged scores were lost to faults (the
last lines say what is missing and how to complete it), 130 after Ctrl-C

settings, as --metadata '{"verisim": {"max_turns": 10}}':
  patient scripted | cases bank or a file or folder | max_turns 20 | seed 1234 | repeats 1 |
  max_reply_tokens 256 | run_dir where transcripts.jsonl goes | cache true or a folder: what judge, NLI and other models
  beside the doctor answer is kept between runs (verisim cache)

examples:
  verisim run --model verisim-clinician --tasks verisim_core --output_path results
  verisim run --model hf --model_args pretrained=Qwen/Qwen2.5-7B-Instruct --apply_chat_template \\
      --tasks verisim_noisy --batch_size 16 --output_path results --log_samples
"""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the subcommand. Everything behind ``run`` is lm-eval's to read."""
    parser = subparsers.add_parser(
        "run",
        help="run the suite through lm_eval",
        add_help=False,
        prefix_chars="\0",  # no option is ours: flags pass through untouched
    )
    parser.add_argument("lm_eval_args", nargs="*")
    parser.set_defaults(run=run)


def _own_options() -> argparse.ArgumentParser:
    """The options that lm-eval does not have."""
    parser = argparse.ArgumentParser(prog="verisim run", add_help=False, allow_abbrev=False)
    parser.add_argument("--resume", type=Path, metavar="RUN_DIR")
    parser.add_argument("--shard", metavar="I/N")
    return parser


def run(args: argparse.Namespace) -> int:
    """Check, then hand over to lm-eval."""
    ours, given = _own_options().parse_known_args(args.lm_eval_args)
    wants_help = (not given and ours.resume is None) or any(a in ("-h", "--help") for a in given)
    if wants_help:
        print(DESCRIPTION)
        sys.stdout.flush()
    os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
    from verisim_tasks.cli._command import command_to_resume
    from verisim_tasks.tasks.launch import launch, lm_eval_parser

    if wants_help:
        lm_eval_parser().parse_args(["run", "--help"])
    folder = ours.resume.absolute() if ours.resume else None
    if folder is not None:
        ours, given = _own_options().parse_known_args(command_to_resume(folder, given))
    try:
        return launch(given, resume=folder, shard=ours.shard)
    except SystemExit as stop:
        if isinstance(stop, UserError):
            return 2  # already said
        raise

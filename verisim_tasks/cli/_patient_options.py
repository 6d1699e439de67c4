"""Options that `ask` and `chat` share."""

from __future__ import annotations

import argparse

from verisim_tasks.errors import UserError
from verisim_tasks.records.noise import DIMENSIONS, NoiseProfile


def add_patient_options(parser: argparse.ArgumentParser) -> None:
    """CASE, --noise, --seed, --repeat."""
    parser.add_argument("case", metavar="CASE", help="a case id of the bank, or a case file")
    parser.add_argument(
        "--noise",
        action="append",
        default=[],
        metavar="DIMENSION=LEVEL",
        help=f"noise at level 0-4 (0: none), may be given several times; dimensions: {', '.join(DIMENSIONS)}",
    )
    parser.add_argument("--seed", type=int, default=1234, help="seed of the noise draws (default: %(default)s)")
    parser.add_argument("--repeat", type=int, default=0, help="repeat index of the noise draws (default: %(default)s)")


def noise_of(args: argparse.Namespace) -> NoiseProfile:
    """The noise profile of the parsed options. Raises ``UserError`` for a bad one."""
    if args.repeat < 0:
        raise UserError(f"--repeat is {args.repeat}; it counts from 0")
    return NoiseProfile.parse(args.noise)

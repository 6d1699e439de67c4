"""One process of a run with the built-in clinician over gloo: ``rank world_size port run_dir cases dies_at out``."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import torch
import torch.distributed as dist
from lm_eval import simple_evaluate
from lm_eval.tasks import TaskManager

from verisim_tasks.cli.path import config_folder
from verisim_tasks.clinician.model import ClinicianLM


class RankedClinician(ClinicianLM):
    """The clinician as one of several processes; exits as if killed at its ``dies_at``-th call."""

    def __init__(self, rank: int, world_size: int, dies_at: int) -> None:
        super().__init__()
        self._rank, self._world_size = rank, world_size
        self._device = torch.device("cpu")
        self.dies_at = dies_at
        self.calls = 0

    @property
    def device(self) -> torch.device:
        return self._device

    def generate_until(self, requests: Any, disable_tqdm: bool = False) -> list[str]:
        if self.calls == self.dies_at:
            os._exit(9)
        self.calls += 1
        return super().generate_until(requests, disable_tqdm)

    def all_gather(self, tensor: torch.Tensor) -> torch.Tensor:
        gathered = [torch.zeros_like(tensor) for _ in range(self.world_size)]
        dist.all_gather(gathered, tensor)
        return torch.stack(gathered)

    def gather_object(self, obj: Any, dst: int = 0) -> list[Any] | None:
        found: list[Any] | None = [None] * self.world_size if self.rank == dst else None
        dist.gather_object(obj, found, dst=dst)
        return found

    def barrier(self) -> None:
        dist.barrier()


def evaluate(rank: int, world_size: int, run_dir: str, cases: str, dies_at: int, out: str) -> None:
    """Run, and let the first process write the scores; NLI has no part in how cases are dealt out, and is slow."""
    settings = {"verisim": {"run_dir": run_dir, "cases": cases, "max_turns": 6, "nli": None}}
    found = simple_evaluate(
        model=RankedClinician(rank, world_size, dies_at),
        tasks=["verisim_core", "verisim_memory_recall_l4"],
        task_manager=TaskManager(include_path=str(config_folder()), include_defaults=False, metadata=settings),
        bootstrap_iters=0,
    )
    if found is not None:
        with open(out, "w", encoding="utf-8") as file:
            json.dump([found["results"], found.get("groups")], file, sort_keys=True, default=str)


def main() -> None:
    """Join the other processes, if there are any, and run."""
    rank, world_size, port, run_dir, cases, dies_at, out = sys.argv[1:]
    if int(world_size) > 1:
        os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=port, RANK=rank, LOCAL_RANK=rank, WORLD_SIZE=world_size)
        dist.init_process_group("gloo", rank=int(rank), world_size=int(world_size))
    evaluate(int(rank), int(world_size), run_dir, cases, int(dies_at), out)
    if int(world_size) > 1:
        dist.barrier()
        os._exit(0)  # the first process holds the store: one that is slower would find it gone while tidying up


if __name__ == "__main__":
    main()

"""Shared by all tests: no model hub, one thread for each process, and what is slow is done once and begun first."""

from __future__ import annotations

import functools
import gc
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("HF_DATASETS_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
# Workers of pytest-xdist share the processors: threads of each would wait for one another. Before torch is imported.
os.environ.setdefault("OMP_NUM_THREADS", "1")

gc.set_threshold(100_000)  # a worker holds millions of objects that stay: looking through them often is slow

SLOWEST_FIRST = (
    *("test_patient_truth.py", "test_shards.py", "test_resume_soak.py", "test_cli_run.py", "test_verify.py"),
    *("test_patient_noise.py", "test_tasks_determinism.py", "test_faults_cli.py", "test_tasks_consultation.py"),
    *("test_resume.py", "test_leaderboard_submission.py", "test_understanding.py", "test_examiner.py", "test_nli.py"),
    *("test_site_speed.py", "test_mvme_external.py", "test_cli_commands.py", "test_importers_external.py"),
    *("test_site_hostile.py", "test_site_browser.py", "test_tasks_variants.py"),
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """With several workers the longest files come first, so that none of them is begun when the others are done."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = {name: i for i, name in enumerate(SLOWEST_FIRST)}
        items.sort(key=lambda item: place.get(item.path.name, len(place)))


@pytest.fixture(scope="session", autouse=True)
def _lm_evals_own_tasks_are_read_once() -> Iterator[None]:
    """Every start of lm-eval reads its 13,000 task files, 6 s long; here once for all tests of a process."""
    from lm_eval import tasks
    from lm_eval.tasks._index import TaskIndex

    build = TaskIndex.build
    own = Path(tasks.__file__).parent

    @functools.cache
    def of_lm_eval() -> dict[str, Any]:
        return build([own])

    def build_once(paths: Iterable[Path], **options: Any) -> dict[str, Any]:
        folders = list(paths)
        if folders[:1] != [own] or options:
            return build(folders, **options)
        return {**of_lm_eval(), **build(folders[1:])}

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TaskIndex, "build", staticmethod(build_once))
        yield


@pytest.fixture(scope="module", autouse=True)
def _what_earlier_files_left_is_not_collected_again() -> None:
    """Some libraries collect garbage at every call (statsmodels does): of this file's objects, not of all before it."""
    gc.freeze()

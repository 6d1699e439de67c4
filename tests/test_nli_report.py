"""The report on an NLI: confusion, calibration, picture."""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from verisim_tasks.errors import UserError

SCRIPT = Path(__file__).parent.parent / "scripts" / "nli_report.py"


@pytest.fixture(scope="module")
def report() -> ModuleType:
    pytest.importorskip("matplotlib")
    spec = importlib.util.spec_from_file_location("nli_report", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["nli_report"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_rows_are_true_labels_and_columns_what_was_said(report: ModuleType) -> None:
    table = report.confusion(["entailment", "entailment", "contradiction"], ["entailment", "neutral", "contradiction"])
    assert table.tolist() == [[1, 1, 0], [0, 0, 0], [0, 0, 1]]


def test_bins_hold_means_and_the_error_is_weighted(report: ModuleType) -> None:
    bins = report.bins_of(np.array([0.95, 1.0, 0.55, 0.52]), np.array([True, True, True, False]))
    assert [b.n for b in bins] == [2, 2]
    assert [b.share for b in bins] == [0.5, 1.0]
    assert report.calibration_error(bins) == pytest.approx((2 * 0.035 + 2 * 0.025) / 4)


def test_the_picture_is_drawn(report: ModuleType, tmp_path: Path) -> None:
    bins = report.bins_of(np.array([0.95, 0.55]), np.array([True, False]))
    report.draw(bins, dict.fromkeys(report.LABELS, bins), "two pairs", tmp_path / "r.png")
    assert (tmp_path / "r.png").read_bytes().startswith(b"\x89PNG")


def test_a_bad_line_is_named(report: ModuleType, tmp_path: Path) -> None:
    path = tmp_path / "pairs.jsonl"
    good = {"premise": "a", "hypothesis": "b", "label": "neutral"}
    path.write_text(json.dumps(good) + "\n" + json.dumps({**good, "label": "maybe"}))
    with pytest.raises(UserError, match="line 2"):
        report.read_pairs(str(path))

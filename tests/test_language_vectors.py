"""Sentence vectors on disk: what is stored is what was computed, and a store that fails only costs time."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from verisim_tasks.language.embedding import SentenceEncoder
from verisim_tasks.language.vector_store import VectorStore

TEXTS = ["a sore knee", "itchy skin"]


def test_a_warm_store_gives_what_was_computed(tmp_path: Path) -> None:
    cold = SentenceEncoder(VectorStore(tmp_path, "model")).encode(TEXTS)
    stored = VectorStore(tmp_path, "model").load([*TEXTS, "never seen"])
    assert sorted(stored) == sorted(TEXTS)
    assert np.array_equal(np.stack([stored[t] for t in TEXTS]), cold)
    assert np.array_equal(SentenceEncoder(VectorStore(tmp_path, "model")).encode(TEXTS), cold)


def test_another_model_has_a_store_of_its_own(tmp_path: Path) -> None:
    VectorStore(tmp_path, "one").save({"a": np.ones(3, dtype=np.float32)})
    assert VectorStore(tmp_path, "two").load(["a"]) == {}


def test_the_first_vector_of_a_text_stays(tmp_path: Path) -> None:
    store = VectorStore(tmp_path, "model")
    store.save({"a": np.ones(3, dtype=np.float32)})
    store.save({"a": np.zeros(3, dtype=np.float32)})
    assert store.load(["a"])["a"].tolist() == [1, 1, 1]


def test_a_broken_or_blocked_store_costs_only_time(tmp_path: Path) -> None:
    store = VectorStore(tmp_path, "model")
    store.save({"a": np.ones(3, dtype=np.float32)})
    (file,) = tmp_path.iterdir()
    file.write_bytes(b"broken" * 1000)
    assert store.load(["a"]) == {}
    store.save({"b": np.ones(3, dtype=np.float32)})
    (tmp_path / "blocked").write_text("a file, no folder")
    blocked = VectorStore(tmp_path / "blocked", "model")
    blocked.save({"a": np.ones(3, dtype=np.float32)})
    assert blocked.load(["a"]) == {}

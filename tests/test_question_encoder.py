"""The tuned encoder of questions: its weights fit MiniLM or are refused, and its training can be repeated."""

from __future__ import annotations

import importlib.util
import io
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from verisim_tasks.cases.bank import find_case
from verisim_tasks.errors import UserError
from verisim_tasks.language.embedding import default_encoder
from verisim_tasks.language.packed_weights import pack
from verisim_tasks.language.question_encoder import BASE, QuestionEncoder, question_encoder, shipped_weights

SCRIPT = Path(__file__).parent.parent / "scripts" / "fit_question_encoder.py"


@pytest.fixture
def fitting(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    spec = importlib.util.spec_from_file_location("fit_question_encoder", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, spec.name, module)
    spec.loader.exec_module(module)
    return module


def test_a_question_lies_nearer_to_its_answer_than_for_plain_minilm() -> None:
    texts = ["Any trouble keeping your balance?", "I feel unsteady when I walk.", "I live with my wife."]
    tuned, plain = (encoder.encode(texts) for encoder in (question_encoder(), default_encoder()))
    assert np.allclose(np.linalg.norm(tuned, axis=1), 1.0, atol=1e-5)
    gain = (tuned[0] @ tuned[1] - tuned[0] @ tuned[2]) - (plain[0] @ plain[1] - plain[0] @ plain[2])
    assert gain > 0


def _changed(name: str, shape: tuple[int, ...] | None) -> bytes:
    """The shipped weights with one array left out, or of another shape."""
    with np.load(io.BytesIO(shipped_weights()), allow_pickle=False) as data:
        arrays = {key: data[key] for key in data.files if key != name or shape is not None}
    if shape is not None:
        arrays[name] = np.zeros(shape, dtype=np.float32)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    return buffer.getvalue()


@pytest.mark.parametrize("shape", [None, (3,)])
def test_weights_that_do_not_fit_are_refused(shape: tuple[int, ...] | None) -> None:
    encoder = QuestionEncoder(_changed("encoder.layer.0.attention.self.query.bias", shape))
    with pytest.raises(UserError, match=r"question encoder.*query\.bias.*fit_question_encoder"):
        encoder.encode([f"a text that no store holds {shape}"])


@pytest.mark.slow
def test_training_is_repeatable(fitting: ModuleType) -> None:
    cases = [find_case("derm-001"), find_case("card-001")]
    bodies = [fitting.tune(cases, {}, 1, seed=3, report=lambda _: None) for _ in range(2)]
    first, second = (pack({n: t.detach().numpy() for n, t in b.state_dict().items()}, BASE) for b in bodies)
    assert all(np.array_equal(first[name], second[name]) for name in first)
    other = fitting.tune(cases, {}, 1, seed=4, report=lambda _: None)
    third = pack({n: t.detach().numpy() for n, t in other.state_dict().items()}, BASE)
    assert not all(np.array_equal(first[name], third[name]) for name in first)

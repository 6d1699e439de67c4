"""Damaged input: a clear error with file and line, or a counted warning; never a traceback, never a silent skip."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from importer_samples import AGENTCLINIC, PATIENTSIM, SAMPLES

from verisim_tasks.cases.importers import import_file
from verisim_tasks.cases.importers.source import MAX_LINE, BadRecordError
from verisim_tasks.cli.main import main
from verisim_tasks.errors import UserError, did_you_mean

LINE = json.dumps(AGENTCLINIC).encode()
JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
FUZZ = settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def put(tmp_path: Path, content: bytes, name: str = "in.jsonl") -> Path:
    path = tmp_path / name
    path.write_bytes(content)
    return path


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("truncated line", LINE + b"\n" + LINE[:200] + b"\n", "line 2: is not valid JSON"),
        ("wrong type", b'{"OSCE_Examination": []}\n', "line 1: OSCE_Examination is a list; an object is needed"),
        ("missing key", b'{"OSCE_Examination": {}}\n', "line 1: OSCE_Examination.Patient_Actor is missing"),
        ("not an object", b"[1]\n", "line 1: is a list"),
        ("latin-1", LINE + b"\n" + '{"a": "é"}\n'.encode("latin-1"), "line 2: is not UTF-8 text"),
        ("utf-16 cut", b"\xff\xfe" + "{}".encode("utf-16-le") + b"\x00", "is not UTF-16 text"),
        ("5 MB line", LINE + b"\n" + b'{"a": "' + b"x" * 5_000_000 + b'"}\n', "line 2: has 5.0 MB"),
        (
            "long text",
            json.dumps({"OSCE_Examination": {"Patient_Actor": {"Demographics": "x" * 30_000}}}).encode(),
            "30000 characters",
        ),
        ("nan", b'{"OSCE_Examination": NaN}\n', "line 1: is not valid JSON"),
        ("deep", b'{"a": ' + b"[" * 50_000 + b"]" * 50_000 + b"}\n", "line 1:"),
        ("half a pair", b'{"a": "\\ud800"}\n', "lone surrogate"),
        ("empty", b" \n", "is empty"),
    ],
)
def test_each_kind_of_damage_is_named(name: str, content: bytes, message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"in\.jsonl") as caught:
        import_file("agentclinic", put(tmp_path, content))
    assert message in str(caught.value)


def test_a_list_file_names_the_line_of_its_fault(tmp_path: Path) -> None:
    text = json.dumps([PATIENTSIM], indent=1)
    with pytest.raises(UserError, match=r"p\.json, line 5: is not valid JSON"):
        import_file("patientsim", put(tmp_path, "\n".join([*text.split("\n")[:4], "oops"]).encode(), "p.json"))


def test_double_ids_are_bad(tmp_path: Path) -> None:
    path = put(tmp_path, json.dumps([PATIENTSIM, PATIENTSIM]).encode(), "p.json")
    with pytest.raises(UserError, match=r"record 2: has the id of .*record 1"):
        import_file("patientsim", path)


def test_utf_16_and_a_byte_order_mark_are_read(tmp_path: Path) -> None:
    for encoding in ("utf-16", "utf-8-sig"):
        path = put(tmp_path, json.dumps(AGENTCLINIC).encode(encoding))
        assert len(import_file("agentclinic", path).imported) == 1


def test_skip_bad_counts_and_warns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = put(tmp_path, LINE + b"\n{bad\n" + LINE[:50] + b"\n")
    arguments = ["cases", "import", "--from", "agentclinic", str(path), "--out", str(tmp_path / "out")]
    assert main(arguments) == 2
    assert "line 2" in capsys.readouterr().err
    assert main([*arguments, "--skip-bad"]) == 0
    printed = capsys.readouterr()
    assert "1 cases imported, 2 records skipped" in printed.out
    assert [line.count("warning:") for line in printed.err.splitlines() if "line" in line] == [1, 1]


def test_only_bad_records_are_an_error_even_when_skipped(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no case that can be imported \\(2 bad records"):
        import_file("agentclinic", put(tmp_path, b"{\n{\n"), skip_bad=True)


def _paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    here = [path] if path else []
    if isinstance(value, dict):
        return here + [p for k in value for p in _paths(value[k], (*path, k))]
    if isinstance(value, list):
        return here + [p for i, v in enumerate(value) for p in _paths(v, (*path, i))]
    return here


def _changed(record: dict[str, Any], path: tuple[Any, ...], value: Any, remove: bool) -> dict[str, Any]:
    copied: Any = copy.deepcopy(record)
    target = copied
    for part in path[:-1]:
        target = target[part]
    if remove:
        del target[path[-1]]
    else:
        target[path[-1]] = value
    result: dict[str, Any] = copied
    return result


def _fuzzed(name: str, record: dict[str, Any], data: st.DataObject, tmp_path: Path) -> None:
    """One value changed or removed: a valid case comes out, or an error that names the record."""
    path = data.draw(st.sampled_from(_paths(record)))
    changed = _changed(record, path, data.draw(JSON_VALUES), data.draw(st.booleans()))
    file = put(tmp_path, json.dumps(changed).encode())
    outcome, problem = None, None
    try:
        outcome = import_file(name, file)
    except UserError as error:
        problem = error
    if outcome is not None:
        account = outcome.imported[0].account
        assert all(t.fate != "dropped" or t.reason for t in account.traces)
    else:
        assert isinstance(problem, BadRecordError)
        assert str(problem).startswith(f"{file}, line 1: ")
        assert "\n" not in str(problem)


@FUZZ
@given(data=st.data())
def test_fuzz_agentclinic(data: st.DataObject, tmp_path: Path) -> None:
    _fuzzed("agentclinic", AGENTCLINIC, data, tmp_path)


@FUZZ
@given(data=st.data())
def test_fuzz_patientsim(data: st.DataObject, tmp_path: Path) -> None:
    _fuzzed("patientsim", PATIENTSIM, data, tmp_path)


@pytest.mark.parametrize("name", sorted(set(SAMPLES) - {"agentclinic", "patientsim"}))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_fuzz_the_others(name: str, data: st.DataObject, tmp_path: Path) -> None:
    if name == "fhir":
        pytest.importorskip("fhir.resources", reason="the extra 'fhir' is not installed")
    _fuzzed(name, SAMPLES[name][0], data, tmp_path)


@FUZZ
@given(data=st.data())
def test_fuzz_bytes(data: st.DataObject, tmp_path: Path) -> None:
    """Bytes cut out, doubled or overwritten anywhere in a file of three records."""
    content = bytearray(b"\n".join([LINE, LINE, LINE]) + b"\n")
    start = data.draw(st.integers(0, len(content) - 1))
    length = data.draw(st.integers(0, 400))
    content[start : start + length] = data.draw(st.binary(max_size=40))
    file = put(tmp_path, bytes(content))
    lines = sum(bool(line.strip()) for line in bytes(content).split(b"\n"))
    outcome, problem = None, ""
    try:
        outcome = import_file("agentclinic", file, skip_bad=True)
    except UserError as error:
        problem = str(error)
    if outcome is not None:
        assert len(outcome.imported) + len(outcome.bad) == lines
    else:
        assert str(file) in problem


def test_five_megabytes_on_one_line_do_not_hide_the_others(tmp_path: Path) -> None:
    content = b'{"x": "' + b"y" * (MAX_LINE + 1) + b'"}\n' + LINE + b"\n"
    outcome = import_file("agentclinic", put(tmp_path, content), skip_bad=True)
    assert (len(outcome.imported), len(outcome.bad)) == (1, 1)


def test_a_known_name_that_is_a_line_break_keeps_the_error_on_one_line() -> None:
    assert did_you_mean("OSCE", ["\n", "case"]) == "; known: '\\n', case"

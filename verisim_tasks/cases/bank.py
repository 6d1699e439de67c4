"""Finding cases: the bank that ships with the suite, a file, or a folder of case files."""

from __future__ import annotations

import functools
import warnings
from collections import defaultdict
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path

import yaml
from pydantic import ValidationError

from verisim_tasks._yaml import parse_yaml
from verisim_tasks.cases.importers.sources import import_source, is_import_source
from verisim_tasks.errors import UserError, did_you_mean
from verisim_tasks.records.case import Case, Fact


def load_cases(source: str = "bank") -> list[Case]:
    """All cases of a source, in stratified order.

    A source is ``bank``, a case file, a folder of case files, ``FORMAT:PATH`` (a file in another format, as in
    ``agentclinic:/path/file.jsonl`` or ``patientsim:/path/file.json?split=persona_eval``) or ``[FORMAT+]hf://DATASET/SPLIT``.

    Raises ``UserError`` when the source does not exist, holds no case, or a case is malformed.
    """
    if source == "bank":
        return list(_bank())
    if is_import_source(source):
        return stratified(_imported(source))
    path = Path(source).expanduser()
    if path.is_dir():
        found = [read_case(f) for f in sorted(path.glob("*.yaml"))]
    elif path.is_file():
        found = [read_case(path)]
    else:
        raise UserError(f"cases {source!r} not found; give 'bank', a case file, a folder of case files, or FORMAT:PATH")
    if not found:
        raise UserError(f"folder {source} holds no case file (*.yaml)")
    doubled = sorted({c.id for c in found if sum(o.id == c.id for o in found) > 1})
    if doubled:
        raise UserError(f"{source}: case id {doubled[0]} is used twice; ids must be unique")
    return stratified(found)


def find_case(name: str) -> Case:
    """A case by id of the bank, or by the path of a case file."""
    path = Path(name).expanduser()
    if path.suffix in (".yaml", ".yml") or path.is_file():
        return read_case(path)
    by_id = {c.id: c for c in _bank()}
    if name not in by_id:
        raise UserError(f"no case {name!r} in the bank{did_you_mean(name, sorted(by_id))}, or give a case file")
    return by_id[name]


def read_case(path: Path) -> Case:
    """One case file. Raises ``UserError`` naming the file, the field and the reason."""
    try:
        data = parse_yaml(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UserError(f"{path}: cannot be read ({error.strerror}); check the path") from error
    except UnicodeDecodeError as error:
        raise UserError(f"{path}: is not UTF-8 text; save it as UTF-8") from error
    except yaml.YAMLError as error:
        raise UserError(f"{path}{_line_of(error)}: is not valid YAML ({_first_line(error)}); mend that line") from error
    if not isinstance(data, dict):
        raise UserError(f"{path}: holds no case; a case file is a YAML mapping (see CASE_FORMAT.md)")
    try:
        return with_implied_facts(Case.model_validate(data))
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"]) or "case"
        raise UserError(f"{path}: {field}: {first['msg']}") from error


def with_implied_facts(case: Case) -> Case:
    """The case with facts for age, sex and occupation where its own facts leave them out."""
    have = {f.category for f in case.facts}
    who = case.demographics
    about = case.informant.role == "caregiver"
    subject = ("She" if who.sex == "female" else "He") if about else "I"
    verb = "is" if about else "am"
    age = f"{who.age:g}"
    made: list[Fact] = []
    if "age" not in have:
        lay = f"{subject}'s {age} years old." if about else f"I'm {age}."
        made.append(_implied("age", "age", f"{age} years old", lay))
    if "gender" not in have:
        noun = {"female": ("girl", "woman"), "male": ("boy", "man")}[who.sex][who.age >= 18]
        made.append(_implied("gender", "sex", who.sex, f"{subject} {verb} a {noun}."))
    if "occupation" not in have and who.occupation and not about:
        works = "I'm" if "retired" in who.occupation else "I work as"
        lay = f"{works} {_article(who.occupation)}." if who.age >= 16 else f"My days are: {who.occupation}."
        made.append(_implied("occupation", "occupation", who.occupation, lay))
    return case.model_copy(update={"facts": (*case.facts, *made)}) if made else case


def stratified(cases: Iterable[Case]) -> list[Case]:
    """Round-robin over specialties, ids in order within each, so that any prefix is a fair sample."""
    groups: dict[str, list[Case]] = defaultdict(list)
    for case in sorted(cases, key=lambda c: c.id):
        groups[case.specialty].append(case)
    order = sorted(groups)
    longest = max((len(g) for g in groups.values()), default=0)
    return [groups[name][i] for i in range(longest) for name in order if i < len(groups[name])]


def _imported(source: str) -> list[Case]:
    outcome = import_source(source)
    if outcome.bad:
        warnings.warn(f"{source}: {len(outcome.bad)} bad records skipped; the first: {outcome.bad[0]}", stacklevel=3)
    return [i.case for i in outcome.imported]


@functools.cache
def _bank() -> tuple[Case, ...]:
    folder = files("verisim_fixtures") / "cases"
    paths = sorted(Path(str(f)) for f in folder.iterdir() if f.name.endswith(".yaml"))
    return tuple(stratified(read_case(p) for p in paths))


def _implied(item: str, concept: str, statement: str, lay: str) -> Fact:
    return Fact.model_validate(
        {"id": f"implied-{item}", "category": item, "concept": concept, "statement": statement, "lay": lay}
    )


def _article(noun: str) -> str:
    first = noun.split()[0].lower()
    if first in ("a", "an", "the") or noun.split("(")[0].strip().endswith("s"):
        return noun
    return f"{'an' if first[0] in 'aeiou' else 'a'} {noun}"


def _line_of(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f", line {mark.line + 1}" if mark is not None else ""


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]

"""The doctors of a collaboration and their Central Agent, from the settings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from verisim_tasks._stable import digest
from verisim_tasks._templates import source
from verisim_tasks._yaml import parse_yaml
from verisim_tasks.clinician.model import ClinicianLM
from verisim_tasks.clinician.policy import POLICIES
from verisim_tasks.loop.collaboration import Colleague
from verisim_tasks.loop.engine import DoctorGenerate
from verisim_tasks.loop.keeping import NOWHERE, Keeping
from verisim_tasks.loop.model import ModelSpeaker
from verisim_tasks.loop.prompts import PACKAGE
from verisim_tasks.loop.role_model import ModelSpec, create_model
from verisim_tasks.loop.role_speaker import role_speaker
from verisim_tasks.records.transcript import Role
from verisim_tasks.settings import RoleModel

WHO: Final = "colleague"

Writer = Callable[[ModelSpeaker, Any], DoctorGenerate]
"""From a speaker and its model to the same with room for a report."""


@dataclass(frozen=True)
class Speaking:
    """A model that speaks, and how it is named."""

    lm: Any
    speaker: ModelSpeaker
    role: Role


@dataclass(frozen=True)
class UnderTest(Speaking):
    """The model under test, and how its messages are asked for."""

    chat: bool
    gen_kwargs: dict[str, Any]
    max_reply_tokens: int
    preface: str | None = None
    keeping: Keeping = NOWHERE
    """Where the words of colleagues that are other models are kept."""

    def beside(self, lm: Any, role: Role, args: Mapping[str, Any] | None = None) -> Speaking:
        """Another model, asked in the same way."""
        chat = self.chat or isinstance(lm, ClinicianLM)
        options = {"chat": chat, "gen_kwargs": self.gen_kwargs, "max_reply_tokens": self.max_reply_tokens}
        name = f"{WHO} {digest([role.model, role.settings])[:12]}"
        return Speaking(lm, role_speaker(lm, WHO, self.keeping, args=args, name=name, **options), role)


@functools.cache
def role_prefaces() -> tuple[tuple[str, str], ...]:
    """Names and system words of the roles that one model plays."""
    rows = parse_yaml(source(PACKAGE, "roles.yaml"))
    return tuple((row["name"], row["preface"]) for row in rows)


def make_doctors(doctors: int | list[Any], under_test: UnderTest, write: Writer) -> list[Colleague]:
    """Two or three doctors.

    A number: the model under test in as many roles, or, for the built-in clinician, with as many ways of asking. A
    list: one model each, ``"same"`` for the one under test. Raises ``UserError`` for a model that cannot be had.
    """
    if isinstance(doctors, int):
        clinician = isinstance(under_test.lm, ClinicianLM)
        return _policies(doctors, under_test, write) if clinician else _roles(doctors, under_test, write)
    loaded: dict[str, Speaking] = {}
    return [_own_model(place, given, under_test, write, loaded) for place, given in enumerate(doctors)]


def make_central(central: str | RoleModel, under_test: UnderTest, write: Writer) -> tuple[DoctorGenerate, Role]:
    """The Central Agent: it only writes, so it always has room for a report."""
    chosen = _speaking(central, under_test, {})
    return write(chosen.speaker, chosen.lm), chosen.role


def _roles(count: int, under_test: UnderTest, write: Writer) -> list[Colleague]:
    return [
        Colleague(
            name=name,
            speak=under_test.speaker,
            write=write(under_test.speaker, under_test.lm),
            role=under_test.role,
            preface=_after(under_test.preface, preface),
        )
        for name, preface in role_prefaces()[:count]
    ]


def _policies(count: int, under_test: UnderTest, write: Writer) -> list[Colleague]:
    found = []
    for place, policy in enumerate(list(POLICIES)[:count]):
        lm = ClinicianLM(policy=policy, clinician=under_test.lm.clinician)
        speaking = under_test.beside(lm, Role(model=lm.model, settings=lm.get_model_info()))
        found.append(_colleague(place, speaking, under_test.preface, write))
    return found


def _own_model(
    place: int, given: str | RoleModel, under_test: UnderTest, write: Writer, loaded: dict[str, Speaking]
) -> Colleague:
    """One doctor with a model of its own; two doctors of one model play different roles."""
    speaking = _speaking(given, under_test, loaded)
    return _colleague(place, speaking, _after(under_test.preface, role_prefaces()[place][1]), write)


def _speaking(given: str | RoleModel, under_test: UnderTest, loaded: dict[str, Speaking]) -> Speaking:
    if not isinstance(given, RoleModel):
        role = under_test.role.model_copy(update={"same_as_doctor": True})
        if isinstance(under_test.lm, ClinicianLM):
            return under_test.beside(under_test.lm, role)  # reads message lists better than a script
        return Speaking(under_test.lm, under_test.speaker, role)
    spec = ModelSpec.read(given.model_dump(include={"model", "model_args"}), WHO)
    key = digest(spec.identity)
    if key not in loaded:
        name = ":".join(filter(None, (spec.identity["model"], spec.identity["weights"])))
        role = Role(model=name, settings={"model": spec.identity})
        loaded[key] = under_test.beside(create_model(spec, WHO), role, spec.args)
    return loaded[key]


def _colleague(place: int, speaking: Speaking, preface: str | None, write: Writer) -> Colleague:
    return Colleague(
        name=role_prefaces()[place][0],
        speak=speaking.speaker,
        write=write(speaking.speaker, speaking.lm),
        role=speaking.role,
        preface=preface,
    )


def _after(own: str | None, preface: str) -> str:
    return f"{own.strip()}\n\n{preface}" if own and own.strip() else preface

"""The lm-eval task of the noise variants: a doctor interviews patients and names a diagnosis."""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from lm_eval.api.instance import Instance
from lm_eval.api.task import Task
from lm_eval.config.task import TaskConfig
from lm_eval.filters import build_filter_ensemble

from verisim_metrics.consultation import score_consultation
from verisim_metrics.mvme.report import PARTS
from verisim_metrics.mvme.scores import ReportScores
from verisim_metrics.patientsim.personas import Persona, find_persona
from verisim_tasks.errors import UserError
from verisim_tasks.language.embedding import default_encoder
from verisim_tasks.loop.beside import handed_over
from verisim_tasks.loop.model import reply_kwargs
from verisim_tasks.loop.modes import Mode
from verisim_tasks.loop.request import (
    DEFAULT_RUN_DIR,
    REQUEST_TYPE,
    Circumstances,
    ConsultRequest,
    attach,
    cases_by_id,
    request_text,
)
from verisim_tasks.loop.simulating import PatientSide, ready_nli
from verisim_tasks.loop.stop import stops_the_run
from verisim_tasks.loop.store import check_writable
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Transcript
from verisim_tasks.settings import JUDGE, KEY, TABLE, Settings, read_settings
from verisim_tasks.tasks import patient_scores, scores
from verisim_tasks.tasks.persona_table import assign_persona, fits
from verisim_tasks.tasks.report_scores import INTERVIEW_PARTS, ReportMetrics
from verisim_tasks.tasks.variants import Variant, variant_of

VERSION = 1.0
Doc = dict[str, str]

log = logging.getLogger("lm_eval.verisim")

_CONFIG_KEYS = ("task", "task_alias", "generation_kwargs")


class ConsultationTask(Task):  # type: ignore[misc]
    """One variant of the suite over the case bank.

    A configuration names its ``variant`` and its ``noise`` (a mapping of dimensions to levels, or ``mixed``); all
    else comes from ``metadata.verisim`` (see ``verisim_tasks.settings``). A mistake in either ends the run with one
    sentence before the first token.
    """

    VERSION = VERSION
    OUTPUT_TYPE = REQUEST_TYPE
    PATIENT_SIDE = True
    """Whether the patient's side is scored too."""
    MODE: Mode | Literal["patientsim"] = "interview"

    def __init__(
        self,
        data_dir: str | None = None,
        cache_dir: str | None = None,
        download_mode: Any = None,
        config: Mapping[str, Any] | None = None,
    ) -> None:
        # lm-eval's own constructor would download a data set and file the whole configuration under its name.
        given = dict(config or {})
        with stops_the_run():
            attach()
            self.settings: Settings = self.own_settings(read_settings(given.get("metadata")))
            self.variant: Variant = variant_of(given)
            self._cases: dict[str, Case] = dict(ready_cases(self.settings.cases))
            ready_patient()
            if self.PATIENT_SIDE and self.settings.nli not in (None, JUDGE):
                ready_nli(self.settings.nli)
            check_writable(Path(self.settings.run_dir or DEFAULT_RUN_DIR), "the run folder")
            self.repeats = _repeats(self.settings, given)
            self._docs, self.left_out = self._choose_docs()
        if self.left_out:
            log.info("%s: %d cases are left out, %s", self.variant.task, len(self.left_out), ", ".join(self.left_out))
        self._training_docs: list[Doc] | None = None
        self._fewshot_docs: list[Doc] | None = None
        self._instances: list[Instance] | None = None
        self.fewshot_rnd = None
        self._config = self._task_config(given)
        self._filters = [build_filter_ensemble("none", [["take_first", None]])]

    def own_settings(self, given: Settings) -> Settings:
        """The settings as this kind of task takes them; raises ``UserError`` for those that go against it."""
        return given

    def _choose_docs(self) -> tuple[list[Doc], list[str]]:
        """Docs in case order, and the ids of cases that this noise would mimic."""
        docs: list[Doc] = []
        left_out: list[str] = []
        for case in self._cases.values():
            if any(not self._is_compatible(case, repeat) for repeat in range(self.repeats)):
                left_out.append(case.id)
            else:
                docs.append({"case_id": case.id, "specialty": case.specialty, "variant": self.variant.name})
        if not docs:
            raise UserError(
                f"no case of {self.settings.cases!r} is compatible with the noise of {self.variant.name}; "
                "choose other cases or another task"
            )
        return docs, left_out

    def _is_compatible(self, case: Case, repeat: int) -> bool:
        persona = self._persona(case, repeat)
        return self.variant.noise_for(case, repeat) is not None and (
            persona is None or fits(persona, case.incompatible_noise)
        )

    def _persona(self, case: Case, repeat: int) -> Persona | None:
        """Who the patient of a case is, by the setting ``persona``."""
        given = self.settings.persona
        if given is None:
            return None
        return assign_persona(case, repeat) if given == TABLE else find_persona(given)

    def _task_config(self, given: Mapping[str, Any]) -> TaskConfig:
        known = {key: given[key] for key in _CONFIG_KEYS if given.get(key) is not None}
        noise = "mixed" if self.variant.noise is None else dict(self.variant.noise)
        return TaskConfig(
            **{
                **known,
                "generation_kwargs": {"until": [], **known.get("generation_kwargs", {})},
                "num_fewshot": 0,
                "output_type": "generate_until",  # lets --gen_kwargs through
                "repeats": self.repeats,
                "metadata": {
                    "version": VERSION,
                    KEY: self.settings.model_dump(mode="json"),
                    "variant": self.variant.name,
                    "noise": noise,
                    "left_out": self.left_out,
                },
            }
        )

    def download(self, *args: Any, **kwargs: Any) -> None:
        """Nothing to download: cases come with the suite or from a file."""

    def has_training_docs(self) -> bool:
        """No."""
        return False

    def has_validation_docs(self) -> bool:
        """No."""
        return False

    def has_test_docs(self) -> bool:
        """Yes."""
        return True

    def test_docs(self) -> list[Doc]:
        """One doc a case, in stratified order: ids only, no text of a case."""
        return self._docs

    def doc_to_text(self, doc: Doc) -> str:
        """The case id; the prompts of a consultation come into being while it runs."""
        return doc["case_id"]

    def doc_to_target(self, doc: Doc) -> str:
        """The case id: the reference stays in the case."""
        return doc["case_id"]

    def fewshot_context(
        self, doc: Doc, num_fewshot: int = 0, system_instruction: str | None = None, **kwargs: Any
    ) -> str:
        """The user's own system instruction; there are no examples."""
        return system_instruction or ""

    def build_all_requests(self, **kwargs: Any) -> None:
        """Build the instances; never from lm-eval's request cache, whose keys ignore the settings."""
        with stops_the_run():
            if kwargs.get("limit") is not None and kwargs["limit"] <= 0:
                raise UserError(f"--limit {kwargs['limit']} leaves no case; give at least 1, or leave it out")
            super().build_all_requests(**{**kwargs, "cache_requests": False, "rewrite_requests_cache": False})

    def construct_requests(self, doc: Doc, ctx: str, **kwargs: Any) -> list[Instance]:
        """One instance for each repeat of a case."""
        task, doc_id, _ = kwargs["metadata"]
        case = self._cases[doc["case_id"]]
        gen_kwargs = dict(self.config.generation_kwargs)
        reply_kwargs(gen_kwargs, (), self.settings.max_reply_tokens)  # refuses what models do not take
        circumstances = Circumstances(
            settings=self.settings,
            chat=bool(kwargs.get("apply_chat_template")),
            preface=ctx or None,
            gen_kwargs=gen_kwargs,
            patient_side=self.PATIENT_SIDE,
            report_side=self.report_metrics is not None,
            mode=self.MODE,
        )
        instances = []
        for repeat in range(self.repeats):
            noise = self.variant.noise_for(case, repeat)
            if noise is None:
                raise RuntimeError(f"{case.id} is not compatible with {self.variant.name}")
            request = ConsultRequest(
                task=task,
                variant=self.variant.name,
                case_id=case.id,
                noise=dict(noise),
                repeat=repeat,
                circumstances=circumstances,
                persona=persona.as_record() if (persona := self._persona(case, repeat)) else None,
            )
            instances.append(
                Instance(
                    request_type=REQUEST_TYPE,
                    doc=doc,
                    arguments=(request_text(request),),
                    idx=repeat,
                    metadata=(task, doc_id, 1),
                )
            )
        return instances

    def process_results(self, doc: Doc, results: Sequence[str]) -> dict[str, Any]:
        """The metrics of one case; its repeats are averaged."""
        transcripts = [Transcript.model_validate_json(result) for result in results]
        case = self._cases[doc["case_id"]]
        found = scores.case_metrics([score_consultation(t, case) for t in transcripts], transcripts)
        return {**found, **(self.patient_side(doc) if self.PATIENT_SIDE else {}), **self.report_side(doc)}

    @property
    def report_metrics(self) -> ReportMetrics | None:
        """How the doctor's reports are scored; None where there are none."""
        if not self.settings.report or self.MODE == "patientsim":
            return None
        return ReportMetrics(PARTS if self.settings.examiner else INTERVIEW_PARTS, self.settings.judge is not None)

    def report_side(self, doc: Doc) -> dict[str, Any]:
        """The metrics of the reports on one case."""
        metrics = self.report_metrics
        scored = handed_over(self._instances or (), doc["case_id"], ReportScores)
        return metrics.case_metrics(scored) if metrics else {}

    def patient_side(self, doc: Doc) -> dict[str, Any]:
        """The metrics of the patient's side of one case; what scored it is noted in the task's metadata."""
        sides = list(handed_over(self._instances or (), doc["case_id"], PatientSide))
        if sides:
            note = {"scored_by": sides[0].scored_by, "judge_cost": sides[0].judge_cost}
            known = self._config.metadata.get("same_models", ())
            same = sorted({*known, *(s for side in sides for s in side.same_models)})
            self._config.metadata.update({**note, "same_models": same})
        return patient_scores.case_figures((side.scores for side in sides), self.settings, persona=self._has_persona)

    @property
    def _has_persona(self) -> bool:
        return self.settings.persona is not None

    def aggregation(self) -> dict[str, Callable[[Sequence[Any]], Any]]:
        """One aggregator for each metric."""
        patient_side = self._patient_aggregations() if self.PATIENT_SIDE else {}
        reports = self.report_metrics.aggregations() if self.report_metrics else {}
        return {**scores.aggregations(), **patient_side, **reports}

    def _patient_aggregations(self) -> dict[str, Callable[[Sequence[Any]], Any]]:
        return patient_scores.aggregations(self.settings, persona=self._has_persona)

    def higher_is_better(self) -> dict[str, bool]:
        """Direction of the metrics that have one."""
        more = patient_scores.higher_is_better(persona=self._has_persona) if self.PATIENT_SIDE else {}
        reports = self.report_metrics.higher_is_better() if self.report_metrics else {}
        return {**scores.higher_is_better(), **more, **reports}


def _repeats(settings: Settings, given: Mapping[str, Any]) -> int:
    """Repeats of the settings, else those of the task configuration."""
    if "repeats" in settings.model_fields_set:
        return settings.repeats
    repeats = given.get("repeats", settings.repeats)
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise UserError(f"repeats of task {given.get('task')!r} is {repeats!r}; give a whole number from 1")
    return repeats


def ready_cases(source: str) -> dict[str, Case]:
    """The cases of a source by id; raises ``UserError`` when there are none."""
    cases = cases_by_id(source)
    if not cases:
        raise UserError(f"no cases in {source!r}; name a case file, a folder of them, or 'bank'")
    return cases


@functools.cache
def ready_patient() -> None:
    """Load what the patient needs, so that a missing model package is said before the first token."""
    default_encoder().encode(["Ready?"])

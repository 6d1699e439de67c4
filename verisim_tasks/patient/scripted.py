"""The scripted patient: rules and data only, the same words on every machine."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from verisim_tasks._stable import digest
from verisim_tasks.errors import UserError
from verisim_tasks.language.embedding import MODEL_NAME, MODEL_REVISION, Encoder
from verisim_tasks.language.lexicon import Lexicon, default_lexicon, load_yaml
from verisim_tasks.language.question_encoder import digest_of, question_encoder, shipped_weights
from verisim_tasks.noise.compose import phrase, select
from verisim_tasks.noise.scene import Scene
from verisim_tasks.noise.table import noise_table, phrase_table
from verisim_tasks.patient.answer import plan_answer, retold
from verisim_tasks.patient.base import Exchange, PatientSetting
from verisim_tasks.patient.case_index import CaseIndex, index_case
from verisim_tasks.patient.grounding import Target, resolve, thresholds
from verisim_tasks.patient.history import History, read_history
from verisim_tasks.patient.plan import Plan
from verisim_tasks.patient.questions import Message, read_message
from verisim_tasks.patient.ranking import weights
from verisim_tasks.patient.speech import opening, speak
from verisim_tasks.patient.targets import gate
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import Turn


class ScriptedPatient:
    """Understands the question, chooses the facts that answer it, applies the noise, and speaks.

    Every reply follows from the setting and the turns alone. Raises ``UserError`` for a case it cannot voice.
    """

    def __init__(self, encoder: Encoder | None = None, lexicon: Lexicon | None = None) -> None:
        self._encoder = encoder or question_encoder()
        self._lexicon = lexicon or default_lexicon()
        self._indexes: dict[str, CaseIndex] = {}
        self._encoded: dict[str, CaseIndex] = {}
        """Cases whose texts have been encoded, as they were then."""
        self._understood: dict[str, dict[tuple[str, str | None], list[list[Target]]]] = {}

    def open(self, setting: PatientSetting) -> Turn:
        """The chief complaint, word for word, at every noise level."""
        self._check(setting.case)
        return opening(setting.case)

    def reply(self, exchanges: Sequence[Exchange]) -> list[Turn]:
        """One patient turn for each exchange, in order."""
        return [self.voice(scene, self.plan(scene)) for scene in self.scenes(exchanges)]

    def scenes(self, exchanges: Sequence[Exchange]) -> list[Scene]:
        """How this patient understands each message; new texts are encoded in one batch."""
        self._encode_ahead(exchanges)
        return [self.scene(exchange) for exchange in exchanges]

    def plan(self, scene: Scene) -> Plan:
        """What is told, held back or asked back about under the patient's noise."""
        return select(retold(plan_answer(scene)), scene)

    def voice(self, scene: Scene, plan: Plan) -> Turn:
        """The plan in words."""
        return speak(phrase(plan, scene), scene)

    def describe(self) -> dict[str, Any]:
        """What belongs in the instrument fingerprint: models, thresholds, noise table, phrases, lexicon."""
        return dict(self._description)

    @functools.cached_property
    def _description(self) -> dict[str, Any]:
        return {
            "patient": "scripted",
            "version": 1,
            "embedding": [MODEL_NAME, MODEL_REVISION, digest_of(shipped_weights())],
            "understanding": [dict(weights()), dict(gate()), dict(thresholds())],
            "noise_table": digest(noise_table()),
            "phrases": digest(phrase_table()),
            "questions": digest(
                [load_yaml("lexicon", f"{name}.yaml") for name in ("questions", "idioms", "jargon", "body")]
            ),
            "lexicon": digest([c.model_dump() for c in self._lexicon.concepts.values()]),
        }

    def scene(self, exchange: Exchange) -> Scene:
        """How this patient understands a message at this point."""
        index = self.index_of(exchange.setting.case)
        history = read_history(exchange.turns)
        message = read_message(exchange.message)
        focus = _focus(history, exchange.setting.case)
        return Scene(
            setting=exchange.setting,
            index=index,
            message=message,
            targets=self._targets(message, index, focus),
            history=history,
            turn=exchange.index,
        )

    def _targets(self, message: Message, index: CaseIndex, focus: str | None) -> list[list[Target]]:
        """What the message asks of this case; the same for every noise profile, so worked out once."""
        known = self._understood[index.case.id]
        key = (message.text, focus)
        if key not in known:
            known[key] = resolve(message, index, focus)
        return known[key]

    def index_of(self, case: Case) -> CaseIndex:
        """The case prepared for questions, once per patient."""
        index = self._indexes.get(case.id)
        if index is None or (index.case is not case and index.case != case):
            index = self._indexes[case.id] = index_case(case, self._lexicon, self._encoder)
            self._understood[case.id] = {}
        return index

    def _encode_ahead(self, exchanges: Sequence[Exchange]) -> None:
        """One batch for all new texts of this step."""
        texts = {c.core for e in exchanges for c in read_message(e.message).clauses}
        for case in {e.setting.case.id: e.setting.case for e in exchanges}.values():
            index = self.index_of(case)
            if self._encoded.get(case.id) is not index:
                self._encoded[case.id] = index
                texts.update(text for _, text in (*index.documents, *index.questions))
        self._encoder.encode(sorted(texts))

    def _check(self, case: Case) -> None:
        if case.language != "en":
            raise UserError(
                f"case {case.id} is in language {case.language!r} and the scripted patient speaks English only; "
                "set a language model as the patient"
            )


@functools.cache
def default_patient() -> ScriptedPatient:
    """The patient that all runs of a process share: what a case holds and a question means is worked out once."""
    return ScriptedPatient()


def _focus(history: History, case: Case) -> str | None:
    """The concept talked about last: what "it" refers to."""
    told = [i for i in history.previous if i in history.told]
    return case.fact(told[0]).concept if told else None

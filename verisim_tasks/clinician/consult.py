"""The clinician: from the dialogue so far to the next message."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np

from verisim_tasks._stable import choose, digest
from verisim_tasks.clinician import script
from verisim_tasks.clinician.asking import Asking, may_have
from verisim_tasks.clinician.assessment import Assessment
from verisim_tasks.clinician.beliefs import DECIMALS, Beliefs, Finding
from verisim_tasks.clinician.dialogue import Dialogue, Role
from verisim_tasks.clinician.hearing import Asked, Hearing
from verisim_tasks.clinician.knowledge import Knowledge, default_knowledge
from verisim_tasks.clinician.measures import age_in, sex_in, sex_of_relative
from verisim_tasks.clinician.policy import Policy
from verisim_tasks.clinician.questions import Questions
from verisim_tasks.language.embedding import Encoder, default_encoder

VERSION = 2
"""Goes up with every change that can alter a message."""

KEPT_STATES = 10_000
"""Dialogues whose state is kept for the next turn."""
RANKED = 10
"""Diseases kept in the ranking."""
IMPLIED_WEIGHT = 0.5
"""Of a whole that follows from a detail."""
DIFFERENTIAL = 3
"""Diagnoses named beside the final one."""


class Clinician:
    """A rule-based doctor over one body of knowledge. Deterministic; keeps nothing between dialogues but caches."""

    def __init__(self, knowledge: Knowledge, encoder: Encoder) -> None:
        self.knowledge = knowledge
        self.hearing = Hearing(knowledge, encoder)
        self.beliefs = Beliefs(knowledge)
        self.questions = Questions(knowledge)
        self._asking = Asking(knowledge, self.beliefs, self.questions)
        self._states: OrderedDict[tuple[str, tuple[tuple[Role, str], ...]], Assessment] = OrderedDict()

    def next_message(self, dialogue: Dialogue, policy: Policy, forced: bool = False, preamble: str = "") -> str:
        """What the doctor says now: one question, or the conclusion.

        Args:
            dialogue: (role, text) pairs from the patient's opening on.
            policy: the way of asking.
            forced: conclude whatever is known.
            preamble: instructions before the dialogue, read for the patient's age and sex only.
        """
        state = self.assess(dialogue, preamble)
        if forced:
            return self._conclusion(state)
        again = self._again(state, policy)
        if again is not None:
            return again
        question = None if self._sure(state, policy) else self._asking.choose(state, policy)
        if question is None:
            return self._conclusion(state)
        return _say(_courtesy(state, policy), question.ask)

    def assess(self, dialogue: Dialogue, preamble: str = "") -> Assessment:
        """Findings, patient and ranked diseases after this dialogue.

        The state after a shorter beginning of the same dialogue is reused where it is still at hand.
        """
        turns = tuple(dialogue)
        state = self._after(turns, preamble)
        state.posterior = self.beliefs.posterior(state.findings, state.age, state.sex)
        order = np.argsort(-np.round(state.posterior, DECIMALS), kind="stable")
        state.ranking = tuple((self.knowledge.diseases[i].name, float(state.posterior[i])) for i in order[:RANKED])
        return state

    def _after(self, turns: tuple[tuple[Role, str], ...], preamble: str) -> Assessment:
        start = len(turns)
        while start and (preamble, turns[:start]) not in self._states:
            start -= 1
        known = self._states.get((preamble, turns[:start]))
        state = known.copy() if known else Assessment(age=age_in(preamble), sex=sex_in(preamble))
        for role, text in turns[start:]:
            if role == "doctor":
                for message in text.split("\n\n"):
                    self._ask(state, message)
            else:
                self._take_in(state, text)
        self._states[(preamble, turns)] = state.copy()
        while len(self._states) > KEPT_STATES:
            self._states.popitem(last=False)
        return state

    def _ask(self, state: Assessment, text: str) -> None:
        question = self.questions.recognise(text, state.asked)
        state.messages += 1
        state.put = question
        if question is not None:
            state.asked.append(question.id)

    def prepare(self, dialogues: Iterable[Dialogue]) -> None:
        """Encodes the last answers of many dialogues in one batch. Only saves time."""
        last: list[tuple[str, Asked]] = []
        for dialogue in dialogues:
            if dialogue and dialogue[-1][0] == "patient":
                question = self.questions.recognise(dialogue[-2][1], ()) if len(dialogue) > 1 else None
                last.append((dialogue[-1][1], question.asked if question is not None else Asked()))
        self.hearing.prepare(last)

    def _take_in(self, state: Assessment, text: str) -> None:
        question, state.put = state.put, None
        opening = state.messages == 0
        asked = question.asked if question is not None else Asked()
        name = question.id if question is not None else ""
        if opening and sex_of_relative(text) is not None:
            state.caregiver = True
        age = age_in(text, asked=name == "open:age") if opening or state.age is None else None
        sex = sex_in(text, asked=name == "open:sex") or (sex_of_relative(text) if state.caregiver else None)
        state.age = age if age is not None else state.age
        state.sex = state.sex or sex
        present = frozenset(n for n, f in state.findings.items() if f.state == "present")
        heard = self.hearing.listen(text, asked, present, state.caregiver)
        for found in sorted(heard.findings):
            if may_have(self.knowledge.feature(found), state.age, state.sex):
                self._note(state, found, heard.findings[found], opening)
                if heard.findings[found].state == "present":
                    self._imply(state, found)
        settled = (name == "open:age" and state.age is not None) or (name == "open:sex" and state.sex is not None)
        state.trouble = None if settled else heard.trouble
        state.pending = question if state.trouble else None
        state.worried = heard.signals.worried
        state.answered += not opening and state.trouble is None

    def _note(self, state: Assessment, name: str, finding: Finding, opening: bool) -> None:
        """Keeps a finding. What is told unasked at the opening is what the patient came for; how long is not."""
        bodily = self.knowledge.feature(name).group in script.BODY and not name.startswith(("onset_", "course_"))
        before = state.findings.get(name)
        if finding.state == "present" and before is not None and before.state == "present":
            finding = replace(before, weight=max(before.weight, finding.weight))
        elif finding.state == "present" and opening and bodily:
            finding = replace(finding, complaint=True)
        state.findings[name] = finding

    def _imply(self, state: Assessment, name: str) -> None:
        for whole in self.knowledge.ancestors(name):
            if whole not in state.findings or state.findings[whole].state != "present":
                state.findings[whole] = Finding("present", IMPLIED_WEIGHT)

    def _again(self, state: Assessment, policy: Policy) -> str | None:
        """The same question in simpler words, when the answer left it open and it was not put too often."""
        question, trouble = state.pending, state.trouble
        if question is None or trouble is None:
            return None
        if state.asked[::-1][: policy.max_asks].count(question.id) >= policy.max_asks:
            return None
        sensitive = question.asked.feature is not None and self.knowledge.feature(question.asked.feature).sensitive
        if trouble == "off_topic" and question.asked.open is not None and question.id not in ("open:onset", "open:age"):
            return None
        prefaces = {
            "silent": script.GENTLE,
            "forgotten": script.REMIND,
            "unclear": script.SIMPLER,
            "evasive": script.PRIVATE if sensitive else script.CALM,
            "worried": script.CALM,
            "off_topic": script.STEER,
        }[trouble]
        return _say(choose(prefaces, "again", question.id, policy.order_seed), question.rephrase)

    def _sure(self, state: Assessment, policy: Policy) -> bool:
        """Certain enough to conclude; the longer the list of answers, the less certainty is asked for.

        Only answers count: a question that the patient did not answer brings no conclusion nearer.
        """
        if state.answered < policy.min_questions:
            return False
        best = state.ranking[0][1]
        lead = best - (state.ranking[1][1] if len(state.ranking) > 1 else 0.0)
        span = max(policy.soft_limit - policy.min_questions, 1)
        passed = min((state.answered - policy.min_questions) / span, 1.0)
        needed = policy.sure_early + (policy.sure_late - policy.sure_early) * passed
        late = state.answered >= policy.soft_limit
        return best >= needed and (late or lead >= policy.margin)

    def _conclusion(self, state: Assessment) -> str:
        names = [name for name, _ in state.ranking[: DIFFERENTIAL + 1]]
        closing = choose(script.CLOSING, "closing", names[0])
        text = f"{closing} Final Diagnosis: {names[0]}"
        return text + (f"\nDifferential: {', '.join(names[1:])}" if len(names) > 1 else "")


@functools.cache
def default_clinician() -> Clinician:
    """The clinician over the knowledge and the encoder that ship with the suite."""
    return Clinician(default_knowledge(), default_encoder())


def next_message(dialogue: Dialogue, policy: Policy, forced: bool = False) -> str:
    """What the built-in clinician says after this dialogue; see ``Clinician.next_message``."""
    return default_clinician().next_message(dialogue, policy, forced)


def fingerprint(clinician: Clinician, policy: Policy) -> str:
    """Identifies everything that decides the clinician's messages, the embedding model apart."""
    return digest([VERSION, clinician.knowledge.digest(), policy.__dict__])


def _courtesy(state: Assessment, policy: Policy) -> str:
    """A short acknowledgement now and then, by the last question and not by chance."""
    last: Sequence[str] = state.asked[-1:] or ["opening"]
    if state.worried:
        return choose(script.CALM, "calm", *last, policy.order_seed)
    if state.messages == 0:
        return choose(script.SYMPATHY, "sympathy", state.ranking[0][0], policy.order_seed)
    return choose((*script.THANKS[:3], "", "", ""), "thanks", *last, state.messages, policy.order_seed)


def _say(courtesy: str, question: str) -> str:
    text = f"{courtesy} {question}".strip()
    return text if len(text.split()) <= script.MAX_WORDS else question

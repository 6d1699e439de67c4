"""The verifier: drafts of patients in, findings out, all drafts in one batch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from verisim_tasks.language.embedding import Encoder, default_encoder
from verisim_tasks.language.lexicon import Lexicon, default_lexicon
from verisim_tasks.patient.base import Exchange
from verisim_tasks.patient.case_index import CaseIndex, index_case
from verisim_tasks.patient.grounding import resolve
from verisim_tasks.patient.questions import read_message
from verisim_tasks.records.case import Case
from verisim_tasks.records.transcript import ClaimVerdict, Denial
from verisim_tasks.verify.checks import (
    Problem,
    Said,
    form_problems,
    history_problems,
    may_deny,
    omission,
    without_name,
)
from verisim_tasks.verify.claims import Claim, Extractor, asked_clauses
from verisim_tasks.verify.evidence import CaseRecord, Nearness, record_of
from verisim_tasks.verify.judgement import Judgement, worst
from verisim_tasks.verify.reading import Reader
from verisim_tasks.verify.second_look import Doubtful, SecondLook
from verisim_tasks.verify.verdicts import Judge
from verisim_tasks.verify.vocabulary import ClinicalTerms, pattern


@dataclass(frozen=True)
class Draft:
    """What a patient would say to the doctor's message of the exchange."""

    exchange: Exchange
    text: str


Extract = Callable[[Sequence[Draft]], Sequence[Sequence[str] | None]]
"""Claims of each draft by another extractor, a judge model say; None where it has none falls back to the rules."""


@dataclass(frozen=True)
class Findings:
    """What the verifier found in one draft."""

    claims: tuple[ClaimVerdict, ...]
    problems: tuple[Problem, ...]
    disclosed: tuple[str, ...]
    """Facts that supported claims tell, in the order they are told."""
    denials: tuple[Denial, ...]
    ok: bool
    """Nothing unsupported or contradicted, and no problem."""
    feedback: str
    """One paragraph for another attempt; empty when all is well. Never names the diagnosis."""
    sentences: tuple[str, ...] = ()
    """The offending sentences, in order."""


class Verifier:
    """Holds patients to their case. Keeps prepared cases, and nothing else, between calls.

    Args:
        encoder: sentence embeddings; the suite's own when left out.
        lexicon: the suite's own when left out.
        extract: another claim extractor; the rules when left out.
        max_words: words allowed in an answer; by default 50 without noise and 80 with noise.
    """

    def __init__(
        self,
        encoder: Encoder | None = None,
        lexicon: Lexicon | None = None,
        *,
        extract: Extract | None = None,
        max_words: int | None = None,
    ) -> None:
        self._encoder = encoder or default_encoder()
        self._lexicon = lexicon or default_lexicon()
        self._reader = Reader(ClinicalTerms(self._lexicon))
        self._extractor = Extractor(self._reader)
        self._nearness = Nearness(self._encoder)
        self._second_look = SecondLook(self._nearness)
        self._extract = extract
        self._max_words = max_words
        self._records: dict[str, CaseRecord] = {}
        self._indexes: dict[str, CaseIndex] = {}

    def verify(self, drafts: Sequence[Draft]) -> list[Findings]:
        """Findings for each draft, in order. Never fails, whatever the text."""
        claims = self._claims(drafts)
        self._encode_ahead(drafts, claims)
        judged = self._judged(drafts, claims)
        return [self._findings(draft, own, targets) for draft, (own, targets) in zip(drafts, judged, strict=True)]

    def _judged(
        self, drafts: Sequence[Draft], claims: Sequence[Sequence[Claim]]
    ) -> list[tuple[list[Judgement], tuple[str, ...]]]:
        """The verdicts on the claims of each draft, and the facts that were asked for."""
        first: list[Doubtful] = []
        asked: list[tuple[str, ...]] = []
        for draft, own in zip(drafts, claims, strict=True):
            judge = Judge(self.record(draft.exchange.setting.case), self._nearness)
            targets = self._targets(draft.exchange)
            talked_of = (*targets, *(i for i in _told_last(draft.exchange) if i not in targets))
            about = [talked_of if _is_bare(c) else targets for c in own]
            first += [Doubtful(judge, judge.judge(c, t), t) for c, t in zip(own, about, strict=True)]
            asked.append(targets)
        final = iter(self._second_look.at(first))
        found = [([next(final) for _ in own], targets) for own, targets in zip(claims, asked, strict=True)]
        for judged, _ in found:
            _settle_wide_yes(judged)
        return found

    def judge_claims(self, case: Case, claims: Sequence[str]) -> list[Judgement]:
        """Verdicts on single claims ("patient takes aspirin") without a conversation around them.

        Without a record of the question a denial that the case does not hold counts as unsupported.
        """
        made = [self._extractor.parts(text) for text in claims]
        record = self.record(case)
        texts = [c.text for parts in made for c in parts] + [t for f in record.facts for t in f.texts]
        self._nearness.encode(texts)
        judge = Judge(record, self._nearness)
        judged = iter(self._second_look.at([Doubtful(judge, judge.judge(p)) for parts in made for p in parts]))
        return [worst([next(judged) for _ in parts]) for parts in made]

    def record(self, case: Case) -> CaseRecord:
        """The case prepared for verification, once per verifier."""
        known = self._records.get(case.id)
        if known is None or (known.case is not case and known.case != case):
            known = self._records[case.id] = record_of(case, self._reader)
            self._indexes.pop(case.id, None)
        return known

    def _claims(self, drafts: Sequence[Draft]) -> list[tuple[Claim, ...]]:
        given = self._extract(drafts) if self._extract and drafts else [None] * len(drafts)
        found: list[tuple[Claim, ...]] = []
        for draft, texts in zip(drafts, given, strict=True):
            if texts is None:
                found.append(self._extractor.claims(draft.text, draft.exchange.message))
            else:
                found.append(tuple(c for t in texts if t.strip() for c in self._extractor.parts(t)))
        return found

    def _encode_ahead(self, drafts: Sequence[Draft], claims: Sequence[Sequence[Claim]]) -> None:
        """One embedding call for everything that these drafts will be compared with."""
        texts = [c.text for own in claims for c in own]
        for case in {d.exchange.setting.case.id: d.exchange.setting.case for d in drafts}.values():
            texts += [t for f in self.record(case).facts for t in f.texts]
        for draft in drafts:
            texts += asked_clauses(draft.exchange.message)
        self._nearness.encode(texts)

    def _targets(self, exchange: Exchange) -> tuple[str, ...]:
        """Facts that the question asks for, as the scripted patient understands it."""
        case = exchange.setting.case
        self.record(case)
        index = self._indexes.get(case.id)
        if index is None:
            index = self._indexes[case.id] = index_case(case, self._lexicon, self._encoder)
        resolved = resolve(read_message(exchange.message), index, _focus(exchange))
        return tuple(dict.fromkeys(i for targets in resolved for t in targets for i in t.fact_ids[:1]))

    def _findings(self, draft: Draft, judged: list[Judgement], targets: Sequence[str]) -> Findings:
        setting = draft.exchange.setting
        problems = form_problems(draft.text, setting, limit=self._max_words)
        if any(p.kind == "empty" for p in problems):
            return _summed(draft, [], problems, ())
        judge = Judge(self.record(setting.case), self._nearness)
        denials = self._denials(draft, judged)
        problems += self._against_history(draft, judge, judged)
        problems += self._omissions(draft, judged, targets)
        return _summed(draft, judged, problems, denials)

    def _denials(self, draft: Draft, judged: Sequence[Judgement]) -> tuple[Denial, ...]:
        """What the draft denies; a first denial that the noise allows is turned into a justified one."""
        setting = draft.exchange.setting
        told = {d.fact_id for t in draft.exchange.turns for d in t.disclosed}
        found: list[Denial] = []
        for one in judged:
            facts = [setting.case.fact(i) for i in one.facts]
            denies = one.claim.negative or one.claim.reading.negated
            if one.verdict == "contradicted" and denies and facts:
                if all(may_deny(f, setting) and f.id not in told for f in facts):
                    one.verdict = "justified_denial"
                    found += [Denial(kind="justified", concept=f.concept, fact_id=f.id) for f in facts]
            elif one.verdict in ("supported", "unrecorded_denial"):
                kinds = {True: "recorded", False: "unrecorded"}
                found += [Denial(kind=kinds[i is not None], concept=c, fact_id=i) for c, i in one.denied]
        return tuple(dict.fromkeys(found))

    def _against_history(self, draft: Draft, judge: Judge, judged: Sequence[Judgement]) -> list[Problem]:
        """What is said now against what was said before, where the record does not bear out both."""
        turns = draft.exchange.turns
        retracted = frozenset(d.fact_id for t in turns for d in t.denials if d.kind == "justified" and d.fact_id)
        before: list[Said] = []
        question = ""
        for turn in turns:
            if turn.speaker == "patient":
                claims = self._extractor.claims(turn.text, question)
                before += [_said(j) for j in self._second_look.at([Doubtful(judge, judge.judge(c)) for c in claims])]
            question = turn.text if turn.speaker == "doctor" else ""
        now = [_said(one) for one in judged if one.verdict not in ("not_clinical", "justified_denial")]
        return history_problems(now, before, retracted) if before else []

    def _omissions(self, draft: Draft, judged: Sequence[Judgement], targets: Sequence[str]) -> list[Problem]:
        told = {i for one in judged for i in one.facts}
        if told & set(targets) or not targets:
            return []
        deflected = [one.claim for one in judged if one.claim.manner == "deflection"]
        setting = draft.exchange.setting
        return omission([setting.case.fact(i) for i in targets[:1]], setting, deflected)


def _settle_wide_yes(judged: Sequence[Judgement]) -> None:
    """A yes to a wide question ("anything else with your eyes?") only leads in to the true statement beside it."""
    told = any(j.verdict == "supported" and j.claim.manner == "statement" for j in judged)
    for one in judged:
        wide = one.claim.manner == "answer" and not one.claim.negative and one.verdict == "unsupported"
        if told and wide and pattern("wide_questions").search(one.claim.question):
            one.verdict = "not_clinical"
            one.reasons = []


def _is_bare(claim: Claim) -> bool:
    """Names nothing, and goes on about what was told before."""
    return not claim.reading.is_clinical and (claim.context is None or not claim.context.is_clinical)


def _told_last(exchange: Exchange) -> tuple[str, ...]:
    """Facts of the patient's last turn."""
    last = next((t for t in reversed(exchange.turns) if t.speaker == "patient"), None)
    known = {f.id for f in exchange.setting.case.facts}
    return tuple(d.fact_id for d in last.disclosed if d.fact_id in known) if last else ()


def _focus(exchange: Exchange) -> str | None:
    """The concept talked about last: what "it" refers to."""
    told = _told_last(exchange)
    return exchange.setting.case.fact(told[0]).concept if told else None


def _said(judged: Judgement) -> Said:
    return Said(
        judged.claim,
        tuple(judged.facts),
        _denied_values(judged.claim) if judged.denied else frozenset(),
        judged.verdict == "supported",
    )


def _denied_values(claim: Claim) -> frozenset[str]:
    """Concepts that a claim denies."""
    atoms = claim.reading.of("concept", "drug")
    return frozenset(v for a in atoms if a.negated != claim.negative for v in a.values)


def _summed(
    draft: Draft, judged: Sequence[Judgement], problems: Sequence[Problem], denials: tuple[Denial, ...]
) -> Findings:
    wrong = [one for one in judged if one.is_wrong]
    shown = tuple(replace(p, detail=without_name(p.detail, draft.exchange.setting.case)) for p in problems)
    disclosed = dict.fromkeys(i for one in judged if one.verdict == "supported" for i in one.facts[:2])
    sentences = dict.fromkeys([*(one.claim.sentence for one in wrong), *(p.sentence for p in problems)])
    return Findings(
        claims=tuple(one.record for one in judged),
        problems=shown,
        disclosed=tuple(disclosed),
        denials=denials,
        ok=not wrong and not problems,
        feedback=without_name(_feedback(draft, wrong, shown), draft.exchange.setting.case),
        sentences=tuple(sentences),
    )


def _feedback(draft: Draft, wrong: Sequence[Judgement], problems: Sequence[Problem]) -> str:
    """What was wrong and what the record says, in one paragraph."""
    case = draft.exchange.setting.case
    parts: list[str] = []
    for one in wrong:
        reason = "; ".join(one.reasons) or "the record does not say so"
        known = f" The record says: {case.fact(one.facts[0]).statement}." if one.facts else ""
        parts.append(f'You said "{one.claim.text}", but {reason}.{known}')
    parts += [f"{p.detail[:1].upper()}{p.detail[1:]}." for p in problems]
    return f"{' '.join(parts)} Say only what your facts hold." if parts else ""

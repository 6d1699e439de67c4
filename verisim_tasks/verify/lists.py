"""Denials of a whole list ("no allergies at all", "no illness in the family"), held to the lists of a case."""

from __future__ import annotations

import re
from collections.abc import Mapping

from verisim_tasks.language.words import fold
from verisim_tasks.verify.claims import Claim
from verisim_tasks.verify.evidence import CaseRecord, FactRecord
from verisim_tasks.verify.judgement import Judgement
from verisim_tasks.verify.vocabulary import tables
from verisim_tasks.verify.wording import carries, spoken

_NARROW = re.compile(r"\b(?:pacemaker|implants?)\b")
"""Names some items of a list only."""


def judge_list(judged: Judgement, record: CaseRecord) -> bool:
    """Note the verdict on a denial of a complete list, by what the list holds; False where the claim denies none."""
    category = _denied_list(judged.claim)
    if category is None:
        return False
    own = [f for f in record.facts if f.fact.category == category]
    held = [f for f in own if not f.denied and not _says_none(f)]
    if held and _NARROW.search(fold(judged.claim.text)):
        return False
    if held:
        judged.add("contradicted", f"the record has: {held[0].fact.statement}", held[:1])
    else:
        judged.add("supported", "the list is complete", [f for f in own if f.denied or _says_none(f)][:1])
    return True


def _denied_list(claim: Claim) -> str | None:
    """The category whose every item the claim denies."""
    if claim.manner != "statement":
        return None
    lists: Mapping[str, str] = tables()["denied_lists"]
    text = fold(claim.text)
    return next((category for category, found in lists.items() if re.search(found, text)), None)


def _says_none(fact: FactRecord) -> bool:
    """The fact itself says that the list is empty."""
    return all(w.negated for w in spoken(fact.fact.statement) if carries(w))

"""Words that leave a diagnosis what it is, and words that make it another one. Canonical tokens, see ``icd_words``."""

from __future__ import annotations

from collections.abc import Iterable

from verisim_tasks.language.icd_words import word_set

QUALIFIERS = word_set(
    "likely probable probably possible possibly suspected presumed presumptive suspicious clinical query early mild "
    "moderate severe classic classical typical uncomplicated new newly onset diagnosed active ongoing current recent "
    "episode attack case bout confirmed definite most very highly left right bilateral unilateral sided spontaneous "
    "untreated poorly controlled uncontrolled decompensated recurrent first"
)
"""Words that may be added to a name without making it another disease."""

TELLING = word_set("recurrent severe spontaneous first early onset bilateral")
EVENTS = word_set("attack episode")
"""Qualifiers that are dropped only when nothing goes by the name with them, the events last."""

MAY_BE_MISSING = word_set(
    "acute uncomplicated simple left right bilateral unilateral sided typical classic classical new onset"
)
"""Words of a reference that a prediction need not repeat."""

ACUTE_MATTERS = word_set("leukemia failure myeloid lymphoblastic")
"""Beside these, "acute" is part of the name."""

WEAK = word_set("disease syndrome")
"""Words that carry nothing of their own."""

UNDOING = word_set(
    "no without not nonspecific mimic mimicking exclusion prophylaxis vaccination vaccine risk screening phobia fear "
    "carrier contact exposure pseudo anxiety like resolved history former healed sequela aftercare"
)
"""Words that turn a name into something else when they are added."""

_TISSUES = word_set(
    "adenocarcinoma squamous sarcoma osteosarcoma ewing chondrosarcoma rhabdomyosarcoma liposarcoma seminoma teratoma "
    "glioblastoma medulloblastoma astrocytoma neuroblastoma nephroblastoma wilm melanoma lymphoma papillary follicular "
    "medullary anaplastic basal small nonsmall mesothelioma"
)
"""Kinds of tumour; two different ones in the same organ are two diseases, though ICD gives them one code."""

_OPPOSITES = tuple(
    tuple(pair.split("/"))
    for pair in sorted(
        word_set(
            "acute/chronic 1/2 systolic/diastolic left/right upper/lower primary/secondary ischemia/hemorrhage "
            "ischemia/hemorrhagic bacteria/virus fungus/bacteria fungus/virus benign/malignant open/closure "
            "anterior/posterior superior/inferior inferior/anterior medial/lateral proximal/distal simplex/zoster "
            "alcohol/nonalcoholic with/without small/large small/colon central/peripheral central/nephrogenic "
            "reduced/preserved fibrillation/flutter focal/generalized external/internal st/nonst unstable/stable b/c "
            "lettera/b lettera/c mania/depression allergy/infection vulgari/rosacea"
        )
    )
)


def opposed(tokens: Iterable[str], name: Iterable[str]) -> bool:
    """Whether one text says a word that the other says the opposite of, or names another kind of tumour."""
    left, right = set(tokens), set(name)
    if left & _TISSUES and right & _TISSUES and not left & right & _TISSUES:
        return True
    return any(_only(left, a, b) and _only(right, b, a) for pair in _OPPOSITES for a, b in (pair, pair[::-1]))


def _only(tokens: set[str], present: str, absent: str) -> bool:
    return present in tokens and absent not in tokens


def undone(added: Iterable[str]) -> bool:
    """Whether the added words turn a name into something else."""
    return bool(UNDOING & set(added))

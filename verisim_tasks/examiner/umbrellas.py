"""General names that give way: "some blood tests, including a ferritin" orders the ferritin alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from verisim_tasks.examiner.entries import Holdings
from verisim_tasks.examiner.mentions import Mention
from verisim_tasks.examiner.vocabulary import Vocabulary


def is_needless(mention: Mention, mentions: Sequence[Mention], vocabulary: Vocabulary, held: Holdings) -> bool:
    """Whether a mention only announces what the same message names.

    Args:
        mention: The mention in question.
        mentions: All that is ordered in the message.
        vocabulary: What the mentions' items are.
        held: The case's entries, for mentions by the case's own names.
    """
    sections = {vocabulary.items[n.item].covers for n in mention.items} - {""}
    if not sections:
        return False
    others = [m for m in mentions if m is not mention]
    return any(
        vocabulary.items[item].section in sections and not vocabulary.items[item].covers
        for other in others
        for item in _items(other, held)
    )


def _items(mention: Mention, held: Holdings) -> Iterable[str]:
    if mention.entry:
        return (item for entry in held.of(mention.entry) for item in entry.items)
    return (n.item for n in mention.items)

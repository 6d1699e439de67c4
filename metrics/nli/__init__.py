"""Natural language inference behind one interface: does a sentence follow from an item of the record?"""

from __future__ import annotations

from verisim_metrics.nli.model import LABELS, Nli, label_of

__all__ = ["BUILTIN", "LABELS", "Nli", "label_of", "make_nli"]

BUILTIN = "builtin"


def make_nli(spec: str = BUILTIN, *, device: str | None = None, self_test: bool = True) -> Nli:
    """The model that ``spec`` names: ``builtin``, or a Hugging Face name or folder.

    ``device`` and ``self_test`` are for models from elsewhere. Raises ``UserError`` on a model that cannot be had.
    """
    from verisim_metrics.nli.builtin import BuiltinNli
    from verisim_metrics.nli.cross_encoder import CrossEncoderNli

    if spec.strip().lower() == BUILTIN:
        return BuiltinNli()
    return CrossEncoderNli(spec.strip(), device=device, self_test=self_test)

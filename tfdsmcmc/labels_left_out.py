"""What warns where posterior samples that have biases for each label are used without a label."""

from __future__ import annotations

import warnings


class LabelsLeftOut(UserWarning):
    """Weights of a model whose top biases depend on labels are used without a label."""


def warn_of(sample: object, stacklevel: int) -> None:
    """Warns of a sample with biases for each label; `stacklevel` is that of `warnings.warn`, from the caller on."""
    if getattr(sample, "label_biases", None) is not None:
        warnings.warn(
            "The samples have biases for each label, and without one the top layer's bias is their mean over the "
            "rows, with which no network was learnt: posterior.given_label(y) is of the network given label y.",
            LabelsLeftOut,
            stacklevel=stacklevel + 1,
        )

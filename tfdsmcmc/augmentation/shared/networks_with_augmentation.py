"""Which networks Pólya-Gamma augmentation learns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdsmcmc.layers import DARN, SBN

if TYPE_CHECKING:
    from tfdsmcmc.networks import GenerativeNetwork


def check_network(generative: GenerativeNetwork) -> None:
    """Raises a ValueError for a generative network with a layer that has no augmentation, or that is frozen in part.

    Args:
      generative: `GenerativeNetwork`.
    """
    for layer in generative.layers:
        if type(layer) not in (SBN, DARN):  # a subclass may have logits of its own
            kind = "binary" if layer.binary else "real-valued"
            raise ValueError(
                "Pólya-Gamma augmentation is for binary units whose logits are linear in the weights: layers SBN and "
                f"DARN. Received: layer {layer.name!r}, {type(layer).__name__} of {kind} units"
            )
        frozen = [variable.name for variable in layer.weights if not variable.trainable]
        if 0 < len(frozen) < len(layer.weights):
            raise ValueError(
                "Augmentation learns all weights of a unit together: freeze a whole layer, or none of it. Received: "
                f"layer {layer.name!r}, of which {', '.join(frozen)} is frozen"
            )

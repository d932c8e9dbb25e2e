"""The factors of a layer's weights in mean-field variational Bayes: q(w_j), and those of the scales of their priors.

The regressors of a layer are parents, units of the layer and biases; each kind has a prior of its own, and the
precisions ⟨1/ζ⟩ of all stand side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import tensorflow as tf

if TYPE_CHECKING:
    from types import ModuleType

    from tfdsmcmc._common.types import DType, Nest
    from tfdsmcmc.augmentation.shared.layer_shapes import LayerShape
    from tfdsmcmc.augmentation.variational.local_factors import WeightFactor

VARIANCE = 0.01  # of each weight at the start


class LayerPrior:
    """The priors of a layer's weights.

    Args:
      layer: `LayerShape`.
      scales: list of (slice of the regressors, object of `scale_factors`), in order and without gaps.
    """

    layer: LayerShape
    parts: list[tuple[slice, Any]]

    def __init__(self, layer: LayerShape, scales: Iterable[tuple[slice, Any]]):
        self.layer, self.parts = layer, [part for part in scales if part[0].stop > part[0].start]

    def initial(self, second: tf.Tensor) -> list[Nest]:
        """The scales' states for second moments (J, P), a list."""
        return [scales.initial(second[:, columns]) for columns, scales in self.parts]

    def precision(self, states: Sequence[Nest], dtype: DType) -> tf.Tensor:
        """⟨1/ζ⟩, (J, P)."""
        found = [scales.precision(state, dtype) for (_, scales), state in zip(self.parts, states, strict=True)]
        return tf.concat(found, 1)

    def update(self, states: Sequence[Nest], second: tf.Tensor) -> list[Nest]:
        """The states after each factor has moved once."""
        return [
            scales.update(state, second[:, columns])
            for (columns, scales), state in zip(self.parts, states, strict=True)
        ]

    def bound(self, states: Sequence[Nest], second: tf.Tensor) -> tf.Tensor:
        """What the bound has of the weights and their scales, the entropy of q(w) left out; a float64 scalar."""
        states, second = tf.nest.map_structure(lambda part: tf.cast(part, tf.float64), (states, second))
        return sum(
            scales.bound(state, second[:, columns])
            for (columns, scales), state in zip(self.parts, states, strict=True)
        )


def second_moments(kind: ModuleType, factor: WeightFactor) -> tf.Tensor:
    """⟨w²⟩, (J, P)."""
    return tf.square(factor.mean) + kind.variances(factor.covariance)

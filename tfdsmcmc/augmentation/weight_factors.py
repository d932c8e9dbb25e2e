"""The factors of a layer's weights in mean-field variational Bayes: q(w_j), and those of the scales of their priors.

The regressors of a layer are parents, units of the layer and biases; each kind has a prior of its own, and the
precisions ⟨1/ζ⟩ of all stand side by side.
"""

from __future__ import annotations

import tensorflow as tf

VARIANCE = 0.01  # of each weight at the start


class LayerPrior:
    """The priors of a layer's weights.

    Args:
      layer: `LayerShape`.
      scales: list of (slice of the regressors, object of `scale_factors`), in order and without gaps.
    """

    def __init__(self, layer, scales):
        self.layer, self.parts = layer, [part for part in scales if part[0].stop > part[0].start]

    def initial(self, second):
        """The scales' states for second moments (J, P), a list."""
        return [scales.initial(second[:, columns]) for columns, scales in self.parts]

    def precision(self, states, dtype):
        """⟨1/ζ⟩, (J, P)."""
        found = [scales.precision(state, dtype) for (_, scales), state in zip(self.parts, states, strict=True)]
        return tf.concat(found, 1)

    def update(self, states, second):
        """The states after each factor has moved once."""
        return [
            scales.update(state, second[:, columns])
            for (columns, scales), state in zip(self.parts, states, strict=True)
        ]

    def bound(self, states, second):
        """What the bound has of the weights and their scales, the entropy of q(w) left out; a float64 scalar."""
        states, second = tf.nest.map_structure(lambda part: tf.cast(part, tf.float64), (states, second))
        return sum(
            scales.bound(state, second[:, columns])
            for (columns, scales), state in zip(self.parts, states, strict=True)
        )


def second_moments(kind, factor):
    """⟨w²⟩, (J, P)."""
    return tf.square(factor.mean) + kind.variances(factor.covariance)

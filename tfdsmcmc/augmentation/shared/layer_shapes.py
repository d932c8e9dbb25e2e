"""A layer of a sigmoid belief network as logistic regressions, one for each unit.

    ψ_jn = w_j · r_n,     y_jn ~ Bernoulli(σ(ψ_jn)),     r_n = (h_n, y_n, e_n)

h_n are the layer's parents, of the top layer the context, y_n its own units where those before a unit count (DARN), and
e_n is 1. The bias is the weight of e. All of w_j is one vector then, and everything that
holds of a weight holds of a bias: for a layer without parents this is the model of its biases, whose Pólya-Gamma
variables sum over the rows.

Source: Gan, Henao, Carlson and Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS 2015,
sections 2 and 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc.distributions.autoregressive_bernoulli import earlier_to_later
from tfdsmcmc.layers import DARN

if TYPE_CHECKING:
    from tfdsmcmc._common.types import TensorLike
    from tfdsmcmc.layers.base import StochasticLayer


class LayerShape(NamedTuple):
    """The shape of the regressions of a layer.

    Attributes:
      units: J.
      parents: K, 0 for a layer without parents.
      earlier: (J, J) booleans, [j, i] whether unit i comes before unit j; None where units do not depend on each other.
    """

    units: int
    parents: int = 0
    earlier: np.ndarray | None = None

    @property
    def lateral(self) -> int:
        """J where units depend on each other, else 0."""
        return 0 if self.earlier is None else self.units

    @property
    def width(self) -> int:
        """P, the number of regressors."""
        return self.parents + self.lateral + 1

    @property
    def columns(self) -> tuple[slice, slice, slice]:
        """The slices of the regressors that are parents, units of the layer, and e."""
        ends = np.cumsum([0, self.parents, self.lateral, 1])
        return tuple(slice(int(first), int(last)) for first, last in zip(ends[:-1], ends[1:]))

    @property
    def mask(self) -> np.ndarray:
        """(J, P), 1 where a regressor counts, else 0."""
        mask = np.ones((self.units, self.width))
        if self.earlier is not None:
            mask[:, self.columns[1]] = self.earlier
        return mask

    def regressors(self, parents: tf.Tensor, own: tf.Tensor) -> tf.Tensor:
        """(B, P), r from the parents (B, K) and the layer's own units (B, J)."""
        parts = [parents, own] if self.lateral else [parents]
        return tf.concat([*(parts if self.parents else parts[1:]), tf.ones_like(own[:, :1])], 1)

    def weights(self, mean: tf.Tensor) -> list[tf.Tensor]:
        """[W (K, J), bias (J,), and U (J, J) if lateral] of the vectors w_j, (J, P)."""
        parents, lateral, bias = (tf.transpose(mean[:, part]) for part in self.columns)
        return [parents, bias[0], *([lateral] if self.lateral else [])]

    def vectors(self, weights: Sequence[TensorLike]) -> tf.Tensor:
        """(J, P), the vectors w_j of such weights; lateral ones that count for nothing become 0."""
        kernel, bias, *lateral = weights
        parts = [kernel, *lateral, tf.reshape(bias, [1, self.units])]
        return tf.transpose(tf.concat(parts, 0)) * tf.cast(self.mask, kernel.dtype)


def shape_of(layer: StochasticLayer) -> LayerShape:
    """The `LayerShape` of an SBN or DARN layer."""
    earlier = None
    if type(layer) is DARN:
        ones = earlier_to_later(tf.ones([layer.units, layer.units]), layer.ordering)
        earlier = tf.transpose(ones).numpy() > 0
    return LayerShape(layer.units, layer.parent_units, earlier)

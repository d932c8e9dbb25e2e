"""The layer of the neural autoregressive distribution estimator, conditional on its parents.

    p(y given h) = Π_i Bernoulli(y_i; σ(b_i + h B_i + V_i · σ(c + h C + Σ_{j<i} y_j W_j)))

Sources: Larochelle and Murray, "The neural autoregressive distribution estimator", AISTATS 2011; conditional on h as in
Bornschein and Bengio, "Reweighted wake-sleep", ICLR 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from tfdsmcmc._common import checks
from tfdsmcmc.distributions import NADE as NADEDistribution
from tfdsmcmc.distributions.affine import affine
from tfdsmcmc.distributions.ordering import check_ordering, in_order
from tfdsmcmc.layers.base import StochasticLayer
from tfdsmcmc.layers.completing import InOrder, complete_in_order
from tfdsmcmc.layers.initial import add_weight, initializer_of
from tfdsmcmc.supports import Binary

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Distribution, TensorLike
    from tfdsmcmc.layers.initial import Initializer


@keras.saving.register_keras_serializable("tfdsmcmc")
class NADE(StochasticLayer):
    """Binary units, each given the parents and the units before it through one shared hidden layer.

    With parents of width 0 it is the plain NADE. Log-probability, gradient and draws run over the units one by one.

    Args:
      units: number of units.
      hidden_units: width of the hidden layer; by default that of the literature, 200.
      kernel_initializer: of the matrices W, V (units, hidden units), B (parent width, units) and C (parent width,
        hidden units).
      bias_initializer: of b, (units,).
      ordering: permutation of the units, the one drawn first first; None for 0, 1, ….
      seed: integer seed of the initial weights and of calls without an explicit seed.
      **kwargs: of `keras.layers.Layer`.

    Raises:
      ValueError: if `units` or `hidden_units` is no positive integer, or `ordering` no permutation.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds
    >>> layer = ds.layers.NADE(3, hidden_units=8)
    >>> layer(tf.zeros([2, 4])).shape
    TensorShape([2, 3])
    """

    support = Binary()

    def __init__(
        self,
        units: int,
        hidden_units: int = 200,
        kernel_initializer: Initializer = "glorot_uniform",
        bias_initializer: Initializer = "zeros",
        ordering: Sequence[int] | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ):
        super().__init__(units, seed=seed, **kwargs)
        self.hidden_units: int = checks.positive_integer("hidden_units", hidden_units)
        self.kernel_initializer: Callable[..., Any] = initializer_of(kernel_initializer, self.seed)
        self.bias_initializer: Callable[..., Any] = initializer_of(bias_initializer, self.seed)
        self.ordering: list[int] | None = check_ordering(ordering, self.units)

    def build(self, input_shape: Sequence[int | None]) -> None:
        self.parent_units = int(input_shape[-1])
        units, hidden, parents = self.units, self.hidden_units, self.parent_units
        self.encoder = add_weight(self, "encoder", (units, hidden), self.kernel_initializer)
        self.decoder = add_weight(self, "decoder", (units, hidden), self.kernel_initializer)
        self.bias = add_weight(self, "bias", (units,), self.bias_initializer)
        self.hidden_bias = add_weight(self, "hidden_bias", (hidden,), "zeros")
        self.kernel = add_weight(self, "kernel", (parents, units), self.kernel_initializer)
        if parents:
            self.hidden_kernel = add_weight(self, "hidden_kernel", (parents, hidden), self.kernel_initializer)
        self.built = True

    def distribution(self, parents: TensorLike) -> Distribution:
        logits, hidden_bias = self._biases(parents)
        return NADEDistribution(logits, hidden_bias, self.encoder.value, self.decoder.value, self.ordering)

    def _biases(self, parents):
        """(b + h B, c + h C); without parents the second is c, (hidden units,)."""
        parents = self._parents(parents)
        logits = affine(parents, self.kernel.value, self.bias.value)
        hidden_bias = self.hidden_bias.value
        if self.parent_units:
            hidden_bias = affine(parents, self.hidden_kernel.value, hidden_bias)
        return logits, hidden_bias

    def units_in_order(self, parents: TensorLike) -> InOrder:
        """What the units are drawn by, see `layers.completing`; parents (n, parent width)."""
        logits, hidden_bias = self._biases(parents)
        logits = in_order(logits, self.ordering)
        w, v = (in_order(part.value, self.ordering, axis=0) for part in (self.encoder, self.decoder))
        hidden = hidden_bias + tf.zeros_like(logits[..., :1])
        return InOrder(hidden, [logits, w, v], _logit, _followed)

    def _complete(self, value, observed, parents, seed):
        return complete_in_order(value, observed, self.ordering, seed, self.units_in_order(parents))

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "hidden_units": self.hidden_units,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "bias_initializer": keras.initializers.serialize(self.bias_initializer),
            "ordering": self.ordering,
        }


def _logit(j, hidden, constants):
    logits, _, v = constants
    return logits[..., j] + tf.linalg.matvec(tf.sigmoid(hidden), v[..., j, :])


def _followed(j, y, hidden, constants):
    _, w, _ = constants
    return hidden + y[:, tf.newaxis] * w[..., j, tf.newaxis, :]

"""The layers of variational autoencoders: a small network between the parents and the distribution.

    e = tanh(… tanh(h A₀ + a₀) …)
    MLPBernoulli    p(y given h) = Π_j Bernoulli(y_j; σ(e W_j + b_j))
    MLPGaussian     p(y given h) = Π_j Normal(y_j; e W_j + b_j, exp(e S_j + s_j))

With parents of width 0 there is nothing for an inner network to work on: MLPBernoulli is a factorised Bernoulli
distribution with logits b, and MLPGaussian a standard normal one, without weights.

Source: Kingma and Welling, "Auto-encoding variational Bayes", ICLR 2014, appendix C (there with the logarithm of the
variance in place of that of the standard deviation).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from tfdsmcmc._common import checks
from tfdsmcmc.distributions import IndependentBernoulli, IndependentNormal
from tfdsmcmc.distributions.affine import affine
from tfdsmcmc.layers.base import StochasticLayer
from tfdsmcmc.layers.initial import add_weight, initializer_of
from tfdsmcmc.supports import Binary

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Distribution, TensorLike
    from tfdsmcmc.layers.initial import Initializer


class _MLP(StochasticLayer):
    """What both layers share: the inner network."""

    factorised = True

    def __init__(
        self,
        units: int,
        hidden_units: Sequence[int] = (200,),
        activation: Callable[..., Any] | str = "tanh",
        kernel_initializer: Initializer = "glorot_uniform",
        bias_initializer: Initializer = "zeros",
        seed: int | None = None,
        **kwargs: Any,
    ):
        super().__init__(units, seed=seed, **kwargs)
        if not isinstance(hidden_units, (list, tuple)):
            raise ValueError(f"hidden_units must be a list of integers. Received: hidden_units={hidden_units!r}")
        self.hidden_units = [checks.positive_integer("hidden_units", width) for width in hidden_units]
        self.activation = keras.activations.get(activation)
        self.kernel_initializer = initializer_of(kernel_initializer, self.seed)
        self.bias_initializer = initializer_of(bias_initializer, self.seed)

    def build(self, input_shape: Sequence[int | None]) -> None:
        self.parent_units = int(input_shape[-1])
        self._maps = []
        width = self.parent_units
        for i, units in enumerate(self.hidden_units if width else []):
            self._maps.append(self._map(f"hidden_{i}_", width, units, "zeros"))
            width = units
        self._build_output(width)
        self.built = True

    def _build_output(self, width):
        raise NotImplementedError(f"{type(self).__name__} must define _build_output(width).")

    def _map(self, prefix, width, units, bias_initializer):
        kernel = add_weight(self, f"{prefix}kernel", (width, units), self.kernel_initializer)
        return kernel, add_weight(self, f"{prefix}bias", (units,), bias_initializer)

    def _hidden(self, parents):
        """The output of the inner network, (…, width)."""
        values = self._parents(parents)
        for kernel, bias in self._maps:
            values = self.activation(affine(values, kernel.value, bias.value))
        return values

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "hidden_units": self.hidden_units,
            "activation": keras.activations.serialize(self.activation),
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "bias_initializer": keras.initializers.serialize(self.bias_initializer),
        }


@keras.saving.register_keras_serializable("tfdsmcmc")
class MLPBernoulli(_MLP):
    """Binary units that are independent given the output of an inner network.

    Args:
      units: number of units.
      hidden_units: widths of the inner network, the one next to the parents first.
      activation: of the inner network, as in Keras.
      kernel_initializer: of the matrices.
      bias_initializer: of b, (units,).
      seed: integer seed of the initial weights and of calls without an explicit seed.
      **kwargs: of `keras.layers.Layer`.

    Raises:
      ValueError: if `units` or an entry of `hidden_units` is no positive integer.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds
    >>> layer = ds.layers.MLPBernoulli(3, hidden_units=[5])
    >>> layer.distribution(tf.zeros([2, 4])).mean().shape
    TensorShape([2, 3])
    """

    support = Binary()

    def _build_output(self, width):
        self._output = self._map("", width, self.units, self.bias_initializer)

    def distribution(self, parents: TensorLike) -> Distribution:
        hidden = self._hidden(parents)
        kernel, bias = self._output
        return IndependentBernoulli(affine(hidden, kernel.value, bias.value))


@keras.saving.register_keras_serializable("tfdsmcmc")
class MLPGaussian(_MLP):
    """Real units, independent and normal given the output of an inner network; standard normal without parents.

    Args:
      units: number of units.
      hidden_units: widths of the inner network, the one next to the parents first.
      activation: of the inner network, as in Keras.
      kernel_initializer: of the matrices.
      bias_initializer: of b, the bias of the means, (units,); the logarithms of the standard deviations start from a
        bias of 0.
      seed: integer seed of the initial weights and of calls without an explicit seed.
      **kwargs: of `keras.layers.Layer`.

    Raises:
      ValueError: if `units` or an entry of `hidden_units` is no positive integer.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds
    >>> layer = ds.layers.MLPGaussian(3, hidden_units=[5])
    >>> layer.distribution(tf.zeros([2, 4])).stddev().shape
    TensorShape([2, 3])
    """

    def _build_output(self, width):
        if self.parent_units:
            self._mean = self._map("", width, self.units, self.bias_initializer)
            self._log_scale = self._map("log_scale_", width, self.units, "zeros")

    def distribution(self, parents: TensorLike) -> Distribution:
        hidden = self._hidden(parents)
        if not self.parent_units:
            zeros = tf.zeros(tf.concat([tf.shape(hidden)[:-1], [self.units]], 0))
            zeros = tf.ensure_shape(zeros, [*hidden.shape[:-1], self.units])
            return IndependentNormal(zeros, tf.ones([self.units]))
        mean, log_scale = (affine(hidden, k.value, b.value) for k, b in (self._mean, self._log_scale))
        return IndependentNormal(mean, tf.exp(log_scale))

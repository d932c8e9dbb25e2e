"""The sigmoid belief network layer.

    p(y given h) = Π_j Bernoulli(y_j; σ(h W_j + b_j))

Source: Neal, "Connectionist learning of belief networks", Artificial Intelligence 56 (1992).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import keras

from tfdsmcmc.distributions import IndependentBernoulli
from tfdsmcmc.distributions.affine import affine
from tfdsmcmc.layers.base import StochasticLayer
from tfdsmcmc.layers.initial import add_weight, initializer_of
from tfdsmcmc.supports import Binary

if TYPE_CHECKING:
    import tensorflow as tf

    from tfdsmcmc._common.types import Config, Distribution, TensorLike
    from tfdsmcmc.layers.initial import Initializer


@keras.saving.register_keras_serializable("tfdsmcmc")
class SBN(StochasticLayer):
    """Binary units that are independent given their parents, with logistic conditional probabilities.

    With parents of width 0 the layer is a factorised Bernoulli prior with logits b.

    Args:
      units: number of units.
      kernel_initializer: of W, (parent width, units).
      bias_initializer: of b, (units,). A data layer may start at the logit of the data's mean:
        `keras.initializers.Constant(logits)`.
      seed: integer seed of the initial weights and of calls without an explicit seed.
      **kwargs: of `keras.layers.Layer`.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds
    >>> layer = ds.layers.SBN(3)
    >>> layer(tf.zeros([2, 4])).shape
    TensorShape([2, 3])
    >>> layer.distribution(tf.zeros([2, 4])).log_prob(tf.ones([2, 3])).shape
    TensorShape([2])
    """

    kernel: keras.Variable
    bias: keras.Variable
    support = Binary()
    factorised = True

    def __init__(
        self,
        units: int,
        kernel_initializer: Initializer = "glorot_uniform",
        bias_initializer: Initializer = "zeros",
        seed: int | None = None,
        **kwargs: Any,
    ):
        super().__init__(units, seed=seed, **kwargs)
        self.kernel_initializer: Callable[..., Any] = initializer_of(kernel_initializer, self.seed)
        self.bias_initializer: Callable[..., Any] = initializer_of(bias_initializer, self.seed)

    def build(self, input_shape: Sequence[int | None]) -> None:
        self.parent_units = int(input_shape[-1])
        self.kernel = self.add_weight(
            name="kernel", shape=(self.parent_units, self.units), initializer=self.kernel_initializer
        )
        self.bias = add_weight(self, "bias", (self.units,), self.bias_initializer)
        self.built = True

    def logits(self, parents: TensorLike) -> tf.Tensor:
        """h W + b, (…, units)."""
        parents = self._parents(parents)
        return affine(parents, self.kernel.value, self.bias.value)

    def distribution(self, parents: TensorLike) -> Distribution:
        return IndependentBernoulli(self.logits(parents))

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "bias_initializer": keras.initializers.serialize(self.bias_initializer),
        }

"""The layer of a deep autoregressive network: a sigmoid belief network with connections within the layer.

    p(y given h) = Π_j Bernoulli(y_j; σ(h W_j + b_j + Σ_{i<j} y_i U_ij))

Source: Gregor, Danihelka, Mnih, Blundell and Wierstra, "Deep autoregressive networks", ICML 2014. Without parents it is
the fully visible sigmoid belief network of Frey, Hinton and Dayan, "Does the wake-sleep algorithm produce good density
estimators?", NIPS 1995.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from tfdsmcmc.distributions import AutoregressiveBernoulli
from tfdsmcmc.distributions.autoregressive_bernoulli import earlier_to_later
from tfdsmcmc.distributions.ordering import check_ordering, in_order
from tfdsmcmc.layers.completing import InOrder, complete_in_order
from tfdsmcmc.layers.initial import add_weight, initializer_of
from tfdsmcmc.layers.sbn import SBN

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Distribution, TensorLike
    from tfdsmcmc.layers.initial import Initializer


@keras.saving.register_keras_serializable("tfdsmcmc")
class DARN(SBN):
    """Binary units with logits linear in the parents and in the units before them.

    With parents of width 0 it is the fully visible sigmoid belief network.

    Args:
      units: number of units.
      kernel_initializer: of W, (parent width, units).
      bias_initializer: of b, (units,).
      lateral_initializer: of U, (units, units). Entries that do not lead from an earlier to a later unit have no
      effect.
      ordering: permutation of the units, the one drawn first first; None for 0, 1, ….
      seed: integer seed of the initial weights and of calls without an explicit seed.
      **kwargs: of `keras.layers.Layer`.

    Raises:
      ValueError: if `units` is no positive integer, or `ordering` no permutation.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds
    >>> layer = ds.layers.DARN(3, ordering=[2, 0, 1])
    >>> layer.distribution(tf.zeros([2, 4])).log_prob(tf.ones([2, 3])).shape
    TensorShape([2])
    """

    lateral: keras.Variable
    factorised = False

    def __init__(
        self,
        units: int,
        kernel_initializer: Initializer = "glorot_uniform",
        bias_initializer: Initializer = "zeros",
        lateral_initializer: Initializer = "zeros",
        ordering: Sequence[int] | None = None,
        seed: int | None = None,
        **kwargs: Any,
    ):
        super().__init__(units, kernel_initializer, bias_initializer, seed=seed, **kwargs)
        self.lateral_initializer: Callable[..., Any] = initializer_of(lateral_initializer, self.seed)
        self.ordering: list[int] | None = check_ordering(ordering, self.units)

    def build(self, input_shape: Sequence[int | None]) -> None:
        super().build(input_shape)
        self.lateral = add_weight(self, "lateral", (self.units, self.units), self.lateral_initializer)

    def lateral_kernel(self) -> tf.Tensor:
        """U with zeros where a unit is not before the other, (units, units)."""
        return earlier_to_later(self.lateral.value, self.ordering)

    def distribution(self, parents: TensorLike) -> Distribution:
        return AutoregressiveBernoulli(self.logits(parents), self.lateral.value, self.ordering)

    def units_in_order(self, parents: TensorLike) -> InOrder:
        """What the units are drawn by, see `layers.completing`; parents (n, parent width)."""
        logits = in_order(self.logits(parents), self.ordering)
        lateral = in_order(in_order(self.lateral_kernel(), self.ordering, axis=0), self.ordering)
        return InOrder(logits, [lateral], _logit, _followed)

    def _complete(self, value, observed, parents, seed):
        return complete_in_order(value, observed, self.ordering, seed, self.units_in_order(parents))

    def get_config(self) -> Config:
        return {
            **super().get_config(),
            "lateral_initializer": keras.initializers.serialize(self.lateral_initializer),
            "ordering": self.ordering,
        }


def _logit(j, logits, constants):
    return logits[..., j]


def _followed(j, y, logits, constants):
    (lateral,) = constants
    return logits + y[:, tf.newaxis] * lateral[..., j, tf.newaxis, :]

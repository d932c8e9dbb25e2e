"""The horseshoe, of Carvalho, Polson and Scott, "The horseshoe estimator for sparse signals", Biometrika 97 (2010)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import keras

from tfdsmcmc.priors.shrinkage import ThreeParameterBetaNormal

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config
    from tfdsmcmc.priors.shrinkage import Group


@keras.saving.register_keras_serializable("tfdsmcmc")
class Horseshoe(ThreeParameterBetaNormal):
    """The horseshoe: `ThreeParameterBetaNormal` with a = b = ½, and the fastest of them.

    w ~ N(0, ζ + m²), √ζ half-Cauchy of scale τ: an infinite spike rounded off at width m, tails as heavy as Cauchy's.

    Args:
      global_scale: τ; with `learn_global_scale` the scale of its half-Cauchy law.
      minimum_scale: m, above 0.
      learn_global_scale: whether τ is unknown.
      group, global_scale_group: as of `ThreeParameterBetaNormal`.

    Raises:
      ValueError: as of `ThreeParameterBetaNormal`.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds
    >>> prior = ds.Prior({"kernel": ds.priors.Horseshoe(global_scale=0.05), "": None})
    >>> names, values = ["top/kernel", "top/bias"], [tf.zeros([2, 3]), tf.zeros([3])]
    >>> auxiliary = prior.initial_auxiliary(names, values, seed=1)
    >>> auxiliary = prior.update_auxiliary(names, values, auxiliary, seed=2)
    >>> [variance.shape for variance in auxiliary]
    [TensorShape([2, 3])]
    >>> prior.log_prob(names, values, auxiliary).shape
    TensorShape([])
    """

    def __init__(
        self,
        global_scale: float = 0.1,
        minimum_scale: float = 0.01,
        learn_global_scale: bool = False,
        group: Group = "entry",
        global_scale_group: Group = "tensor",
    ):
        super().__init__(0.5, 0.5, global_scale, minimum_scale, learn_global_scale, group, global_scale_group)

    def get_config(self) -> Config:
        return {name: part for name, part in super().get_config().items() if name not in ("a", "b")}

"""The contract of a stochastic layer.

A layer is a conditional distribution p(y given parents; W). `distribution` returns it as a tfd.Distribution, and
everything else follows: `layer(parents)` is a sample, `log_prob` a log density. Parents of width 0 make it an
unconditional distribution, as a top layer needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common.checks import nonnegative_integer, positive_integer
from tfdsmcmc.distributions import IndependentBernoulli
from tfdsmcmc.supports import Binary, Real

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, Distribution, Seed, Shape, TensorLike
    from tfdsmcmc.supports import Support


class StochasticLayer(keras.layers.Layer):
    """Base class: a subclass creates its weights in `build` and returns p(y given parents) from `distribution`.

    Args:
      units: number of variables of the layer, at least 1.
      seed: integer, for calls without an explicit seed.
      **kwargs: of `keras.layers.Layer`.

    Attributes:
      support: `supports.Support`, of what values y has; data for the layer are checked by it.
      factorised: whether the units are independent given the parents; missing entries of such a layer drop out.
      redraws: whether missing units are drawn given all others by `redrawn`, rather than by Gibbs sampling of bits.

    Raises:
      ValueError: if `units` is no positive integer, or `seed` no non-negative one.
    """

    parent_units: int
    support: Support = Real()
    factorised = False
    redraws = False

    def __init__(self, units: int, seed: int | None = None, **kwargs: Any):
        super().__init__(**kwargs)
        self.units: int = positive_integer("units", units)
        if self.dtype_policy.name != "float32":
            raise ValueError(f"Stochastic layers compute in float32. Received: dtype={self.dtype_policy.name}")
        self.seed: int | None = None if seed is None else nonnegative_integer("seed", seed)
        self.seed_generator: keras.random.SeedGenerator = keras.random.SeedGenerator(self.seed)

    @property
    def kind(self) -> type[StochasticLayer]:
        """The class whose equations the layer has: its own, or of an average over weights that of what is averaged."""
        return type(self)

    @property
    def binary(self) -> bool:
        """Whether y is in {0, 1}."""
        return self.support == Binary()

    @property
    def widest(self) -> int:
        """The entries of the widest array that a row needs while its log-probability is computed."""
        return int(max([self.units, *np.ravel(getattr(self, "hidden_units", 0))]))

    @property
    def widest_drawn(self) -> int:
        """The entries of the widest array that a row needs while it is drawn."""
        return self.widest

    def distribution(self, parents: TensorLike) -> Distribution:
        """Returns p(y given parents), a tfd.Distribution.

        Args:
          parents: tensor (…, parent width).

        Returns:
          A distribution with batch shape (…) and event shape (units,).
        """
        raise NotImplementedError(f"{type(self).__name__} must define distribution(parents).")

    def log_prob(self, value: TensorLike, parents: TensorLike) -> tf.Tensor:
        """log p(value given parents), of the broadcast batch shape.

        Raises:
          ValueError: if value is not (…, units).
        """
        self._check_width(value)
        return self.distribution(parents).log_prob(value)

    def observed_log_prob(self, value: TensorLike, observed: TensorLike, parents: TensorLike) -> tf.Tensor:
        """log p(the observed units given parents), the others summed out, of the broadcast batch shape.

        Args:
          value: (…, units); what is not observed may have any finite value.
          observed: (…, units), not 0 or True where a unit is observed.
          parents: (…, parent width).

        Raises:
          ValueError: for a layer whose units depend on each other, or if value is not (…, units).
        """
        self._check_width(value)
        self._check_width(observed, "observed")
        if not self.factorised:
            raise ValueError(
                "Missing entries drop out where units are independent given the parents: layers SBN, MLPBernoulli, "
                f"MLPGaussian and Mixed. Received: {type(self).__name__}"
            )
        return self.distribution(parents).observed_log_prob(value, observed)

    def sample(self, parents: TensorLike, seed: Seed, sample_shape: Shape = ()) -> tf.Tensor:
        """A sample of shape sample_shape + (…, units)."""
        return self.distribution(parents).sample(sample_shape, seed=random.as_seed(seed))

    def sample_and_log_prob(
        self,
        parents: TensorLike,
        seed: Seed,
        sample_shape: Shape = (),
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """A sample and its log-probability: of what is drawn unit by unit, both in one pass."""
        return self.distribution(parents).experimental_sample_and_log_prob(sample_shape, seed=random.as_seed(seed))

    def complete(
        self,
        value: TensorLike,
        observed: TensorLike,
        parents: TensorLike,
        seed: Seed,
    ) -> tuple[tf.Tensor, tf.Tensor]:
        """Draws the units that are not observed, each given the parents and, where units depend on each other, all
        units before it; the observed ones keep their values.

        The draw has the density Π_{d missing} p(y_d given y_<d, parents). Where units are independent given the parents
        it is p(y_missing given y_observed, parents) and the weight is p(y_observed given parents); elsewhere it becomes
        so by the weight.

        Args:
          value: (…, units); what is not observed may have any value, NaN too.
          observed: (…, units), not 0 or True where a unit is observed.
          parents: (…, parent width).
          seed: integer, or int32 tensor of shape (2,).

        Returns:
          (y, log w): (…, units) and (…) of the broadcast batch shape, log w = Σ_{d observed} log p(y_d given y_<d,
          parents), so that E[w] = p(y_observed given parents).
        """
        self._check_width(value)
        self._check_width(observed, "observed")
        parents = self._parents(parents)
        value = tf.cast(value, parents.dtype)
        observed = tf.cast(observed, tf.bool)
        batch = tf.shape(value)[:-1]
        for part in (observed, parents):
            batch = tf.broadcast_dynamic_shape(batch, tf.shape(part)[:-1])
        flat = [_as_rows(part, batch) for part in (value, observed, parents)]
        y, log_weight = self._complete(*flat, random.as_seed(seed))
        return tf.reshape(y, tf.concat([batch, [self.units]], 0)), tf.reshape(log_weight, batch)

    def redrawn(self, value: TensorLike, observed: TensorLike, parents: TensorLike, seed: Seed) -> tf.Tensor:
        """Moves of a Markov chain over the units that are not observed, whose law is p(y_missing given y_observed,
        parents); where units are independent given the parents, exact draws.

        Args:
          value: (…, units), all of it in the support.
          observed: (…, units), not 0 or True where a unit is observed.
          parents: (…, parent width).
          seed: integer, or int32 tensor of shape (2,).

        Returns:
          (…, units).

        Raises:
          ValueError: for a layer whose units depend on each other and that has no such chain.
        """
        if not self.factorised:
            raise ValueError(f"This layer does not say how to redraw its values. Received: {type(self).__name__}")
        return self.complete(value, observed, parents, seed)[0]

    def completion_log_weight(self, value: TensorLike, observed: TensorLike, parents: TensorLike) -> tf.Tensor:
        """The log-weight that `complete` gives a value, Σ_{d observed} log p(y_d given y_<d, parents).

        Args:
          value: (…, units), all of it finite.
          observed: (…, units), not 0 or True where a unit is observed.
          parents: (…, parent width).
        """
        distribution = self.distribution(parents)
        if not self.factorised:
            distribution = IndependentBernoulli(distribution.conditional_logits(value))
        return distribution.observed_log_prob(value, observed)

    def conditional_mean(self, value: TensorLike, parents: TensorLike) -> tf.Tensor:
        """The mean of each unit given the parents and, where units depend on each other, those before it in `value`."""
        distribution = self.distribution(parents)
        if hasattr(distribution, "conditional_logits"):
            return tf.sigmoid(distribution.conditional_logits(value))
        return distribution.mean()

    def unit_logits(self, value: TensorLike | None, parents: TensorLike) -> tf.Tensor:
        """The log-odds of each binary unit given the parents and, where units depend on each other, those before it.

        Args:
          value: (…, units); of units that are independent given the parents it may be None.
          parents: (…, parent width).

        Returns:
          (…, units), of the broadcast batch shape.

        Raises:
          ValueError: for a layer whose distribution does not tell them.
        """
        distribution = self.distribution(parents)
        if not self.factorised and hasattr(distribution, "conditional_logits"):
            return distribution.conditional_logits(value)
        if not (self.binary and self.factorised and hasattr(distribution, "logits")):
            raise ValueError(
                "The log-odds of each unit are known of layers SBN, DARN, NADE and MLPBernoulli. "
                f"Received: {type(self).__name__}"
            )
        return distribution.logits

    def call(self, parents: TensorLike, seed: Seed | None = None) -> tf.Tensor:
        return self.sample(parents, self.seed_generator if seed is None else seed)

    def compute_output_shape(self, input_shape: Sequence[int | None]) -> tuple[int | None, ...]:
        return (*input_shape[:-1], self.units)

    def get_config(self) -> Config:
        return {**super().get_config(), "units": self.units, "seed": self.seed}

    def _complete(self, value, observed, parents, seed):
        """`complete` of rows (n, …); a layer whose units depend on each other has its own."""
        if not self.factorised:
            raise ValueError(f"This layer does not say how to complete its values. Received: {type(self).__name__}")
        distribution = self.distribution(parents)
        y = tf.where(observed, value, distribution.sample(seed=seed))
        return y, distribution.observed_log_prob(y, observed)

    def _check_width(self, value, name="value"):
        """A single unit would be broadcast to all."""
        shape = tf.TensorShape(value.shape if hasattr(value, "shape") else np.shape(value))
        if shape.rank is None:
            return
        shape = tuple(shape)
        if shape[-1:] not in ((self.units,), (None,)):
            raise ValueError(f"{name} must be (…, {self.units}). Received: {name} of shape {shape}")

    def _parents(self, parents):
        """The parents as a float tensor; builds the layer at its first use and checks the width."""
        parents = tf.cast(tf.convert_to_tensor(parents), self.compute_dtype)
        if not self.built:
            self.build(tuple(parents.shape))
        if parents.shape[-1] != self.parent_units:
            raise ValueError(
                f"Layer {self.name!r} was built for parents of width {self.parent_units}. "
                f"Received: parents.shape={tuple(parents.shape)}"
            )
        return parents


def _as_rows(part, batch):
    """The part with its leading axes broadcast to `batch` and then made one."""
    width = part.shape[-1]
    return tf.reshape(tf.broadcast_to(part, tf.concat([batch, [width]], 0)), [tf.reduce_prod(batch), width])

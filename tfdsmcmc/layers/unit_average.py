"""The average of a layer's distribution over draws of its weights, unit by unit.

    p̄(y given h) = Π_j p̄(y_j given y_<j, h),      p̄(y_j given y_<j, h) = (1/M) Σ_m p(y_j given y_<j, h; W_m)

over draws W_1, …, W_M of the weights of one Markov chain; y_<j are the units before the j-th where the layer draws them
one by one, and none where its units are independent given their parents h. Each factor is a distribution of y_j, so p̄
is normalised, whatever the draws. It stands for the M^D combinations in which each of D units has a draw of its own;
the average of the layer as a whole, (1/M) Σ_m Π_j p(y_j given y_<j, h; W_m), for M of them.

What it assumes. Let W^j be the weights that lead to unit j. If these are independent given the data X, for different j,
then for one y and h

    ∫ Π_j p(y_j given y_<j, h; W^j) p(W given X) dW = Π_j ∫ p(y_j given y_<j, h; W^j) p(W^j given X) dW^j

and p̄ estimates the right-hand side, the posterior predictive. For units of an SBN or a DARN with given parents and
independent priors it is so: the likelihood is a product over j. It is not so where units share weights, as in a NADE or
behind an inner network, nor where the parents of the data are latent, for all weights explain them together.

Beside the sequential predictive. The average of the layer as a whole is the product over j of

    Σ_m π_m(y_<j) p(y_j given y_<j, h; W_m),      π_m(y_<j) in proportion to Π_{i<j} p(y_i given y_<i, h; W_m)

in which the units so far say which draws are right about the next ones. p̄ has π_m = 1/M instead: it learns nothing
within the row. That is right where draws that were right about some units are no better about others.

Each layer of a network is averaged by itself, so that z is drawn by all draws together. This makes sense of draws of
one chain, in which hidden units keep their roles; over chains it does not.

In numbers. Of binary units the mean probabilities of a one and of a zero are summed over m and kept as log-odds. Logits
beyond ±80 count as ±80, but for M = 1, which is the layer itself. Of real units p̄ is a mixture of normal distributions,
and of columns of several kinds each is a mixture of laws of its kind.

Source: derived here; the sequential predictive is Dawid, "Present position and potential developments: some personal
views: statistical theory: the prequential approach", Journal of the Royal Statistical Society A 147 (1984).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from tfdsmcmc._common import checks, loops
from tfdsmcmc.columns import IndependentColumnsMixture
from tfdsmcmc.distributions import IndependentBernoulli, IndependentNormal, IndependentNormalMixture
from tfdsmcmc.distributions.by_conditionals import BernoulliByConditionals
from tfdsmcmc.layers.base import StochasticLayer
from tfdsmcmc.layers.completing import InOrder, complete_in_order
from tfdsmcmc.layers.mixed import Mixed

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config, Distribution, TensorLike

_FARTHEST = 80.0  # of a logit: its probabilities, summed, stay above the smallest float32 number


class _Kept:
    """Holds a layer that Keras is not to find: its weights are not those of the layer that holds it."""

    def __init__(self, layer):
        self.layer = layer


@keras.saving.register_keras_serializable("tfdsmcmc")
class UnitAverage(StochasticLayer):
    """A layer's distribution, averaged unit by unit over draws of its weights.

    Its weights are those of the layer with a leading axis of M draws, under their own names and in their order. It is
    not meant to be learnt: `posterior.log_likelihood(average="units")` and the like make it.

    Args:
      layer: `StochasticLayer`, one of the package's kinds or with `unit_logits` of its own.
      num_draws: M.
      **kwargs: of `keras.layers.Layer`; the name is by default the layer's.

    Raises:
      ValueError: for what is no such layer, or a number that is not positive.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds
    >>> average = ds.layers.UnitAverage(ds.layers.SBN(1), num_draws=2)
    >>> average.build((None, 0))
    >>> _, bias = average.trainable_variables  # without parents the kernel is empty
    >>> _ = bias.assign([[0.0], [100.0]])
    >>> round(float(average.distribution(tf.zeros([0])).mean()[0]), 4)
    0.75
    """

    def __init__(self, layer: StochasticLayer, num_draws: int, **kwargs: Any):
        if not isinstance(layer, StochasticLayer) or isinstance(layer, UnitAverage):
            raise ValueError(f"layer must be a stochastic layer that is no average. Received: layer={layer!r}")
        kwargs.setdefault("name", layer.name)
        super().__init__(layer.units, **kwargs)
        self.num_draws: int = checks.positive_integer("num_draws", num_draws)
        self._kept = _Kept(layer)
        self.support, self.factorised = layer.support, layer.factorised

    @property
    def layer(self) -> StochasticLayer:
        """The layer that is averaged."""
        return self._kept.layer

    @property
    def kind(self) -> type[StochasticLayer]:
        return self.layer.kind

    @property
    def ordering(self) -> list[int] | None:
        """Of the layer; None where its units are independent."""
        return getattr(self.layer, "ordering", None)

    @property
    def widest(self) -> int:
        return self.layer.widest * (1 if self.binary else self.num_draws)

    @property
    def widest_drawn(self) -> int:  # unit by unit there is a state for each set of weights
        return self.layer.widest * (1 if self.binary and self.factorised else self.num_draws)

    def build(self, input_shape: Sequence[int | None]) -> None:
        self.parent_units = int(input_shape[-1])
        if not self.layer.built:
            self.layer.build(input_shape)
        self._stacks = []
        for own in self.layer.weights:
            shape = (self.num_draws, *own.shape)
            stack = self.add_weight(name=own.name, shape=shape, initializer="zeros", trainable=own.trainable)
            self._stacks.append(stack)
        self.keep_frozen()
        self.built = True

    def keep_frozen(self) -> None:
        """Gives the weights that the layer does not learn its present values, in every draw."""
        for stack, own in zip(self._stacks, self.layer.weights, strict=True):
            if not own.trainable:
                stack.assign(tf.repeat(tf.convert_to_tensor(own)[tf.newaxis], self.num_draws, 0))

    def at(self, values: Sequence[TensorLike]) -> keras.StatelessScope:
        """A context in which the layer has the weights of one draw, a list of tensors as `draw` gives it."""
        return keras.StatelessScope(state_mapping=list(zip(self.layer.weights, values, strict=True)))

    def stacks(self) -> list[tf.Tensor]:
        """The weights of all draws, a list of tensors (M, …)."""
        return [tf.convert_to_tensor(stack) for stack in self._stacks]

    def unit_logits(self, value: TensorLike | None, parents: TensorLike) -> tf.Tensor:
        parents = self._parents(parents)
        if self.num_draws == 1:
            with self.at([stack[0] for stack in self.stacks()]):
                return self.layer.unit_logits(value, parents)
        stacks = self.stacks()
        batch = tf.shape(parents)[:-1]
        if not self.factorised:
            batch = tf.broadcast_dynamic_shape(batch, tf.shape(value)[:-1])
        nothing = tf.zeros(tf.concat([batch, [self.units]], 0))

        def add(m, sums):
            with self.at([stack[m] for stack in stacks]):
                logits = self.layer.unit_logits(value, parents)
            return m + 1, tuple(tf.ensure_shape(part, nothing.shape) for part in _added(sums, logits))

        _, (ones, zeros) = loops.while_loop(
            lambda m, _: m < self.num_draws, add, (0, (nothing, nothing)), maximum_iterations=self.num_draws
        )
        return tf.math.log(ones) - tf.math.log(zeros)

    def distribution(self, parents: TensorLike) -> Distribution:
        parents = self._parents(parents)
        if isinstance(self.layer, Mixed):
            return self._of_columns(parents)
        if not self.binary:
            return self._of_real_units(parents)
        if self.factorised:
            return IndependentBernoulli(self.unit_logits(None, parents))
        like = tf.zeros(tf.concat([tf.shape(parents)[:-1], [self.units]], 0))
        like = tf.ensure_shape(like, [*parents.shape[:-1], self.units])

        def draw(n, seed):
            shape = tf.concat([[n], tf.shape(like)], 0)
            rows = tf.broadcast_to(parents, tf.concat([shape[:-1], [self.parent_units]], 0))
            rows = tf.reshape(rows, [tf.reduce_prod(shape[:-1]), self.parent_units])
            value = tf.zeros([tf.shape(rows)[0], self.units])
            return tf.reshape(self._complete(value, value > 0, rows, seed)[0], shape)

        return BernoulliByConditionals(like, lambda y: self.unit_logits(y, parents), draw)

    def get_config(self) -> Config:
        config = {name: part for name, part in super().get_config().items() if name not in ("units", "seed")}
        return {**config, "layer": keras.saving.serialize_keras_object(self.layer), "num_draws": self.num_draws}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**{**config, "layer": keras.saving.deserialize_keras_object(config["layer"])})

    def _of_real_units(self, parents):
        def parameters(stacks):
            with self.at(stacks):
                law = self.layer.distribution(parents)
            if not isinstance(law, IndependentNormal):
                raise ValueError(
                    "Real units are averaged where they are IndependentNormal given their parents. "
                    f"Received: {type(self.layer).__name__}, with {type(law).__name__}"
                )
            return law

        stacks = self.stacks()
        first = parameters([stack[0] for stack in stacks])
        if self.num_draws == 1 or not stacks:
            return first

        def at(m):
            law = parameters([stack[m] for stack in stacks])
            return law.mean(), law.stddev()

        loc, scale = loops.map_fn(at, tf.range(self.num_draws), fn_output_signature=(tf.float32, tf.float32))
        shape = [self.num_draws, *parents.shape[:-1], self.units]
        return IndependentNormalMixture(tf.ensure_shape(loc, shape), tf.ensure_shape(scale, shape))

    def _of_columns(self, parents):
        if not self.factorised:
            raise ValueError(
                "Columns are averaged where they are independent given their parents. "
                f"Received: {type(self.layer).__name__} with dependent=True"
            )
        stacks = self.stacks()

        def at(m):
            with self.at([stack[m] for stack in stacks]):
                return self.layer.parameters(parents), *self.layer.shared()

        layout = self.layer.layout
        signature = (tf.float32,) * (1 + len(layout.groups))
        row, *shared = loops.map_fn(at, tf.range(self.num_draws), fn_output_signature=signature)
        row = tf.ensure_shape(row, [self.num_draws, *parents.shape[:-1], layout.parameters])
        return IndependentColumnsMixture(layout, row, shared)

    def _complete(self, value, observed, parents, seed):
        if self.factorised:
            return super()._complete(value, observed, parents, seed)
        return complete_in_order(value, observed, self.ordering, seed, self.units_in_order(parents))

    def units_in_order(self, parents: TensorLike) -> InOrder:
        """What the units are drawn by, see `layers.completing`; parents (n, parent width)."""
        stacks = self.stacks()

        def at(m):
            with self.at([stack[m] for stack in stacks]):
                return self.layer.units_in_order(parents)

        first = at(0)
        if self.num_draws == 1:
            return first
        types = tf.nest.map_structure(lambda part: part.dtype, (first.state, first.constants))
        every = loops.map_fn(lambda m: tuple(at(m)[:2]), tf.range(self.num_draws), fn_output_signature=types)

        def logit(j, state, constants):
            return averaged_logits(first.logit(j, state, constants))

        return InOrder(*every, logit, first.follow)


def averaged_logits(logits: tf.Tensor) -> tf.Tensor:
    """The log-odds of the mean probabilities over the first axis, (M, …) to (…); of one draw as they are."""
    if logits.shape[0] == 1:
        return logits[0]
    ones, zeros = _probabilities(logits)
    return tf.math.log(tf.reduce_sum(ones, 0)) - tf.math.log(tf.reduce_sum(zeros, 0))


def _added(sums, logits):
    return tuple(total + part for total, part in zip(sums, _probabilities(logits)))


def _probabilities(logits):
    """Those of a one and of a zero, both to their own precision."""
    logits = tf.clip_by_value(logits, -_FARTHEST, _FARTHEST)
    e = tf.exp(-tf.abs(logits))
    large = 1.0 / (1.0 + e)
    small, positive = e * large, logits >= 0
    return tf.where(positive, large, small), tf.where(positive, small, large)

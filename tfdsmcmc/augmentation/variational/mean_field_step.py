"""What mean-field and online variational Bayes share: the state, the rows' factors, the bound, and draws of q."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc.augmentation.shared.augmented_step import AugmentedStep
from tfdsmcmc.augmentation.shared.layer_shapes import shape_of
from tfdsmcmc.augmentation.variational import diagonal_covariance, full_covariance, weight_factors
from tfdsmcmc.augmentation.variational.local_factors import LocalModel, Observations, WeightFactor
from tfdsmcmc.augmentation.variational.variational_priors import layer_prior
from tfdsmcmc.rows import as_rows
from tfdsmcmc.training.steps import row_parts

if TYPE_CHECKING:
    from types import ModuleType

    import keras

    from tfdsmcmc._common.types import Nest, Number, Seed
    from tfdsmcmc.augmentation.shared.layer_shapes import LayerShape
    from tfdsmcmc.augmentation.variational.weight_factors import LayerPrior
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.priors.prior import Prior
    from tfdsmcmc.rows.rows import Rows
    from tfdsmcmc.rows.source import RandomAccessSource
    from tfdsmcmc.training.feeding.batch import Batch

Covariance: TypeAlias = Literal["full", "diagonal"]

KINDS: dict[str, ModuleType] = {kind.NAME: kind for kind in (full_covariance, diagonal_covariance)}


class UnitsStart(NamedTuple):
    """Where the means of a row's units start.

    Attributes:
      initial: "random", independent and uniform between 0 and 1, or a draw of the "recognition" network.
      burn_in: rounds over the factors of a row from there, at the weights with which a run begins.
    """

    initial: str = "random"
    burn_in: int = 0


class VariationalState(NamedTuple):
    """The factors, and what they move by.

    Attributes:
      weights: list of tensors, the means of θ.
      covariances: list of the covariances of each layer that learns, as wrapped diagonals, or variances (J, P).
      scales: list of the states of each layer's `LayerPrior`.
      sums: list of statistics or natural parameters of each layer, as the subclass has them.
      bound: float64 scalar, what the bound has of the weights and their scales.
      updates: int64 scalar, how often the weights have moved.
      units: list of (N, K_l), the means of each row's latent units, nearest to the data first.
    """

    weights: list[tf.Tensor]
    covariances: list[tf.Tensor]
    scales: list[Nest]
    sums: list[Nest]
    bound: tf.Tensor
    updates: tf.Tensor
    units: list[tf.Tensor] | None


class VariationalStep(AugmentedStep):
    """Base class: a subclass defines `_no_sums` and `_global_update`.

    Args:
      generative: `GenerativeNetwork` of layers SBN and DARN.
      recognition: `RecognitionNetwork`.
      prior: `Prior`.
      covariance: "full" or "diagonal".
      rounds: over the factors of a row.
      start: `UnitsStart`; by default at random and without a burn-in.
    """

    rounds: int
    start: UnitsStart
    metric_names: tuple[str, ...] = ("bound",)
    per_row: tuple[str, ...] = ("units",)

    def __init__(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        prior: Prior,
        covariance: Covariance,
        rounds: int,
        start: UnitsStart | None = None,
    ):
        super().__init__(generative, recognition)
        if generative.context is not None and not generative.context.support.bits:
            raise ValueError(
                "Variational Bayes takes parents for zeros and ones: a context of labels, or polya_gamma_gibbs, which "
                f"takes real covariates too. Received: a network with {generative.context}"
            )
        self.rounds, self.start = rounds, start or UnitsStart()
        self.kind: ModuleType = KINDS[covariance]
        # kept here, for a layer may be frozen later; the data's layer first in all lists of layers
        named = generative.named_weights
        self.variables: list[keras.Variable] = [variable for _, variable in named]
        names = {id(variable): name for name, variable in named}
        layers = generative.layers[::-1]
        self.shapes: list[LayerShape] = [shape_of(layer) for layer in layers]
        self.local: LocalModel = LocalModel(self.shapes, self.kind)
        self._layers = layers
        # a partial, as TensorFlow warns where one function's code is traced for many models
        self._start = tf.function(functools.partial(self._start_units), autograph=False)
        self.learnt: list[int] = [place for place, layer in enumerate(layers) if layer.trainable_variables]
        self._parts, first = {}, 0  # of the list of the weights, whose top layer is first
        for place in reversed(self.learnt):
            count = 3 if self.shapes[place].lateral else 2
            self._parts[place], first = slice(first, first + count), first + count
        self.priors: list[LayerPrior] = [
            layer_prior(prior, self.shapes[place], [names[id(v)] for v in layers[place].trainable_variables])
            for place in self.learnt
        ]

    def init(
        self,
        rows: RandomAccessSource | None,
        seed: Seed,
        weights: Sequence[tf.Tensor],
        num_rows: Number = 1.0,
        state: VariationalState | None = None,
    ) -> VariationalState:
        if state is None:
            state = self._first_state(weights)
        units = state.units
        if rows is not None or units is None:
            none = [np.zeros((0, width), np.float32) for width in self.generative.latent_units]
            factors = self.factors(state._replace(weights=list(weights)))
            units = row_parts.started(self._start, none, rows, factors, random.stream(seed, "units"))
        return state._replace(weights=list(weights), units=units)

    def step(self, state: VariationalState, batch: Batch, seed: Seed) -> tuple[VariationalState, dict[str, tf.Tensor]]:
        before = row_parts.of_rows(state.units, batch.index)
        counted = tf.cast(batch.counted, tf.float32)
        rows = observations(batch.rows)
        factors, bounds = self.local.fit(self.factors(state), rows, before, self.rounds)
        per_row = tf.reduce_sum(counted * bounds) / tf.reduce_sum(counted)
        metrics = {"bound": per_row + tf.cast(state.bound, tf.float32) / batch.num_rows}
        # what fills up the last minibatch was fitted before in this pass
        units = [tf.where(counted[:, tf.newaxis] > 0, new, old) for new, old in zip(factors.units, before)]
        state = self._global_update(state, self._for_weights(rows, factors, counted), batch)
        return state._replace(units=row_parts.with_rows(state.units, batch.index, units)), metrics

    def metric_weight(self, batch: Batch) -> tf.Tensor:
        return tf.reduce_sum(tf.cast(batch.counted, tf.float64))

    def factors(self, state: VariationalState) -> list[WeightFactor]:
        """List of `WeightFactor`, q(w_j) of each layer; a frozen layer has no variance."""
        means = self._vectors(state.weights)
        covariances = dict(zip(self.learnt, state.covariances))
        found = []
        for place, (shape, mean) in enumerate(zip(self.shapes, means)):
            still = self.kind.initial(mean, 0.0, shape.mask) if place not in covariances else None
            found.append(WeightFactor(mean, covariances.get(place, still)))
        return found

    def posterior_draw(self, state: VariationalState, seed: Seed) -> list[tf.Tensor]:
        """Weights drawn from q, as `variables`."""
        factors, drawn = self.factors(state), {}
        for place in self.learnt:
            mean, covariance = factors[place]
            normal = random.normal(mean.shape, random.fold(seed, place))
            drawn[place] = self.kind.draw(mean, covariance, normal)
        return self._weights(drawn)

    def _no_sums(self, place, precision):
        """The statistics or natural parameters with which a layer begins."""
        raise NotImplementedError(f"{type(self).__name__} must define _no_sums(place, precision).")

    def _global_update(self, state, statistics, batch):
        """The state after the weights have seen the rows of a batch, by what `_for_weights` gives."""
        raise NotImplementedError(f"{type(self).__name__} must define _global_update(state, statistics, batch).")

    def _first_state(self, weights):
        vectors = self._vectors(weights)
        factors = [
            WeightFactor(vectors[p], self.kind.initial(vectors[p], weight_factors.VARIANCE, self.shapes[p].mask))
            for p in self.learnt
        ]
        second = [weight_factors.second_moments(self.kind, factor) for factor in factors]
        scales = [prior.initial(part) for prior, part in zip(self.priors, second)]
        pairs = zip(self.learnt, self.priors, scales)
        sums = [self._no_sums(place, prior.precision(own, tf.float32)) for place, prior, own in pairs]
        log_dets = [self.kind.log_det(part.covariance, self.shapes[p].mask) for p, part in zip(self.learnt, factors)]
        bound = self._weights_bound(scales, second, log_dets)
        covariances = [factor.covariance for factor in factors]
        updates = tf.zeros([], tf.int64)
        return VariationalState(list(weights), covariances, scales, sums, bound, updates, None)

    def _moved(self, state, sums, moved):
        """The state with the weights of each layer moved, and then their scales.

        Args:
          state: `VariationalState`.
          sums: the new `sums`.
          moved: list of (μ, covariance, ln det) of each layer that learns.
        """
        means, covariances, log_dets = (list(parts) for parts in zip(*moved))
        factors = [WeightFactor(*pair) for pair in zip(means, covariances)]
        second = [weight_factors.second_moments(self.kind, factor) for factor in factors]
        scales = [prior.update(own, part) for prior, own, part in zip(self.priors, state.scales, second)]
        return state._replace(
            weights=self._weights(dict(zip(self.learnt, means))),
            covariances=covariances,
            scales=scales,
            sums=sums,
            bound=self._weights_bound(scales, second, log_dets),
            updates=state.updates + 1,
        )

    def _weights_bound(self, scales, second, log_dets):
        total = tf.zeros([], tf.float64)
        for place, prior, own, part, log_det in zip(self.learnt, self.priors, scales, second, log_dets, strict=True):
            total += prior.bound(own, part)
            total += tf.cast(self.kind.entropy(log_det, self.shapes[place].mask), tf.float64)
        return total

    def _for_weights(self, rows, factors, counted):
        """(γ̄, ȳ − ½, r̄) of each layer that learns; 0 for rows that do not count."""
        counted = counted[:, tf.newaxis]
        gammas, targets = self.local.gammas(rows, factors.tilts), self.local.targets(rows, factors.units)
        r = self.local.regressors(rows, factors.units)
        return [(gammas[place] * counted, targets[place] * counted, r[place]) for place in self.learnt]

    def _vectors(self, weights):
        """The vectors w_j of each layer, (J, P), the data's first."""
        found = []
        for place, (shape, layer) in enumerate(zip(self.shapes, self._layers)):
            if place in self._parts:
                kernel, bias, *lateral = weights[self._parts[place]]
            else:
                kernel, bias = layer.kernel.value, layer.bias.value
                lateral = [layer.lateral.value] if shape.lateral else []
            found.append(shape.vectors([kernel, bias, *lateral]))
        return found

    def _weights(self, vectors):
        """The weights as `variables` of the vectors of the layers that learn, a dict by place."""
        return [part for place in reversed(self.learnt) for part in self.shapes[place].weights(vectors[place])]

    def _start_units(self, factors, x, seed):
        """The means with which some rows begin."""
        rows, widths = as_rows(x), self.generative.latent_units
        if not widths:
            return []
        if self.start.initial == "recognition":
            units = [part[0] for part in self.recognition.sample(x, 1, seed)]
        else:
            units = random.open_uniforms(tf.shape(rows.values)[0], widths, seed)
        seen = observations(rows)

        def fitted(i, *units):
            return i + 1, *self.local.fit(factors, seen, list(units), 1)[0].units

        return list(loops.while_loop(lambda i, *_: i < self.start.burn_in, fitted, (tf.constant(0), *units))[1:])


def observations(rows: Rows) -> Observations:
    """`Observations` of `Rows`."""
    known = None if rows.observed is None else tf.cast(rows.observed, tf.float32)
    values = tf.cast(rows.values, tf.float32)
    return Observations(values, known, values[:, :0] if rows.context is None else rows.context)

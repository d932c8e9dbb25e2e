"""Gibbs sampling of the weights and units of sigmoid belief networks by Pólya-Gamma augmentation.

A pass over the N rows, in blocks, at the weights θ that the last pass drew:

    z_n  unit by unit given x_n and θ, the augmentation summed out        (`gibbs_sweeps`)
    γ_nj ~ PG(1, ψ_nj) for each unit j of each layer, and the sums of `regressions`

and at its end

    w_j ~ N(Λ_j⁻¹ b_j, Λ_j⁻¹) for each unit j of each layer: its weights, bias and lateral weights together
    λ given θ, the scales of the prior's mixtures of normal laws          (`normal_mixtures`)

Each is a draw from a conditional law, or leaves it invariant, so the passes leave p(θ, λ, z given X) invariant. The γ
are drawn after the units and used for the weights alone, which is what allows them to be summed out before. No step
size, no recognition network and no gradient take part. Memory holds the units, a byte each, and the sums, J R²/2
numbers for a layer of J units with R regressors, whatever N.

Sources: Gan, Henao, Carlson and Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS 2015,
section 3.1. There the units are drawn given γ, and weights and biases apart; the rest is as there, with the shared
biases' γ as `regressions` says.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc.augmentation.gibbs.normal_mixtures import NormalMixtures
from tfdsmcmc.augmentation.gibbs.regressions import Regression, gammas
from tfdsmcmc.augmentation.shared.augmented_step import AugmentedStep
from tfdsmcmc.augmentation.shared.labels import without_labels
from tfdsmcmc.latents import Gibbs
from tfdsmcmc.networks import data_log_prob, evaluated_at
from tfdsmcmc.rows import as_rows
from tfdsmcmc.sweeps.gibbs import generative_factors, sweep
from tfdsmcmc.training.steps import row_parts
from tfdsmcmc.training.steps.step_method import StepMethod

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config, Number, Seed
    from tfdsmcmc.augmentation.gibbs.regressions import Sums
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.priors.prior import Prior
    from tfdsmcmc.rows.source import RandomAccessSource
    from tfdsmcmc.training.feeding.batch import Batch
    from tfdsmcmc.training.steps.step import Step


class GibbsState(NamedTuple):
    """What a pass moves.

    Attributes:
      weights: list of tensors, θ.
      auxiliary: list of lists of tensors, the scales of each weight's prior.
      sums: list of `Sums`, of each layer that learns, over the rows of the pass so far.
      units: list of (N, H_l) uint8, z of each row, nearest to the data first.
    """

    weights: list[tf.Tensor]
    auxiliary: list[list[tf.Tensor]]
    sums: list[Sums]
    units: list[tf.Tensor]


@keras.saving.register_keras_serializable("tfdsmcmc")
class PolyaGammaGibbs(StepMethod):
    """Gibbs sampling by Pólya-Gamma augmentation, for networks of SBN and DARN layers.

    Each epoch of `fit` is a sweep over the weights and all rows, and its draw a sample of the posterior. Priors are
    `Normal`, `StudentT` and shrinkage priors. The batch size only says how many rows are worked off at a time: some
    hundreds suit.

    Args:
      sweeps: Gibbs sweeps over the units of a row in a pass.
      initial: where the units of a row start: at a draw of the "prior" p(z; θ), or of the "recognition" network.
      burn_in: sweeps over the units before the first pass; the first draw of weights that had learnt before, such as by
        `pretrain`, is lost to units that do not fit them.

    Raises:
      ValueError: for a count out of range, or another start.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> model = ds.DeepGenerativeModel(
    ...     generative=ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.SBN(4)]),
    ...     recognition=ds.RecognitionNetwork([ds.layers.SBN(2)]),
    ... )
    >>> model.compile(**ds.methods.polya_gamma_gibbs(), jit_compile=False)
    >>> history = model.fit(np.eye(4), epochs=2, verbose=0)
    >>> sorted(history.history)
    ['log_joint', 'log_prob_given_units']
    """

    def __init__(
        self,
        sweeps: int = 1,
        initial: Literal["prior", "recognition"] = "prior",
        burn_in: int = 0,
    ):
        self.sweeps: int = checks.positive_integer("sweeps", sweeps)
        self.start: Gibbs = Gibbs(burn_in=burn_in, initial=initial)

    def step_for(self, generative: GenerativeNetwork, recognition: RecognitionNetwork, prior: Prior) -> Step:
        return PolyaGammaGibbsStep(generative, recognition, prior, self.sweeps, self.start)

    def get_config(self) -> Config:
        start = {"initial": self.start.initial, "burn_in": self.start.burn_in}
        return {"sweeps": self.sweeps, **start}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**without_labels(config))


class PolyaGammaGibbsStep(AugmentedStep):
    """A block of rows; at the end of a pass the weights move.

    Metrics: `log_joint`, log p(x, z; θ) (given the context, if there is one), and `log_prob_given_units`, log p(x given
    z; θ), nats a row, at the units drawn and the weights that they were drawn with.

    Args:
      generative: `GenerativeNetwork`.
      recognition: `RecognitionNetwork`.
      prior: `Prior`.
      sweeps: over the units of a row in a pass.
      start: `latents.Gibbs`, which starts the units of a row.
    """

    names: list[str]
    variables: list[keras.Variable]
    metric_names: tuple[str, ...] = ("log_joint", "log_prob_given_units")
    per_row: tuple[str, ...] = ("units",)
    needs_passes = True

    def __init__(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        prior: Prior,
        sweeps: int = 1,
        start: Gibbs | None = None,
    ):
        super().__init__(generative, recognition)
        self.sweeps = sweeps
        # kept here, for a layer may be frozen later
        self.names, self.variables = (list(parts) for parts in zip(*generative.named_weights))
        self.mixtures: NormalMixtures = NormalMixtures(prior, self.names)
        layers = [layer for layer in generative.layers if layer.trainable_variables]
        self.regressions: list[Regression] = [Regression(layer) for layer in layers]
        self._places = [generative.layers[::-1].index(layer) for layer in layers]  # among [x, z_1, …, z_L]
        self._factors = generative_factors(generative)
        self._chain = start or Gibbs(burn_in=0, initial="prior")
        self._start = tf.function(self._started, autograph=False)

    def init(
        self,
        rows: RandomAccessSource | None,
        seed: Seed,
        weights: Sequence[tf.Tensor],
        num_rows: Number = 1.0,
        state: GibbsState | None = None,
    ) -> GibbsState:
        if state is None:
            auxiliary = self.mixtures.initial_auxiliary(list(weights), random.stream(seed, "auxiliary"))
            sums, units = [regression.no_sums() for regression in self.regressions], None
        else:
            auxiliary, sums, units = state[1:]
        if rows is not None or units is None:
            none = [np.zeros((0, width), np.uint8) for width in self.generative.latent_units]
            units = row_parts.started(self._start, none, rows, weights, random.stream(seed, "units"))
        return GibbsState(list(weights), auxiliary, sums, units)

    def step(self, state: GibbsState, batch: Batch, seed: Seed) -> tuple[GibbsState, dict[str, tf.Tensor]]:
        unit_seed, gamma_seed, draw_seed = tf.unstack(random.split(seed, 3))
        before = row_parts.of_rows(state.units, batch.index)
        counted = batch.counted[:, tf.newaxis]
        with evaluated_at(self.variables, state.weights):
            values = [batch.rows, *(tf.cast(part, tf.float32) for part in before)]
            values = self._swept(values, unit_seed)
            sums = self._added(state.sums, values, batch, gamma_seed)
            metrics = self._metrics(values, batch)
        # what fills up the last batch was drawn before in this pass, and its first draw is among the sums
        units = [tf.where(counted, tf.cast(new, tf.uint8), old) for new, old in zip(values[1:], before)]
        weights, auxiliary = tf.cond(
            batch.ends_pass,
            lambda: self._drawn(state, sums, draw_seed),
            lambda: (list(state.weights), list(state.auxiliary)),
        )
        units = row_parts.with_rows(state.units, batch.index, units)
        return GibbsState(weights, auxiliary, sums, units), metrics

    def _started(self, weights, x, seed):
        with evaluated_at(self.variables, weights):
            z = self._chain.start(self.generative, self.recognition, x, seed)
        return [tf.cast(part, tf.uint8) for part in z]

    def _swept(self, values, seed):
        """[x, z_1, …, z_L] after the sweeps over the units, from the data upwards."""
        for number in range(self.sweeps):
            for place in range(1, len(self._factors)):
                values[place] = sweep(self._factors, values, place, random.fold(seed, number * len(values) + place))
        return values

    def _added(self, sums, values, batch, seed):
        """The sums with those of a block, from 0 where a pass begins."""
        rows, counted = values[0], tf.cast(batch.counted, tf.float32)[:, tf.newaxis]
        observed = counted if rows.complete else counted * tf.cast(rows.observed, tf.float32)
        # what stands above the last layer is its parents
        top = tf.zeros([tf.shape(counted)[0], 0]) if rows.context is None else rows.context
        values = [rows.values, *values[1:], top]
        pairs = [(values[place], values[place + 1]) for place in self._places]  # child and parents
        logits = [regression.logits(*pair) for regression, pair in zip(self.regressions, pairs, strict=True)]
        parts = zip(self.regressions, sums, pairs, self._places, gammas(logits, seed), strict=True)
        added = []
        for regression, part, pair, place, gamma in parts:
            fresh = tf.nest.map_structure(lambda total: tf.where(batch.begins_pass, tf.zeros_like(total), total), part)
            added.append(regression.added(fresh, *pair, counted if place else observed, gamma))
        return added

    def _drawn(self, state, sums, seed):
        """(weights, auxiliary tensors) of the next pass."""
        *seeds, scale_seed = tf.unstack(random.split(seed, len(self.regressions) + 1))
        laws, weights = self.mixtures.laws(state.auxiliary), []
        for regression, part, part_seed in zip(self.regressions, sums, seeds, strict=True):
            first = len(weights)
            weights += regression.draw(part, laws[first : first + len(regression.variables)], part_seed)
        return weights, self.mixtures.update_auxiliary(weights, state.auxiliary, scale_seed)

    def _metrics(self, values, batch):
        counted, top = tf.cast(batch.counted, tf.float32), self.generative.top_parents(batch.rows)
        # of each layer given its parents, the data first
        parts = [
            data_log_prob(each.layer, as_rows(values[each.child]), top if each.parent is None else values[each.parent])
            for each in self._factors
        ]
        # so that the mean over the batches of a pass is that over its rows, however few the last batch has
        batches = tf.math.ceil(batch.num_rows / tf.cast(tf.shape(counted)[0], tf.float32))
        totals = {"log_joint": tf.add_n(parts), "log_prob_given_units": parts[0]}
        return {name: tf.reduce_sum(counted * value) * batches / batch.num_rows for name, value in totals.items()}

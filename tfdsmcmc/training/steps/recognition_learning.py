"""How the recognition network learns within a step: the objective of a proposal, climbed by its optimizer.

φ and the optimizer are Keras variables, which are assigned inside the compiled loop.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import optimizing
from tfdsmcmc._common.finite import all_finite
from tfdsmcmc.mcmc.schedules import ByUnits
from tfdsmcmc.networks import evaluated_at
from tfdsmcmc.rows import as_rows
from tfdsmcmc.rows.source import RandomAccessSource

if TYPE_CHECKING:
    import keras

    from tfdsmcmc._common.types import Nest, Seed, TensorLike
    from tfdsmcmc.proposals.base import Proposal
    from tfdsmcmc.rows.rows import Rows
    from tfdsmcmc.rows.source import Source
    from tfdsmcmc.training.steps.fisher_identity import FisherIdentity

_LOOKED_AT = 1000  # rows, whose spread is that of all
_SERVED = weakref.WeakKeyDictionary()  # the variables that an optimizer updates, as weak references


class RecognitionLearning:
    """Updates of φ, and of what the proposal learns for itself.

    Args:
      estimator: `FisherIdentity`, whose networks these are and whose draws the proposal learns from.
      proposal: of the objective and its optimizer.
      steps: φ-updates for each group of θ-updates.

    Attributes:
      row_spread: variable of the spread of the rows, 0 as long as it is not known; None where no rate goes by it, or
        by one that is given.

    Raises:
      ValueError: for an optimizer that was built for other variables.
    """

    estimator: FisherIdentity
    proposal: Proposal
    steps: int

    def __init__(self, estimator: FisherIdentity, proposal: Proposal, steps: int = 1):
        self.estimator, self.proposal, self.steps = estimator, proposal, steps
        proposal.build(estimator.generative.seen_units)
        _build(proposal.optimizer, self.variables)
        self.row_spread: tf.Variable | None = _told_rate(proposal.optimizer, estimator.recognition)
        self._looked_at = -1

    def by(self, estimator: FisherIdentity) -> RecognitionLearning:
        """The same updates from the draws of another estimator over the same networks."""
        learning = copy.copy(self)
        learning.estimator = estimator
        return learning

    def look_at(self, rows: Source, steps: int) -> None:
        """Tells a rate that goes by the spread of the rows what it is, in the first fit alone.

        Args:
          rows: of a fit.
          steps: that the run has made; with the spread that it knew then it goes on.
        """
        if self.row_spread is None or not isinstance(rows, RandomAccessSource):
            return
        if float(self.row_spread) > 0.0 and steps not in (0, self._looked_at):
            return
        self._looked_at = steps
        some = rows.take(_places(rows.num_rows))
        seen = self.estimator.recognition.seen(some.floats())
        self.row_spread.assign(_spread(np.asarray(seen, np.float64), some.weight))

    @property
    def variables(self) -> list[keras.Variable]:
        """What the optimizer updates."""
        return [*self.estimator.recognition.trainable_variables, *self.proposal.trainable_variables]

    @property
    def assigned(self) -> list[keras.Variable | tf.Variable]:
        """What an update assigns: φ, and what the optimizer and the proposal keep."""
        rate = self.proposal.optimizer.learning_rate  # which callbacks set
        kept = [variable for variable in self.proposal.optimizer.variables if variable is not rate]
        assigned = [*self.variables, *self.proposal.variables, *kept]
        return list({id(variable): variable for variable in assigned}.values())

    def gradient(
        self,
        weights: Sequence[tf.Tensor],
        x: TensorLike | Rows,
        draws: Nest,
        carry: Nest,
        seed: Seed,
    ) -> list[tf.Tensor]:
        """The gradient by which the optimizer descends, at the weights θ of one chain."""
        generative, recognition = self.estimator.generative, self.estimator.recognition
        draw_seed, surrogate_seed = tf.unstack(random.split(seed))
        values = [variable.value for variable in self.variables]
        with tf.GradientTape(watch_accessed_variables=False) as tape:
            tape.watch(values)
            with evaluated_at(generative.trainable_variables, weights):
                if self.proposal.redraw:
                    with tape.stop_recording():
                        draws, _ = self.estimator.draw(weights, x, carry, draw_seed)
                rows = _filled(draws, x)
                loss = -self.proposal.surrogate(generative, recognition, rows, draws, surrogate_seed)
        return tape.gradient(loss, values, unconnected_gradients="zero")

    def update(self, gradient: Callable[[], Sequence[tf.Tensor]], allowed: tf.Tensor) -> tf.Tensor:
        """One step of the optimizer, if its gradient and all that it changes are finite; else nothing changes.

        Args:
          gradient: function of nothing that gives the gradient; what it assigns, such as running means of the proposal,
            is part of the update.
          allowed: boolean scalar, False for no update whatever the gradient.

        Returns:
          Boolean scalar, whether the update was made.
        """
        assigned = self.assigned
        before = [tf.convert_to_tensor(variable) for variable in assigned]
        gradients = gradient()
        optimizing.apply(self.proposal.optimizer, gradients, self.variables)
        after = [tf.convert_to_tensor(variable) for variable in assigned]
        made = allowed & all_finite([*gradients, *after])
        for variable, new, old in zip(assigned, after, before):
            variable.assign(tf.where(made, new, old))
        return made


def _filled(draws, x):
    """The rows as the draws have filled them, where there are gaps; else as they are."""
    if not hasattr(draws, "x"):
        return x
    rows = as_rows(draws.x).map(lambda part: part[-1])
    return rows._replace(weight=as_rows(x).weight).plain


def _build(optimizer, variables):
    """Builds an optimizer, or refuses one whose state belongs to others; Keras would fail in the middle of a step."""
    served = [known() for known in _SERVED.get(optimizer, [])]
    if optimizer.built and not all(any(variable is known for known in served) for variable in variables):
        raise ValueError(
            "The optimizer of a proposal must be new, or have served these variables before. "
            f"Received: {optimizer.name!r}, built for others"
        )
    if not optimizer.built:
        optimizer.build(variables)
        _SERVED[optimizer] = [weakref.ref(variable) for variable in variables]


def _told_rate(optimizer, recognition):
    """Tells a rate by units how many latent units there are; returns the variable of the spread that it reads.

    Keras gives away the value of a rate alone, and no schedule.
    """
    optimizer = getattr(optimizer, "inner_optimizer", optimizer)  # of one that scales the loss
    rate, latent_units = getattr(optimizer, "_learning_rate", None), sum(recognition.latent_units)
    if not isinstance(rate, ByUnits) or latent_units == 0:  # a model of visible units alone has none
        return None
    given = None if isinstance(rate.row_spread, tf.Variable) else rate.row_spread
    if rate.spread is None or given:
        optimizer.learning_rate = rate.over(latent_units, given)
        return None
    spread = tf.Variable(0.0, trainable=False, name="row_spread")
    optimizer.learning_rate = rate.over(latent_units, spread)
    return spread


def _places(num_rows):
    """The numbers of some of the rows, in order: a sample of them, as rows that are evenly spaced may be alike."""
    if num_rows <= _LOOKED_AT:
        return np.arange(num_rows)
    return np.sort(np.random.default_rng(0).choice(num_rows, _LOOKED_AT, replace=False))


def _spread(x, weight):
    """Σ_i min(1, E |x_i − E x_i|) of rows (n, D), each as often as its weight (n, 1) says if there is one."""
    weight = None if weight is None else np.broadcast_to(weight, x.shape)
    if weight is not None and not weight.any():
        return 0.0
    away = np.abs(x - np.average(x, 0, weight))
    return float(np.minimum(1.0, np.average(away, 0, weight)).sum())

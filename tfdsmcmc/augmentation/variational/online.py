"""Online variational Bayes: stochastic natural gradients of the mean-field bound.

The factors of a minibatch's rows are fitted, several rounds, and from their statistics, scaled by N/B, comes the best
λ̂ of the natural parameters of each q(w_j), as if all rows were like these. Then

    λ ← (1 − ρ_t) λ + ρ_t λ̂

at a fixed rate, or one of Robbins and Monro, ρ_t = (t + τ)^(−κ) with κ in (½, 1]:
`mcmc.schedules.PolynomialDecay(tau**-kappa, offset=tau, power=kappa)`. A last minibatch of a pass, with n < B rows, has
n/B of the rate, so that each row has the same say. λ begins as the prior's. The scales of the
priors, which no row enters, have one round of updates given q(w). With all rows in the minibatch and ρ = 1 this is
mean-field variational Bayes.

Sources: Hoffman, Blei, Wang and Paisley, "Stochastic variational inference", Journal of Machine Learning Research 14
(2013); Gan, Henao, Carlson and Carin, AISTATS 2015, sections 3.2 and 5.1 (B = 5,000, ρ = 0.1).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc._common import checks
from tfdsmcmc.augmentation.variational.mean_field_step import VariationalStep
from tfdsmcmc.augmentation.variational.variational_method import VariationalMethod

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, LearningRate
    from tfdsmcmc.augmentation.variational.mean_field_step import Covariance
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.priors.prior import Prior
    from tfdsmcmc.training.steps.step import Step

# steps at which a schedule is looked at: the first ones, and up to a million at distances of some hundredth parts
_STEPS = np.unique(np.concatenate([np.arange(100), np.geomspace(100, 10**6, 1000).round()])).astype(int).tolist()


@keras.saving.register_keras_serializable("tfdsmcmc")
class OnlineVB(VariationalMethod):
    """Online variational Bayes, for networks of SBN and DARN layers.

    The metric `bound`, nats a row, estimates the evidence lower bound on log p(X)/N from the minibatches, at the
    weights before they have learnt from them. Each row of the data keeps the means of its latent units.

    Args:
      rate: ρ, in (0, 1], or a Keras schedule with such values; it is looked at up to step 10⁶.
      covariance: "full", a covariance of all weights of a unit, or "diagonal".
      rounds: over the factors of a row, each time that it is read.
      initial: where the means of a row's units start: "random", or at a draw of the "recognition" network.
      burn_in: rounds over the factors of a row from there, before the first pass. From weights that have learnt before,
        such as by `pretrain` or an optimizer, the first update is lost to units that do not fit them; some ten rounds
        suit. Fresh weights are small, and units that fit them are alike: they need random ones.

    Raises:
      ValueError: for a rate outside of (0, 1], another covariance or start, counts out of range.

    Example:

    >>> import tfdsmcmc as ds
    >>> ds.augmentation.OnlineVB(rate=0.1).get_config()["rounds"]
    4
    """

    def __init__(
        self,
        rate: LearningRate = 0.1,
        covariance: Covariance = "full",
        rounds: int = 4,
        initial: Literal["random", "recognition"] = "random",
        burn_in: int = 0,
    ):
        self.rate: float | keras.optimizers.schedules.LearningRateSchedule = _checked(rate)
        super().__init__(covariance, rounds, initial, burn_in)

    def step_for(self, generative: GenerativeNetwork, recognition: RecognitionNetwork, prior: Prior) -> Step:
        return OnlineStep(generative, recognition, prior, *self.of_step, rate=self.rate)

    def get_config(self) -> Config:
        rate = self.rate
        if not isinstance(rate, float):
            rate = keras.saving.serialize_keras_object(rate)
        return {"rate": rate, **super().get_config()}


class OnlineStep(VariationalStep):
    """A minibatch, after which the weights move. `sums` are the natural parameters of each layer's q(w).

    Args:
      generative: `GenerativeNetwork`.
      recognition: `RecognitionNetwork`.
      prior: `Prior`.
      covariance: "full" or "diagonal".
      rounds: over the factors of a row.
      start: `UnitsStart`.
      rate: ρ, a number or a schedule.
    """

    def __init__(self, *arguments: Any, rate: LearningRate, **options: Any):
        super().__init__(*arguments, **options)
        self.rate = rate

    def _no_sums(self, place, precision):
        return self.kind.initial_naturals(precision)

    def _global_update(self, state, statistics, batch):
        rate = self.rate if isinstance(self.rate, float) else tf.cast(self.rate(state.updates), tf.float32)
        count = tf.reduce_sum(tf.cast(batch.counted, tf.float32))
        rate *= count / tf.cast(tf.shape(batch.counted)[0], tf.float32)
        scale = batch.num_rows / count
        factors, sums, moved = self.factors(state), [], []
        for place, prior, own, naturals, parts in zip(
            self.learnt, self.priors, state.scales, state.sums, statistics, strict=True
        ):
            precision, mask = prior.precision(own, tf.float32), self.shapes[place].mask
            naturals, *parameters = self.kind.online_update(
                naturals, *parts, precision, factors[place].mean, mask, scale, rate
            )
            sums.append(naturals)
            moved.append(parameters)
        return self._moved(state, sums, moved)


def _checked(rate):
    """The rate as a number or a schedule."""
    if isinstance(rate, dict):
        rate = keras.saving.deserialize_keras_object(rate)
    if isinstance(rate, keras.optimizers.schedules.LearningRateSchedule):
        values = [float(rate(step)) for step in _STEPS]
    else:
        rate = float(checks.positive_number("rate", rate))
        values = [rate]
    wrong = [value for value in values if not 0 < value <= 1]
    if wrong:
        raise ValueError(f"rate must lie in (0, 1]. Received: rate={rate!r}, with the value {wrong[0]}")
    return rate

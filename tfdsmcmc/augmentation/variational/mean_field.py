"""Mean-field variational Bayes for sigmoid belief networks by Pólya-Gamma augmentation.

    q = Π_j q(w_j) Π_n q(z_n) Π_jn q(γ_jn) q(scales of the prior)

maximises the evidence lower bound on log p(X), the weights integrated out, one factor after the other. A pass over the
rows, in blocks, fits the factors of each row (`local_factors`) and sums statistics; at its end move q(w_j)
(`full_covariance`, `diagonal_covariance`) and the scales (`scale_factors`, `grid_scales`). Each of these moves is to
the best value given the others, so the bound never falls from pass to pass, but for rounding. Memory holds K numbers
for each row, and J P² for each layer, covariances and statistics, whatever N.

The weight of a unit's bias is one of w_j here; published is a factor of its own for it, whose bound is looser.

Source: Gan, Henao, Carlson and Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS 2015,
section 3.2.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import keras
import tensorflow as tf

from tfdsmcmc.augmentation.variational.mean_field_step import VariationalStep
from tfdsmcmc.augmentation.variational.variational_method import VariationalMethod

if TYPE_CHECKING:
    from tfdsmcmc.augmentation.variational.mean_field_step import Covariance
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.priors.prior import Prior
    from tfdsmcmc.training.steps.step import Step


@keras.saving.register_keras_serializable("tfdsmcmc")
class MeanFieldVB(VariationalMethod):
    """Mean-field variational Bayes, for networks of SBN and DARN layers.

    Each epoch of `fit` is an update of all factors; the metric `bound`, nats a row, is the evidence lower bound on
    log p(X)/N, with the weights integrated out, at the weights with which the epoch began. The model's weights are the
    means of q; `posterior.Collector` keeps draws from q. The batch size says only how many rows are worked off at a
    time: some hundreds suit.

    Args:
      covariance: "full", a covariance of all weights of a unit, or "diagonal".
      rounds: over the factors of a row in a pass.
      initial: where the means of a row's units start: "random", or at a draw of the "recognition" network.
      burn_in: rounds over the factors of a row from there, before the first pass. From weights that have learnt before,
        such as by `pretrain` or an optimizer, the first update is lost to units that do not fit them; some ten rounds
        suit. Fresh weights are small, and units that fit them are alike: they need random ones.

    Raises:
      ValueError: for another covariance or start, or a count out of range.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> model = ds.DeepGenerativeModel(
    ...     generative=ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.SBN(4)]),
    ...     recognition=ds.RecognitionNetwork([ds.layers.SBN(2)]),
    ... )
    >>> model.compile(**ds.methods.vb(), jit_compile=False)
    >>> history = model.fit(np.eye(4), epochs=3, verbose=0)
    >>> first, *_, last = history.history["bound"]
    >>> first < last
    True
    """

    def __init__(
        self,
        covariance: Covariance = "full",
        rounds: int = 1,
        initial: Literal["random", "recognition"] = "random",
        burn_in: int = 0,
    ):
        super().__init__(covariance, rounds, initial, burn_in)

    def step_for(self, generative: GenerativeNetwork, recognition: RecognitionNetwork, prior: Prior) -> Step:
        return MeanFieldStep(generative, recognition, prior, *self.of_step)


class MeanFieldStep(VariationalStep):
    """A block of rows; at the end of a pass the weights move. `sums` are statistics of the pass, and its rows."""

    needs_passes = True

    def _no_sums(self, place, precision):
        return self.kind.no_sums(precision), tf.zeros_like(precision), tf.zeros([])

    def _global_update(self, state, statistics, batch):
        count = tf.reduce_sum(tf.cast(batch.counted, tf.float32))
        fresh = [(*self.kind.statistics(*parts), count) for parts in statistics]
        sums = tf.nest.map_structure(
            lambda total, part: tf.where(batch.begins_pass, part, total + part), state.sums, fresh
        )
        state = state._replace(sums=sums)
        return tf.cond(batch.ends_pass, lambda: self._end_of_pass(state, batch.num_rows), lambda: state)

    def _end_of_pass(self, state, num_rows):
        factors, moved = self.factors(state), []
        for place, prior, own, (*sums, count) in zip(self.learnt, self.priors, state.scales, state.sums, strict=True):
            scaled = [part * (num_rows / count) for part in sums]
            precision = prior.precision(own, tf.float32)
            moved.append(self.kind.update(scaled, precision, factors[place].mean, self.shapes[place].mask))
        return self._moved(state, state.sums, moved)

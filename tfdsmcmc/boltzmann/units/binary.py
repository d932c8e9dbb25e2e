"""Units of {0, 1}.

    u = 0,      Γ(x) = Σ_i log(1 + exp x_i),      E v = σ(x)
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.boltzmann.units.base import Units, registered
from tfdsmcmc.boltzmann.units.softplus import softplus_increment, sum_softplus
from tfdsmcmc.distributions.independent_bernoulli import bernoulli_log_prob


@registered
class Binary(Units):
    """Units of zeros and ones; x is the logit of a one."""

    binary = True

    def cumulant(self, field):
        return sum_softplus(field)

    def increment(self, before, after, field):
        return softplus_increment(field, before, after)

    def mean(self, field):
        return tf.sigmoid(field)

    def draw(self, uniforms, field):
        return random.bernoulli_of(field, uniforms)

    def log_prob(self, v, field):
        return bernoulli_log_prob(v, field)

    def values(self, width):
        return [np.array([[0.0], [1.0]])] * width

    def fit(self, x, smoothing):
        rates = (x.mean(0, dtype=np.float64) + smoothing) / (1.0 + 2.0 * smoothing)
        return [(np.log(rates) - np.log1p(-rates)).astype(np.float32)]

"""Paths of densities over z, from one that can be drawn from to the posterior.

With unnormalised densities f_β, f_1(z) = p(x, z; θ), and the law g of the first draw,

    "prior"         f_β = p(z) p(x given z)^β                    g = p(z)            log f_0/g = 0
    "recognition"   f_β = q(z given x)^(1 − β) p(x, z)^β         g = q(z given x)    log f_0/g = 0
    "weights"       f_β = p(x, z; βθ)                            g = p(z; 0)         log f_0/g = log p(x given z; 0)

At θ = 0 every layer of the package forgets its parents, so that log p(x given z; 0) is the same for each z and equals
log p(x; 0): the logits of SBN, DARN and MLPBernoulli are sums with factors from θ; those of NADE have a factor V or b;
the mean of MLPGaussian is 0 and its standard deviation exp(0). Layers of other kinds, or with weights that are not
trained and so not scaled, may depend on z: log f_0/g is taken at each z, which is right for them too.

All densities but "weights" are linear in β on the logarithmic scale.

Sources: Neal, "Annealed importance sampling", Statistics and Computing 11 (2001); Wu, Burda, Salakhutdinov and Grosse,
"On the quantitative analysis of decoder-based generative models", ICLR 2017 (from the prior); Salakhutdinov and Murray,
"On the quantitative analysis of deep belief networks", ICML 2008 (scaled weights, there of Boltzmann machines).
"""

from __future__ import annotations

import contextlib

import tensorflow as tf

from tfdsmcmc import incomplete
from tfdsmcmc.networks import evaluated_at
from tfdsmcmc.sweeps import generative_factors, recognition_factors


class Path:
    """Densities f_β(z) for rows of data, with the networks' present weights.

    Args:
      generative: `GenerativeNetwork`.
      recognition: `RecognitionNetwork`.
      x: (n, D) float32.
      observed: (n, D), 1 where an entry of x counts for the generative network; None if all do.
    """

    def __init__(self, generative, recognition, x, observed=None):
        self.generative, self.recognition, self.x, self.observed = generative, recognition, x, observed

    def start(self, seed):
        """z ~ g: list of tensors (n, H_l)."""
        raise NotImplementedError

    def log_start(self, z):
        """log f_0(z)/g(z), (n,)."""
        return tf.zeros(tf.shape(self.x)[:1])

    def at(self, beta):
        """A context in which the layers have the weights that `factors` and `log_density` need."""
        return contextlib.nullcontext()

    def factors(self, beta):
        """f_β as a product of layers' conditional distributions, to be used inside `at`."""
        raise NotImplementedError

    def log_density(self, beta, z):
        """log f_β(z), (n,), inside `at`."""
        raise NotImplementedError

    def increment(self, before, after, z):
        """log f_after(z) − log f_before(z), (n,), outside `at`."""
        return (after - before) * self._slope(z)

    def _slope(self, z):
        raise NotImplementedError

    def _log_joint(self, z):
        return self.generative.log_joint(self.x, z, self.observed)

    def _log_likelihood(self, z):
        layer = self.generative.layers[-1]
        if self.observed is None:
            return layer.log_prob(self.x, z[0])
        return layer.observed_log_prob(self.x, self.observed, z[0])


class PriorPath(Path):
    """The likelihood comes in by degrees."""

    def start(self, seed):
        return self.generative.sample(self.x.shape[0], seed)[1]

    def factors(self, beta):
        return generative_factors(self.generative, data_power=beta, observed=self.observed)

    def log_density(self, beta, z):
        return self._log_joint(z) - (1.0 - beta) * self._slope(z)

    def _slope(self, z):
        return self._log_likelihood(z)


class RecognitionPath(Path):
    """The geometric path from the recognition network to the joint density."""

    def start(self, seed):
        return [part[0] for part in self.recognition.sample(self.x, 1, seed)]

    def factors(self, beta):
        joint = generative_factors(self.generative, beta, observed=self.observed)
        return [*joint, *recognition_factors(self.recognition, 1.0 - beta)]

    def log_density(self, beta, z):
        return self.recognition.log_prob(z, self.x) + beta * self._slope(z)

    def _slope(self, z):
        return self._log_joint(z) - self.recognition.log_prob(z, self.x)


class WeightsPath(Path):
    """The weights of the generative network grow from 0."""

    def __init__(self, generative, recognition, x, observed=None):
        super().__init__(generative, recognition, x, observed)
        self._variables = generative.trainable_variables
        self._theta = [variable.value for variable in self._variables]

    def start(self, seed):
        with self.at(0.0):
            return self.generative.sample(self.x.shape[0], seed)[1]

    def log_start(self, z):
        with self.at(0.0):
            return self._log_likelihood(z)

    def at(self, beta):
        return evaluated_at(self._variables, [beta * value for value in self._theta])

    def factors(self, beta):
        return generative_factors(self.generative, observed=self.observed)

    def log_density(self, beta, z):
        return self._log_joint(z)

    def increment(self, before, after, z):
        def log_joint(beta):
            with self.at(beta):
                return self._log_joint(z)

        return log_joint(after) - log_joint(before)


PATHS = {"prior": PriorPath, "recognition": RecognitionPath, "weights": WeightsPath}


def of(name, generative, recognition, x, copies=1, with_gaps=False):
    """The path of a name for `copies` of each row, one after the other.

    Args:
      name: one of `PATHS`.
      generative: `GenerativeNetwork`.
      recognition: `RecognitionNetwork`.
      x: (n, D).
      copies: of all rows.
      with_gaps: whether NaN in x is missing: then the densities are of x_observed, and the recognition network sees
        what it sees in learning.
    """
    x, observed = tf.tile(tf.cast(x, tf.float32), [copies, 1]), None
    if with_gaps:
        x, observed = incomplete.parted(x, incomplete.fill_of(generative))
    return PATHS[name](generative, recognition, x, observed)


def check(path):
    """Raises a ValueError for an unknown path."""
    if not isinstance(path, str) or path not in PATHS:
        raise ValueError(f"path is one of {list(PATHS)}. Received: path={path!r}")

"""Mixtures of products of Bernoulli laws, learnt by expectation maximisation: the baseline of Boltzmann machines.

    p(v) = Σ_c π_c Π_i μ_ci^{v_i} (1 − μ_ci)^{1 − v_i}

    E      r_nc = π_c p(v_n given c)/p(v_n)
    M      π_c = (Σ_n r_nc + α)/(N + Cα),      μ_ci = (Σ_n r_nc v_ni + s)/(Σ_n r_nc + 2s)

No pass over all rows lowers Σ_n log p(v_n) + α Σ_c log π_c + s Σ_ci (log μ_ci + log(1 − μ_ci)).

Sources: Dempster, Laird and Rubin, "Maximum likelihood from incomplete data via the EM algorithm", Journal of the Royal
Statistical Society B 39 (1977); as a baseline, Salakhutdinov and Murray, ICML 2008, section 5.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import checks, random
from tfdsmcmc.boltzmann.layer import MixtureLayer
from tfdsmcmc.boltzmann.machine import sum_softplus
from tfdsmcmc.boltzmann.sampling import program
from tfdsmcmc.estimates import LogLikelihood
from tfdsmcmc.finite import check_finite
from tfdsmcmc.rows import source_of
from tfdsmcmc.training.evaluating import evaluated
from tfdsmcmc.training.learner import Learner
from tfdsmcmc.training.several_chains import SeveralChains
from tfdsmcmc.training.starts import fresh_weights
from tfdsmcmc.training.step import Step


class MixtureState(NamedTuple):
    """What a pass sums.

    Attributes:
      weights: [log π (C,), logits of μ (C, D)].
      counts: (C,), Σ_n r_nc so far.
      ones: (C, D), Σ_n r_nc v_ni so far.
    """

    weights: list
    counts: Any
    ones: Any


class ExpectationMaximisation(Step):
    """The weights move at the end of each pass.

    Args:
      mixture: what has the `MixtureLayer` among its `layers`.
      smoothing: s.
      concentration: α.
    """

    metric_names = ("log_likelihood",)
    needs_passes = True

    def __init__(self, mixture, smoothing, concentration):
        self.mixture = mixture  # whose variables these are
        self.variables = [variable for layer in mixture.layers for variable in layer.trainable_variables]
        self.smoothing, self.concentration = smoothing, concentration

    def init(self, rows, seed, weights, num_rows=1.0, state=None):
        sums = [tf.zeros_like(part) for part in weights] if state is None else state[1:]
        return MixtureState(list(weights), *sums)

    def step(self, state, batch, seed):
        x, counted = batch.rows.values, tf.cast(batch.counted, tf.float32)[:, tf.newaxis]
        log_joint = log_components(*state.weights, x)
        shares = counted * tf.nn.softmax(log_joint, -1)
        fresh = 1.0 - tf.cast(batch.begins_pass, tf.float32)
        counts = fresh * state.counts + tf.reduce_sum(shares, 0)
        ones = fresh * state.ones + tf.matmul(shares, x, transpose_a=True)
        moved = self._maximised(counts, ones)
        weights = [tf.where(batch.ends_pass, new, old) for new, old in zip(moved, state.weights)]
        rows = tf.reduce_sum(counted[:, 0] * tf.reduce_logsumexp(log_joint, -1))
        # so that the mean over the batches of a pass is that over its rows, however few the last batch has
        batches = tf.math.ceil(batch.num_rows / tf.cast(tf.shape(x)[0], tf.float32))
        return MixtureState(weights, counts, ones), {"log_likelihood": rows * batches / batch.num_rows}

    def fresh_weights(self, seed):
        return fresh_weights(self.mixture, seed)

    def _maximised(self, counts, ones):
        shares = counts + self.concentration
        ones, zeros = ones + self.smoothing, counts[:, tf.newaxis] - ones + self.smoothing
        # rounding must not make a sum of ones larger than that of all
        logits = tf.math.log(ones) - tf.math.log(tf.maximum(zeros, 0.5 * self.smoothing))
        return [tf.math.log(shares) - tf.math.log(tf.reduce_sum(shares)), logits]


@keras.saving.register_keras_serializable("tfdsmcmc")
class MixtureOfBernoullis(Learner):
    """A mixture of C products of Bernoulli laws; each epoch of `fit` is a pass of expectation maximisation.

    Args:
      units: D.
      components: C.
      smoothing: s, above 0, ones and zeros that each unit of a component has seen beforehand.
      concentration: α, above 0, rows that each component has seen beforehand.
      seed: non-negative integer, of the initial weights and the order of the rows.
      **kwargs: of `keras.Model`.

    Raises:
      ValueError: for an argument out of range.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> mixture = ds.boltzmann.MixtureOfBernoullis(4, components=1, smoothing=1e-6)
    >>> history = mixture.fit(np.array([[1, 1, 0, 0], [1, 0, 0, 0]]), epochs=2, verbose=0)
    >>> mixture.means.round(3).tolist()  # one component: the means of the columns
    [[1.0, 0.5, 0.0, 0.0]]
    """

    binary_data = True
    takes_gaps = False

    def __init__(self, units, components, smoothing=0.5, concentration=1.0, seed=0, **kwargs):
        arguments = {
            "units": checks.positive_integer("units", units),
            "components": checks.positive_integer("components", components),
            "smoothing": float(checks.positive_number("smoothing", smoothing)),
            "concentration": float(checks.positive_number("concentration", concentration)),
            "seed": checks.nonnegative_integer("seed", seed),
        }
        random.as_seed(seed)  # no larger than a seed may be
        super().__init__(**kwargs)
        layer = MixtureLayer(components, seed, name="mixture")
        layer.build((None, units))
        self.layer, self.seed, self._arguments = layer, seed, arguments
        self.built = True

    @property
    def units(self):
        """D."""
        return self._arguments["units"]

    @property
    def log_shares(self):
        """log π, (C,)."""
        return self.layer.log_shares

    @property
    def logits(self):
        """Of μ, (C, D)."""
        return self.layer.logits

    @property
    def theta_variables(self):
        return self.layer.trainable_variables

    @property
    def shares(self):
        """π, (C,)."""
        return np.exp(self.log_shares.numpy())

    @property
    def means(self):
        """μ, (C, D)."""
        return tf.sigmoid(self.logits.value).numpy()

    def check_rows(self, rows):
        if not rows.complete:
            raise ValueError("A mixture learns from complete rows. Received: rows with missing entries")

    def compile(self, steps_per_execution=1, jit_compile=True, num_chains=1):
        """Begins a new run at the present weights; `fit` does so by itself.

        Args:
          steps_per_execution: minibatches in one compiled call.
          jit_compile: whether to compile with XLA.
          num_chains: runs from other initial weights beside this one.
        """
        settings = {
            "steps_per_execution": checks.positive_integer("steps_per_execution", steps_per_execution),
            "jit_compile": bool(jit_compile),
            "num_chains": checks.positive_integer("num_chains", num_chains),
        }
        arguments = self._arguments
        step = ExpectationMaximisation(self, arguments["smoothing"], arguments["concentration"])
        self._begin_run(step if num_chains == 1 else SeveralChains(step, num_chains), None, settings)

    def fit(self, x=None, y=None, **arguments):
        """`Learner.fit`; the metric `log_likelihood` is that of the rows before each pass."""
        if self.run is None:
            self.compile(jit_compile=self.uses_xla)
        return super().fit(x, y, **arguments)

    def evaluate(
        self, x=None, y=None, *, batch_size=None, verbose="auto", callbacks=None, return_dict=False, **keras_arguments
    ):
        """The mean log-likelihood of rows, nats; within `fit`, of the validation data."""
        batch_size = checks.positive_integer("batch_size", 1000 if batch_size is None else batch_size)

        def measured(inside_fit):
            rows = self._validation if inside_fit else x
            return {"log_likelihood": float(self.log_likelihood(rows, batch_size).mean())}

        return evaluated(self, measured, y, callbacks, verbose, return_dict, keras_arguments)

    def log_likelihood(self, x, batch_size=1000):
        """log p(x) of each row, exactly.

        Args:
          x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
          batch_size: rows at a time.

        Returns:
          `LogLikelihood`.

        Raises:
          ValueError: for data that do not fit, or weights that are not finite.
        """
        source = source_of("x", x, self.units, True, missing=False)
        self.check_rows(source)
        check_finite("the mixture's weights", self.theta_variables)
        size = min(checks.positive_integer("batch_size", batch_size), source.num_rows)
        run, weights, parts = program(_log_prob, self.uses_xla), [v.value for v in self.theta_variables], []
        for rows in source.batches(size):
            values = rows.padded(size).values.astype(np.float32)
            parts.append(run(*weights, values).numpy()[: len(rows.values)].astype(np.float64))
        value = np.concatenate(parts)
        return LogLikelihood(value, np.zeros(len(value)), np.full(len(value), np.inf))

    def sample(self, num_samples, seed=0, probabilities=False):
        """Rows of the mixture, (num_samples, D) float32.

        Args:
          num_samples: n.
          seed: integer, or int32 tensor of shape (2,).
          probabilities: True for the means of the drawn components in place of bits.

        Raises:
          ValueError: for a count that is not positive, or weights that are not finite.
        """
        num_samples = checks.positive_integer("num_samples", num_samples)
        probabilities = checks.boolean("probabilities", probabilities)
        check_finite("the mixture's weights", self.theta_variables)
        v, means = drawn(self.log_shares.value, self.logits.value, num_samples, random.stream(seed, "sample"))
        return (means if probabilities else v).numpy()

    def get_config(self):
        return {"name": self.name, **self._arguments}


def log_components(log_shares, logits, x):
    """log π_c p(x given c), (n, C)."""
    return tf.matmul(x, logits, transpose_b=True) + (log_shares - sum_softplus(logits))


def drawn(log_shares, logits, num_draws, seed):
    """(draws, the means of their components), (n, D) each."""
    component_seed, unit_seed = tf.unstack(random.split(seed))
    ends = tf.cumsum(tf.exp(tf.cast(log_shares, tf.float64)))
    places = random.uniform([num_draws], component_seed, tf.float64) * ends[-1]
    logits = tf.gather(logits, tf.searchsorted(ends[:-1], places, side="right"))
    return random.bernoulli(logits, unit_seed), tf.sigmoid(logits)


def _log_prob(log_shares, logits, x):
    return tf.reduce_logsumexp(log_components(log_shares, logits, x), -1)

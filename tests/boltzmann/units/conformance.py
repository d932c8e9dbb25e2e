"""What every kind of units must honour: `run_units_test` checks it in one call."""

from __future__ import annotations

import json

import keras
import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

from tests.boltzmann.units.oracle import layer_table, layer_weights, places
from tests.chance import assert_frequencies
from tests.oracles import log_sum
from tfdsmcmc import random
from tfdsmcmc.boltzmann.units import Units, kind_of
from tfdsmcmc.boltzmann.units.base import between, tempered

DRAWS, BINS = 20_000, 20


def run_units_test(kind, width, bad=()):
    """Runs every check of the contract; each assertion of chance fails a right kind at most once in 10⁶ runs.

    Args:
      kind: `Units`.
      width: of a layer whose states can be listed, or integrated over.
      bad: rows of entries that are finite, zeros and ones where the kind is binary, but no values of it.
    """
    test = _Test(kind, width)
    test.is_a_value()
    test.normalises()
    test.has_potentials()
    test.keeps_digits()
    test.stays_finite()
    test.draws()
    test.lists_its_values()
    test.fits_rows()
    test.checks_rows(bad)


class _Test:
    def __init__(self, kind, width):
        self.kind, self.width, rng = kind, width, np.random.default_rng(7)
        self.weights = layer_weights(kind, width, rng)
        self.fields = rng.normal(0, 1.5, (6, width)).astype(np.float32)
        # the bias is a field: of the table it is left out
        self.states, self.log_u = layer_table(kind, [np.zeros(width), *self.weights[1:]])

    def law(self, fields, dtype=tf.float32):
        """Natural parameters of the layer at some fields."""
        bias, *rest = self.kind.natural(*(tf.constant(part, dtype) for part in self.weights))
        return [tf.constant(fields, dtype), *rest]

    def log_joint(self, fields):
        """x·v − u(v) of all states, (n, S), with the weights of a grid."""
        return np.float64(fields) @ self.states.T + self.log_u

    def is_a_value(self):
        kind = self.kind
        assert isinstance(kind, Units) and len(kind.parameters) == len(kind.initial)
        config = json.loads(json.dumps(keras.saving.serialize_keras_object(kind)))
        for twin in (kind_of("visible", config), type(kind).from_config(kind.get_config())):
            assert twin == kind and hash(twin) == hash(kind) and repr(twin) == repr(kind) and twin is not kind
        assert kind_of("visible", kind) is kind and kind != "binary"
        kind.support.check_width("units", self.width)

    def normalises(self):
        """Γ and the mean against all states, the mean as the gradient of Γ; the same by XLA."""
        joint = self.log_joint(self.fields)
        cumulant = log_sum(joint, 1)
        mean = np.exp(joint - cumulant[:, None]) @ self.states
        for dtype, error in ((tf.float32, 2e-6), (tf.float64, 1e-12)):
            law = self.law(self.fields, dtype)
            with tf.GradientTape() as tape:
                tape.watch(law[0])
                found = self.kind.cumulant(*law)
            assert found.dtype == dtype
            np.testing.assert_allclose(found, cumulant, rtol=error, atol=error)
            np.testing.assert_allclose(self.kind.mean(*law), mean, rtol=10 * error, atol=10 * error)
            np.testing.assert_allclose(tape.gradient(found, law[0]), mean, rtol=10 * error, atol=10 * error)
        law = self.law(self.fields)
        for function in (self.kind.cumulant, self.kind.mean):
            jitted = tf.function(function, jit_compile=True, autograph=False)
            np.testing.assert_allclose(jitted(*law), function(*law), rtol=1e-5, atol=1e-5)
        # of no rows in front too
        alone = self.kind.cumulant(*self.law(self.fields[0]))
        np.testing.assert_allclose(alone, cumulant[0], rtol=1e-5)

    def has_potentials(self):
        """log p(v given x), −U and its differences, and mixtures of natural parameters, against the table."""
        v, x = tf.constant(self.states[::7], tf.float32), np.float32(self.fields[:1])
        joint, log_u = self.log_joint(x)[0], self.log_u[::7]
        log_u = log_u - self.log_grid
        law = self.law(np.repeat(x, len(v), 0))
        exact = joint[::7] - self.log_grid - log_sum(joint)
        np.testing.assert_allclose(self.kind.log_prob(v, *law), exact, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(Units.log_prob(self.kind, v, *law), exact, rtol=1e-4, atol=1e-4)
        first = self.kind.natural(*map(tf.constant, self.weights))
        second = self.kind.natural(*(tf.constant(0.5 * part - 0.1) for part in self.weights))
        ends = [self.kind.log_measure(v, natural).numpy() for natural in (first, second)]
        np.testing.assert_allclose(ends[0], np.float64(v) @ self.weights[0] + log_u, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(self.kind.log_ratio(v, first, second), ends[1] - ends[0], rtol=1e-4, atol=1e-5)
        middle = self.kind.log_measure(v, between(0.3, first, second))
        np.testing.assert_allclose(middle, 0.7 * ends[0] + 0.3 * ends[1], rtol=1e-4, atol=1e-5)
        np.testing.assert_array_equal(tempered(2.0, law)[0], 2.0 * law[0])

    @property
    def log_grid(self):
        """log of the weight of a grid's point; 0 where states are listed."""
        return self.log_u[np.argmin((self.states**2).sum(1))] if self.kind.values(self.width) is None else 0.0

    def keeps_digits(self):
        """The increment of Γ against float64: a relative error of 1e-5 for the smallest step too."""
        x = np.random.default_rng(0).normal(0, 3, (20, self.width)).astype(np.float32)
        law = self.law(x)
        for before in (0.0, 0.5, 0.999):
            for delta in (1e-6, 1e-3, 1.0):
                before, after = np.float32(before), np.float32(before) + np.float32(delta)
                wide = [np.float64(beta) * x.astype(np.float64) for beta in (before, after)]
                ends = [self.kind.cumulant(*self.law(part, tf.float64)) for part in wide]
                exact, found = np.subtract(*ends[::-1]), self.kind.increment(before, after, *law)
                size = np.float64(after - before) * np.abs(x).sum(1)
                np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-5 * size.min())

    def stays_finite(self):
        """At fields of 10⁴, in float32: Γ, means, increments, gradients and draws."""
        x = 1e4 * np.sign(self.fields)
        law = self.law(x)
        with tf.GradientTape() as tape:
            tape.watch(law[0])
            found = self.kind.cumulant(*law)
        exact = self.kind.cumulant(*self.law(x, tf.float64))
        np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-7 * np.abs(x).sum(1).max())
        parts = [tape.gradient(found, law[0]), self.kind.mean(*law), self.kind.increment(0.2, 0.9, *law),
                 self.kind.drawn(random.as_seed(1), len(x), *law)]  # fmt: skip
        assert all(np.isfinite(part).all() for part in parts)

    def draws(self):
        """20,000 draws of one law: their frequencies, or of real units those of 20 bins of Φ; under a seed the same."""
        law = self.law(self.fields[0])
        drawn = self.kind.drawn(random.as_seed(3), DRAWS, *law)
        assert drawn.shape == (DRAWS, self.width) and drawn.dtype == tf.float32
        each = self.kind.drawn(random.as_seed(3), DRAWS, *self.law(np.repeat(self.fields[:1], DRAWS, 0)))
        np.testing.assert_allclose(drawn, each, rtol=1e-6)
        self.kind.support.check("draws", drawn.numpy())
        joint = self.log_joint(self.fields[:1])[0]
        probabilities = np.exp(joint - log_sum(joint))
        if self.kind.values(self.width) is not None:
            assert_frequencies(np.bincount(places(drawn, self.states), minlength=len(joint)), probabilities)
            return
        mean = probabilities @ self.states
        deviation = np.sqrt(probabilities @ self.states**2 - mean**2)
        quantiles = scipy.stats.norm.cdf((np.float64(drawn) - mean) / deviation)
        for column in quantiles.T:
            assert_frequencies(np.bincount((column * BINS).astype(int), minlength=BINS), np.full(BINS, 1 / BINS))

    def lists_its_values(self):
        values = self.kind.values(self.width)
        if values is None:
            assert self.kind.log_states(self.width) == np.inf
            return
        assert np.exp(self.kind.log_states(self.width)) == pytest.approx(len(self.states))
        assert sum(each.shape[1] for each in values) == self.width
        assert len(places(self.states, self.states)) == len(self.states)

    def fits_rows(self):
        """Independent units that fit rows have their means, without smoothing; with it constant columns are finite."""
        rows = self.kind.drawn(random.as_seed(5), 500, *self.law(self.fields[0])).numpy()
        weights = self.kind.fit(rows, 1e-9)
        assert [part.shape for part in weights] == [(self.width,)] * (1 + len(self.kind.parameters))
        found = self.kind.mean(*self.kind.natural(*map(tf.constant, weights)))
        np.testing.assert_allclose(found, rows.mean(0), rtol=1e-4, atol=1e-4)
        constant = self.kind.fit(np.repeat(rows[:1], 10, 0), 0.05)
        assert all(np.isfinite(part).all() and part.dtype == np.float32 for part in (*weights, *constant))

    def checks_rows(self, bad):
        self.kind.support.check("x", np.float32(self.states[:3]))
        assert self.kind.support.takes_bits == (not len(bad))
        for row in bad:
            with pytest.raises(ValueError, match="Received: "):
                self.kind.support.check("x", np.array([row]))

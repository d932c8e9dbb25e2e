"""Streamed sums over weights against direct sums in float64; of logarithms, where the weights leave its range."""

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc._common.streams import WeightSums, log_mean_exp

RNG = np.random.default_rng(0)
NOTHING = -np.inf

# (K, rows) log-weights in float64
CASES = {
    "moderate": RNG.normal(-3.0, 2.0, (12, 5)),
    "far below": RNG.normal(-5000.0, 2.0, (12, 5)),
    "far above": RNG.normal(900.0, 2.0, (12, 5)),
    "rising": np.linspace(-4000.0, 4000.0, 12)[:, None] + RNG.normal(size=(12, 5)),
    "falling": np.linspace(4000.0, -4000.0, 12)[:, None] + RNG.normal(size=(12, 5)),
    "late": np.concatenate([np.full((9, 5), NOTHING), RNG.normal(-700.0, 1.0, (3, 5))]),
    "early": np.concatenate([RNG.normal(-700.0, 1.0, (3, 5)), np.full((9, 5), NOTHING)]),
    "some": np.where(RNG.random((12, 5)) < 0.5, NOTHING, RNG.normal(-90.0, 3.0, (12, 5))),
    "none": np.full((12, 5), NOTHING),
}


def direct(log_w):
    """(log Σ w, log Σ w²) by pairwise additions of logarithms."""
    return np.logaddexp.reduce(log_w, 0), np.logaddexp.reduce(2 * log_w, 0)


def streamed(log_w, chunk, values=None, power=1):
    """(the sums, what was carried) over chunks of a size."""
    log_w = tf.constant(log_w)
    sums = WeightSums.of_nothing(log_w.shape[1:], log_w.dtype)
    carried = None if values is None else tf.zeros(values.shape[1:], tf.float64)
    for start in range(0, len(log_w), chunk):
        sums, shift = sums.add(log_w[start : start + chunk])
        if values is not None:
            carried = shift.carry(carried, values[start : start + chunk], power)
    return sums, carried


@pytest.mark.parametrize("chunk", [1, 5, 12])
@pytest.mark.parametrize("case", CASES)
def test_sums_in_chunks_and_whole(case, chunk):
    log_w = CASES[case]
    log_total, log_squares = direct(log_w)
    sums, _ = streamed(log_w, chunk)
    np.testing.assert_array_equal(sums.maximum, log_w.max(0))
    np.testing.assert_allclose(sums.log_total, log_total, rtol=1e-13)
    np.testing.assert_allclose(sums.log_squares, log_squares, rtol=1e-13)
    with np.errstate(invalid="ignore"):
        size = np.exp(2 * log_total - log_squares)
    np.testing.assert_allclose(sums.effective_sample_size, size, rtol=1e-8)
    for one, other in zip(WeightSums.of(log_w), sums, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-13)


@pytest.mark.parametrize("chunk", [1, 5, 12])
@pytest.mark.parametrize("case", CASES)
def test_the_estimate(case, chunk):
    """The mean of the weights, the deviation of the mean, and how many draws it is worth, by their definitions."""
    log_w = CASES[case]
    value, error, size = streamed(log_w, chunk)[0].estimate(12)
    if case == "none":
        assert np.all(np.isneginf(value)) and np.isnan(error).all() and np.isnan(size).all()
        return
    highest = log_w.max(0)
    w = np.exp(log_w - highest)
    np.testing.assert_allclose(value, highest + np.log(w.mean(0)), rtol=1e-12)
    np.testing.assert_allclose(error, w.std(0, ddof=1) / np.sqrt(12) / w.mean(0), rtol=1e-9)
    np.testing.assert_allclose(size, w.sum(0) ** 2 / (w**2).sum(0), rtol=1e-12)


def test_a_count_for_each_row():
    log_w = np.array([[-1.0, -2.0], [-3.0, NOTHING], [-2.0, NOTHING]])
    value, error, size = WeightSums.of(log_w).estimate(np.array([3, 1]))
    np.testing.assert_allclose(value, [np.log(np.exp(log_w[:, 0]).mean()), -2.0], rtol=1e-12)
    assert error[0] > 0 and np.isnan(error[1]) and size[1] == 1


@pytest.mark.parametrize("power", [1, 2])
@pytest.mark.parametrize("width", [(), (3,)])
@pytest.mark.parametrize("case", CASES)
def test_what_is_carried_along(case, width, power):
    """Σ w^p f / (Σ w)^p for functions of the draws, one number or several for each weight."""
    log_w = CASES[case]
    values = np.random.default_rng(1).normal(2.0, 1.0, (*log_w.shape, *width))
    values[np.isneginf(log_w)] = np.nan  # what has no weight does not count
    highest = np.where(np.isfinite(log_w.max(0)), log_w.max(0), 0.0)
    w = np.exp(log_w - highest)
    power_of_w = (w**power).reshape(*w.shape, *[1] * len(width))
    wanted = np.where(power_of_w > 0, power_of_w * values, 0.0).sum(0)
    for chunk in (1, 5, 12):
        np.testing.assert_allclose(streamed(log_w, chunk, values, power)[1], wanted, rtol=1e-12, atol=1e-15)


def test_in_a_compiled_loop():
    """2¹⁶ float32 weights, summed and carried along chunk by chunk: up to the rounding of a chunk's 2¹⁰."""
    log_w = np.zeros((2**10, 2), np.float32)
    log_w[:, 1] = -80.0

    @tf.function(jit_compile=True, autograph=False)
    def run(log_w):
        def add(i, sums, mean):
            sums, shift = sums.add(log_w - tf.cast(i, tf.float32))
            return i + 1, sums, shift.carry(mean, tf.ones([2**10, 2, 1]))

        start = tf.constant(0), WeightSums.of_nothing([2]), tf.zeros([2, 1], tf.float64)
        return tf.while_loop(lambda i, *_: i < 64, add, start)[1:]

    sums, mean = run(log_w)
    wanted = np.log(2**10 * np.exp(-np.arange(64.0)).sum()) + log_w[0]
    np.testing.assert_allclose(sums.log_total, wanted, rtol=1e-6)
    np.testing.assert_allclose(mean[:, 0] / sums.total, 1.0, rtol=1e-5)
    assert sums.maximum.dtype == tf.float32 and sums.total.dtype == tf.float64


def test_small_weights_are_not_lost():
    """2²⁶ weights of 1 and one more, which a float32 total would not notice."""
    sums = WeightSums(tf.zeros([1]), tf.constant([2.0**26], tf.float64), tf.constant([2.0**26], tf.float64))
    sums, _ = sums.add(tf.zeros([1, 1]))
    assert sums.total[0] == 2**26 + 1 and sums.squares[0] == 2**26 + 1


def test_nan_is_seen():
    """A weight that is no number is no weight of 0."""
    sums, shift = WeightSums.of_nothing([2]).add([[0.0, np.nan], [-1.0, 0.0]])
    carried = shift.carry(tf.zeros([2], tf.float64), [[1.0, 1.0], [1.0, 1.0]])
    assert np.isfinite(sums.log_total[0]) and np.isnan(sums.log_total[1]) and np.isnan(carried[1])


@pytest.mark.parametrize("case", CASES)
def test_the_logarithm_of_the_mean(case):
    log_w = CASES[case]
    np.testing.assert_allclose(log_mean_exp(tf.constant(log_w)), direct(log_w)[0] - np.log(12), rtol=1e-12)


def test_gradients_of_the_logarithm_of_the_mean():
    """They are the normalised weights."""
    log_w = tf.constant(CASES["far below"])
    with tf.GradientTape() as tape:
        tape.watch(log_w)
        value = log_mean_exp(log_w)
    w = np.exp(log_w - np.max(log_w, 0))
    np.testing.assert_allclose(tape.gradient(value, log_w), w / w.sum(0), rtol=1e-9)

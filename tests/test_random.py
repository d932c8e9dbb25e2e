"""Draws, against Threefry in Python integers and SciPy's laws."""

import zlib

import numpy as np
import pytest
import scipy.special
import scipy.stats
import tensorflow as tf

from tests.chance import LEVEL, assert_frequencies, assert_means, assert_near
from tests.test_threefry import threefry_reference
from tfdsmcmc import random


def signed(words):
    return np.array(words, np.uint32).view(np.int32)


# ---- bits


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8])
def test_bits_are_threefry_of_a_counter(size):
    key = (0xDEADBEEF, 0x12345678)
    words = np.array([threefry_reference(key, (i, 0)) for i in range((size + 1) // 2)], np.uint32)
    np.testing.assert_array_equal(random.bits([size], signed(key)), words.T.ravel()[:size])


def test_splits_folds_and_streams_have_counters_of_their_own():
    """Of one seed: the words of split, stream and fold against the block function, draws at (i, 0) beside them."""
    key = (0xDEADBEEF, 0x12345678)
    seed = signed(key)

    def words(*counters):
        return np.array([threefry_reference(key, counter) for counter in counters], np.uint32).view(np.int32)

    np.testing.assert_array_equal(random.split(seed, 3), words((0, 1), (1, 1), (2, 1)))
    purpose = zlib.crc32(b"row order")
    np.testing.assert_array_equal([random.stream(seed, "row order")], words((purpose, 2)))
    folds = {0: (0, 2**31), 7: (7, 2**31), 2**32 + 3: (3, 2**31 + 1), -1: (2**32 - 1, 2**31 - 1)}
    np.testing.assert_array_equal([random.fold(seed, data) for data in folds], words(*folds.values()))


def test_every_bit_is_fair():
    words = random.bits([2**20], 1).numpy()
    ones = [np.count_nonzero(words & np.uint32(1 << bit)) for bit in range(32)]
    assert_near(np.array(ones) / 2**20, 0.5, 0.5 / 2**10)


@pytest.mark.parametrize("shape", [(), (5,), (0,), (2, 3), (2, 0, 3)])
@pytest.mark.parametrize("draw", [random.bits, random.uniform, random.normal])
def test_shapes(draw, shape):
    assert draw(shape, 0).shape == shape


@pytest.mark.parametrize("dtype", [tf.int32, tf.int64])
def test_dynamic_shapes_give_the_same_draws(dtype):
    @tf.function(input_signature=[tf.TensorSpec([None], dtype)])
    def draws(shape):
        return random.bits(shape, 3), random.normal(shape, 3), random.uniform(shape, 3, tf.float64)

    dynamic = draws(tf.constant([3, 5], dtype))
    static = random.bits([3, 5], 3), random.normal([3, 5], 3), random.uniform([3, 5], 3, tf.float64)
    for a, b in zip(dynamic, static):
        np.testing.assert_allclose(a, b, rtol=1e-6)


# ---- laws


@pytest.mark.parametrize(("dtype", "digits"), [(tf.float32, 23), (tf.float64, 52)])
def test_uniform(dtype, digits):
    u = random.uniform([2**20], 2, dtype)
    assert u.dtype == dtype
    u = u.numpy().astype(np.float64)
    assert scipy.stats.kstest(u, "uniform").pvalue > LEVEL
    cells = u * 2.0**digits
    assert u.min() >= 0 and u.max() < 1 and np.array_equal(cells, np.round(cells))
    # the lowest five digits are uniform and tell nothing of any five others
    cells = cells.astype(np.int64)
    for place in range(5, digits - 4):
        pairs = cells % 32 * 32 + (cells >> place) % 32
        assert_frequencies(np.bincount(pairs, minlength=1024), np.full(1024, 1 / 1024))


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_normal(dtype):
    n = 2**20
    x = random.normal([n], 4, dtype)
    assert x.dtype == dtype
    x = x.numpy().astype(np.float64)
    assert np.isfinite(x).all()
    assert scipy.stats.kstest(x, "norm").pvalue > LEVEL
    powers = x[:, None] ** [1, 2, 3, 4]
    assert_means(powers, [0, 1, 0, 3], deviation=np.sqrt([1, 2, 15, 96]))
    bounds = [-4, -3, -2, 0, 2, 3, 4]
    tails = scipy.stats.norm.cdf(bounds)
    assert_near((x[:, None] < bounds).mean(0), tails, np.sqrt(tails * (1 - tails) / n))


@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_the_extreme_normals_are_finite_and_symmetric(monkeypatch, dtype, jit_compile):
    words = tf.constant([0, 2**32 - 1, 2**31 - 1, 2**31], tf.uint32)
    monkeypatch.setattr(random, "bits", lambda shape, seed: words)
    monkeypatch.setattr(random, "_words", lambda pairs, seed: (words, words))
    x = tf.function(lambda: random.normal([4], 0, dtype), jit_compile=jit_compile)().numpy()
    # the middles of the first and the last cell of 2²³, or 2⁵²
    bound = -scipy.stats.norm.ppf(2.0**-24 if dtype == tf.float32 else 2.0**-53)
    np.testing.assert_allclose(x[:2], [-bound, bound], rtol=1e-3)
    np.testing.assert_array_equal(x[::2], -x[1::2])
    assert 0 < x[3] < 3e-7


def test_bernoulli():
    logits = tf.constant([[-4.0, -1.0, -0.1], [0.2, 1.5, 5.0]])
    draws = random.bernoulli(logits, 5, [2**18])
    assert draws.shape == (2**18, 2, 3) and draws.dtype == tf.float32
    assert set(np.unique(draws)) == {0.0, 1.0}
    p = scipy.special.expit(logits.numpy().astype(np.float64))
    assert_means(draws, p, deviation=np.sqrt(p * (1 - p)))


def test_bernoulli_with_a_hopeless_logit_is_constant():
    """A draw of probability e⁻⁵⁰ gets an importance weight that no average survives. With the left end of each
    cell in place of its middle, 32 ones are expected here among 2²⁸ draws."""
    @tf.function(jit_compile=True)
    def ones(logit, seed):
        return tf.reduce_sum(tf.cast(random.bernoulli(tf.fill([2**26], logit), seed), tf.int32))

    assert sum(int(ones(-50.0, seed)) for seed in random.split(6, 4)) == 0
    assert int(ones(50.0, random.as_seed(7))) == 2**26
    np.testing.assert_array_equal(random.bernoulli([-1e4, 1e4, -np.inf, np.inf], 0, [3]), [[0, 1, 0, 1]] * 3)


def test_integers():
    small = random.integers([2**18], 10, 7)
    assert small.dtype == tf.int32
    assert_frequencies(np.bincount(small, minlength=10), np.full(10, 0.1))
    large = random.integers([2**18], 2**31 - 1, 8).numpy()
    assert large.min() >= 0
    assert scipy.stats.kstest(large / (2.0**31 - 1), "uniform").pvalue > LEVEL


@pytest.mark.parametrize("n", [0, 1, 2, 1000])
def test_a_permutation_has_every_number_once(n):
    order = random.permutation(n, 9)
    assert order.dtype == tf.int32
    np.testing.assert_array_equal(np.sort(order), np.arange(n))


@pytest.mark.parametrize(("n", "block"), [(0, 4), (1, 1), (7, 3), (8, 4), (9, 4), (1000, 999), (5000, 1 << 19)])
def test_the_permutation_of_the_host_is_the_same(n, block):
    for seed in (9, random.fold(2, 3)):
        order = random.host_permutation(n, seed, block)
        assert order.dtype == np.int32
        np.testing.assert_array_equal(order, random.permutation(n, seed))


def test_keys_that_agree_in_their_first_bits_are_told_apart_by_the_host_too():
    """Of 2²¹ keys one pair, on average, agrees in the 42 bits sorted first; with this seed in the wrong order."""
    n, seed = (1 << 21) - 5, 6
    places = np.arange(n)
    by_first_bits = np.argsort(random._host_keys(places, seed) >> 10, kind="stable")
    order = random.host_permutation(n, seed)
    assert (order != by_first_bits).any()
    np.testing.assert_array_equal(order, random.permutation(n, seed))


def test_every_order_is_equally_likely():
    seeds = random.split(10, 24_000)
    orders = tf.function(
        lambda: tf.map_fn(lambda s: random.permutation(4, s), seeds, parallel_iterations=1), jit_compile=True
    )().numpy()
    _, counts = np.unique(orders @ [64, 16, 4, 1], return_counts=True)
    assert_frequencies(counts, np.full(24, 1 / 24))


# ---- the same draws everywhere


class _Draws(tf.Module):
    def __init__(self, jit_compile):
        super().__init__()
        signature = [tf.TensorSpec([2], tf.int32)]
        self.draw = tf.function(self._draw, input_signature=signature, jit_compile=jit_compile, autograph=False)

    @staticmethod
    def _draw(seed):
        a, b = tf.unstack(random.split(seed))
        exact = {
            "seeds": tf.stack([a, b, random.fold(seed, 7)]),
            "bits": random.bits([100_001], a),
            "uniform": random.uniform([300, 333], b),
            "uniform64": random.uniform([1000], b, tf.float64),
            "bernoulli": random.bernoulli(tf.linspace(-9.0, 9.0, 100_000), a),
            "integers": random.integers([1000], 77, a),
            "permutation": random.permutation(1000, a),
        }
        return exact, random.normal([400_000], b), random.normal([100_000], a, tf.float64)


def test_the_draws_are_the_same_eager_jitted_and_exported(tmp_path):
    """Integers, uniforms and Bernoulli draws bit for bit. Float32 normals go through each compiler's own erf⁻¹:
    TensorFlow's and XLA's differ by 3e-8 in the median, 3e-6 at most for |x| < 3, 2e-5 at the end of the tail."""
    seed = random.as_seed(2**40 + 15)
    tf.saved_model.save(_Draws(False), str(tmp_path))
    exact, normal, normal64 = _Draws._draw(seed)
    for draw in (_Draws(False).draw, _Draws(True).draw, tf.saved_model.load(str(tmp_path)).draw):
        other_exact, other, other64 = draw(seed)
        for name, value in exact.items():
            np.testing.assert_array_equal(value, other_exact[name], err_msg=name)
        error = np.abs(other.numpy() - normal.numpy())
        assert np.median(error) < 2e-7
        assert error[np.abs(normal) < 3].max() < 1e-5
        assert error.max() < 1e-4
        np.testing.assert_allclose(other64, normal64, rtol=1e-10, atol=1e-10)


def test_uniforms_of_several_layers_are_one_draw():
    parts = random.open_uniforms(7, [3, 2], [1, 2])
    assert [part.shape for part in parts] == [(7, 3), (7, 2)]
    np.testing.assert_array_equal(tf.concat(parts, 1), random.open_uniform([7, 5], [1, 2]))
    logits = tf.constant([[-50.0, 50.0, 0.0]])
    found = random.bernoulli_of(logits, random.open_uniform([1, 3], 3))
    np.testing.assert_array_equal(found, random.bernoulli(logits, 3))


def test_uniforms_of_places():
    """Uniform (Kolmogorov and Smirnov, level 1e-6), each of its place alone, others under another seed."""
    places = np.arange(20_000)
    drawn = random.uniform_at(places, 5).numpy()
    assert scipy.stats.kstest(drawn, "uniform").pvalue > 1e-6 and drawn.min() >= 0 and drawn.max() < 1
    np.testing.assert_array_equal(random.uniform_at([17, 3, 2**31 - 1], 5)[:2], drawn[[17, 3]])
    assert np.mean(random.uniform_at(places, 6).numpy() == drawn) < 0.01

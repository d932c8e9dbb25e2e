"""Seeds: what they may be, and that those split and folded are others."""

import keras
import numpy as np
import pytest
import tensorflow as tf

from tests.chance import assert_near
from tfdsmcmc import random


def test_integer_seeds():
    np.testing.assert_array_equal(random.as_seed(5), [5, 0])
    np.testing.assert_array_equal(random.as_seed(np.uint8(5)), [5, 0])
    np.testing.assert_array_equal(random.as_seed(3 * 2**32 + 2**31), [-(2**31), 3])
    np.testing.assert_array_equal(random.as_seed(2**64 - 1), [-1, -1])


@pytest.mark.parametrize(
    "seed", [[1, -2], (1, -2), np.array([1, -2]), tf.constant([1, -2]), tf.constant([1, -2 + 2**33], tf.int64)]
)
def test_pair_seeds(seed):
    converted = random.as_seed(seed)
    assert converted.dtype == tf.int32
    np.testing.assert_array_equal(converted, [1, -2])


def test_a_keras_seed_generator_is_advanced():
    a, b = keras.random.SeedGenerator(3), keras.random.SeedGenerator(3)
    first = random.as_seed(a)
    assert first.dtype == tf.int32 and first.shape == (2,)
    np.testing.assert_array_equal(first, random.as_seed(b))
    assert tuple(random.as_seed(a).numpy()) != tuple(first.numpy())


@pytest.mark.parametrize(
    "seed", [-1, 2**64, True, 1.5, None, "3", [1.0, 2.0], [1, 2, 3], tf.constant(3), [[1, 2]], object()]
)
def test_other_seeds_are_refused(seed):
    with pytest.raises(ValueError, match=r"Received: seed="):
        random.as_seed(seed)


def test_split_and_fold_give_distinct_seeds():
    split = random.split(11, 2000).numpy()
    fold = np.array([random.fold(11, i) for i in range(200)])
    other = random.split(12, 2000).numpy()
    seeds = np.concatenate([split, fold, other, [random.as_seed(i) for i in range(200)]])
    assert seeds.dtype == np.int32
    assert len(np.unique(seeds, axis=0)) == len(seeds)


def test_fold_depends_on_the_number_and_not_on_its_type():
    seeds = [random.fold(3, data) for data in (5, np.int64(5), tf.constant(5), tf.constant(5, tf.int64))]
    assert all(seed.dtype == tf.int32 for seed in seeds)
    assert len({tuple(seed.numpy()) for seed in seeds}) == 1
    assert tuple(random.fold(3, 6).numpy()) != tuple(seeds[0].numpy())


def test_streams_are_independent():
    """Correlations of the draws of related seeds: counting integers, one seed split, one seed folded."""
    n = 4096
    seeds = [random.as_seed(i) for i in range(60)]
    seeds += tf.unstack(random.split(13, 60)) + [random.fold(13, i) for i in range(60)]
    draw = tf.function(lambda s: random.normal([n], s), jit_compile=True)
    draws = np.array([draw(seed) for seed in seeds])
    correlations = np.corrcoef(draws)[np.triu_indices(len(seeds), 1)]
    assert_near(correlations, 0.0, 1 / np.sqrt(n))
    # within a stream too: neighbours, and the two words of a block, half the length apart
    long = random.normal([2**18], 14).numpy()
    lags = [1, 2, 3, 4, 2**17]
    products = [(long[:-lag] * long[lag:]).mean() for lag in lags]
    assert_near(products, 0.0, [1 / np.sqrt(len(long) - lag) for lag in lags])

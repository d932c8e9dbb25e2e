"""An unknown scale for the weights of each unit, above a scale of each weight."""

import keras
import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

from tests.chance import LEVEL
from tfdsmcmc import random
from tfdsmcmc.priors import Horseshoe


@pytest.mark.parametrize("unit", ["parent", "unit"])
def test_a_scale_of_each_unit_follows_its_law(unit):
    """In turn with exact draws of w: 2,000 units of three weights each, whose τ/τ₀ is half-Cauchy, and ζ/τ² of an entry
    beta prime. Units do not tell of each other."""
    prior = Horseshoe(0.5, 0.05, learn_global_scale=True, global_scale_group=unit)
    shape, of = ((2000, 3), (2000, 1)) if unit == "parent" else ((3, 2000), (1, 2000))

    @tf.function(jit_compile=True)
    def run(seed):
        def body(i, variance, scale2):
            a, b = tf.unstack(random.split(random.fold(seed, i)))
            value = random.normal(shape, a) * tf.sqrt(variance + prior.minimum_scale**2)
            return i + 1, *prior.update_auxiliary(value, [variance, scale2], b)

        return tf.while_loop(lambda i, *_: i < 150, body, (0, tf.fill(shape, 0.25), tf.fill(of, 0.25)))[1:]

    variances, squares = (part.numpy().astype(np.float64) for part in run(random.as_seed(6)))
    scales, ratios = np.sqrt(squares.ravel()), (variances / squares)[0 if unit == "unit" else slice(None), ...]
    ratios = ratios if unit == "unit" else ratios[:, 0]
    assert scipy.stats.kstest(scales, scipy.stats.halfcauchy(scale=0.5).cdf).pvalue > LEVEL / 2
    assert scipy.stats.kstest(ratios, scipy.stats.betaprime(0.5, 0.5).cdf).pvalue > LEVEL / 2
    assert abs(scipy.stats.spearmanr(scales[::2], scales[1::2]).statistic) < 5 / np.sqrt(1000)


def test_what_a_scale_of_each_unit_goes_with():
    for given in (
        {"global_scale_group": "parent"},
        {"global_scale_group": "unit", "learn_global_scale": True, "group": "parent"},
        {"global_scale_group": "entry", "learn_global_scale": True},
        {"global_scale_group": 3},
    ):
        with pytest.raises(ValueError, match="global_scale_group is .*Received: global_scale_group="):
            Horseshoe(**given)
    prior = Horseshoe(0.5, 0.05, learn_global_scale=True, global_scale_group="unit")
    again = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(prior))
    assert again.global_scale_group == "unit" and again.get_config() == prior.get_config()
    assert [part.shape for part in prior.initial_auxiliary(tf.ones([5]), random.as_seed(1))] == [(5,), (1,)]

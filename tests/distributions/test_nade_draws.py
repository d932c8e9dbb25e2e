"""Draws of NADE: their law, shapes and log-probabilities."""

import numpy as np
import pytest
import tensorflow as tf

from tests.chance import assert_frequencies
from tests.distributions.nade_by_definition import NADE, ORDER, exact, random_operands
from tests.distributions.support import tensors
from tests.oracles import binary_states, state_numbers


@pytest.mark.parametrize("ordering", [None, [2, 0, 3, 1]])
def test_draws_follow_the_law(ordering):
    """Chi-square over all values of two laws, false failures at most 1e-6."""
    _, *parameters = random_operands((4,), (2, 4), (2, 3), scale=1.5)
    distribution = NADE(*tensors(parameters, tf.float32), ordering=ordering)
    draws, log_prob = distribution.experimental_sample_and_log_prob(2**15, seed=5)
    values = binary_states(4)
    for row, (b, c) in enumerate(zip(*parameters[:2])):
        p = np.exp(exact(values, b, c, *parameters[2:], ordering)[0])
        assert_frequencies(np.bincount(state_numbers(draws[:, row]), minlength=16), p)
    np.testing.assert_allclose(log_prob, distribution.log_prob(draws), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_draws_and_their_log_probabilities_have_their_shapes(dtype):
    _, *parameters = random_operands((6,), (2, 6), (3, 1, 5))
    distribution = NADE(*tensors(parameters, dtype), ordering=ORDER)
    assert distribution.batch_shape == (3, 2) and distribution.event_shape == (6,)
    for sample_shape in ((), (4,), (2, 0), (4, 2)):
        draws = distribution.sample(sample_shape, seed=tf.constant([1, 2]))
        twins, log_prob = distribution.experimental_sample_and_log_prob(sample_shape, seed=tf.constant([1, 2]))
        assert draws.shape == (*sample_shape, 3, 2, 6) and draws.dtype == dtype
        np.testing.assert_array_equal(draws, twins)
        np.testing.assert_allclose(log_prob, distribution.log_prob(draws), rtol=1e-5)

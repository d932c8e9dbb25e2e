"""The oracles themselves, against finite differences and the sums that define them."""

import numpy as np
import pytest

from tests.oracles import Oracle, binary_states, state_numbers, tiny_model

DEPTHS = [(2,), (2, 1), (1, 2, 2)]


@pytest.mark.parametrize("latent_units", DEPTHS)
def test_the_laws_sum_to_one(latent_units):
    oracle = Oracle(tiny_model(latent_units, units=3))
    x = binary_states(3)
    np.testing.assert_allclose(np.exp(oracle.log_joint(x)).sum(), 1.0, rtol=1e-12)
    np.testing.assert_allclose(np.exp(oracle.log_q(x)).sum(0), np.ones(8), rtol=1e-12)
    np.testing.assert_allclose(oracle.posterior(x).sum(0), np.ones(8), rtol=1e-12)


@pytest.mark.parametrize("latent_units", DEPTHS)
def test_the_gradients_are_finite_differences(latent_units):
    oracle = Oracle(tiny_model(latent_units, units=3))
    x = binary_states(3)[[1, 6]]
    posterior = oracle.posterior(x)

    def differences(arrays, value, h=1e-5):
        for array in arrays:
            for place in np.ndindex(array.shape):
                centre, values = array[place], []
                for array[place] in (centre + h, centre - h):
                    values.append(value())
                array[place] = centre
                yield (values[0] - values[1]) / (2 * h)

    for gradient, weights, value in (
        (oracle.likelihood_gradient(x), oracle.theta, lambda: oracle.log_likelihood(x)),
        (oracle.wake_gradient(x), oracle.phi, lambda: (posterior * oracle.log_q(x)).sum(0)),
    ):
        arrays = [array for pair in weights for array in pair]
        flat = np.concatenate([part.reshape(2, -1) for part in gradient], 1)
        np.testing.assert_allclose(flat.T, list(differences(arrays, value)), atol=1e-8)


def test_states_are_numbered_in_their_order():
    np.testing.assert_array_equal(state_numbers(binary_states(4)), np.arange(16))


def test_missing_entries_by_bayes_rule():
    oracle = Oracle(tiny_model((2,), units=3))
    rows, p = oracle.missing([1, 0, 1], [True, False, False])
    np.testing.assert_array_equal(rows, [[1, 0, 0], [1, 0, 1], [1, 1, 0], [1, 1, 1]])
    joint = np.exp(oracle.log_likelihood(rows))
    np.testing.assert_allclose(p, joint / joint.sum(), rtol=1e-12)

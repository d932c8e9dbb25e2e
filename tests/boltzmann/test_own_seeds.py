"""Draws without a seed: another one at each call, and none for a call that is refused."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.boltzmann.oracle import tiny_rbm

MODELS = {
    "RBM": lambda: tiny_rbm(4, 3),
    "DBN": lambda: ds.boltzmann.DBN([tiny_rbm(4, 3), tiny_rbm(3, 2)]),
    "DBN of one": lambda: ds.boltzmann.DBN([tiny_rbm(4, 3)]),
    "mixture": lambda: ds.boltzmann.MixtureOfBernoullis(4, 3),
}
REFUSED = [{"num_samples": 0}, {"num_samples": 2.5}, {"probabilities": "yes"}]
OF_CHAINS = [{"steps": 0}, {"steps": 1.5}]
OF_MACHINES = [{"start": np.zeros((2, 4))}, {"start": np.full((40, 4), 0.5)}, {"start": np.zeros((40, 3))}]


@pytest.mark.parametrize("name", MODELS)
def test_a_refused_call_counts_no_seed(name):
    """The draws after it are those of a model of which nothing was refused, 160 bits."""
    model, other = MODELS[name](), MODELS[name]()
    first = model.sample(40)
    np.testing.assert_array_equal(other.sample(40), first)
    refused = REFUSED + OF_CHAINS * (name != "mixture") + OF_MACHINES * (name == "RBM")
    for arguments in refused:
        with pytest.raises(ValueError, match="Received: "):
            model.sample(**{"num_samples": 40, **arguments})
    for variable in [model.weights[0], model.weights[-1]]:
        finite = variable.numpy()
        variable.assign(np.full(finite.shape, np.nan))
        with pytest.raises(ValueError, match="Received: "):
            model.sample(40)
        variable.assign(finite)
    assert model.drawn == 1
    second = model.sample(40)
    np.testing.assert_array_equal(other.sample(40), second)
    assert not np.array_equal(first, second)

"""Each kind of model meets the one contract, against enumeration."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.boltzmann.oracle import Enumerated, tiny_rbm
from tests.boltzmann.test_dbn import Truth, tiny_dbn
from tests.conformance.models import run_model_test
from tests.oracles import Oracle, binary_states, tiny_model


def of_network(model):
    return Oracle(model).log_likelihood(binary_states(model.units))


def of_machine(rbm):
    found = Enumerated(rbm.machine)
    return found.log_unnormalized - found.log_z


def mixture(seed):
    model = ds.boltzmann.MixtureOfBernoullis(3, 2, seed=seed)
    random = np.random.default_rng(seed)
    shares = random.dirichlet([3.0, 2.0])
    model.log_shares.assign(np.log(shares))
    model.logits.assign(random.normal(0, 1, (2, 3)))
    return model


def of_mixture(model):
    x = binary_states(3)
    logits, shares = model.logits.numpy().astype(np.float64), np.exp(model.log_shares.numpy().astype(np.float64))
    shares, p = shares / shares.sum(), 1 / (1 + np.exp(-logits))
    return np.log(sum(share * np.prod(np.where(x == 1, q, 1 - q), 1) for share, q in zip(shares, p)))


MODELS = {
    "network": (lambda seed: tiny_model((2,), 3, seed=seed), of_network, True),
    "machine": (lambda seed: tiny_rbm(3, 2, seed=seed, scale=0.7), of_machine, False),
    "belief network": (lambda seed: tiny_dbn((3, 2, 3), 0.5 + 0.2 * seed), lambda dbn: Truth(dbn).log_p, False),
    "fine-tuned": (lambda seed: tiny_dbn((3, 2, 3), 0.5 + 0.2 * seed, True), lambda dbn: Truth(dbn).log_p, False),
    "mixture": (mixture, of_mixture, False),
}


@pytest.mark.parametrize("name", MODELS)
def test_models(name):
    make, exact, directed = MODELS[name]
    run_model_test(make, exact, directed)

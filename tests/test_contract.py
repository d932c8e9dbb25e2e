"""Each kind of model meets the one contract, against enumeration."""

import sys

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.boltzmann.belief_networks import Truth, tiny_dbn
from tests.boltzmann.oracle import Enumerated, tiny_rbm
from tests.conformance.models import run_model_test
from tests.oracles import Oracle, binary_states, tiny_model
from tests.slow_cases import mostly_slow


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
    "machine": (lambda seed: tiny_rbm(3, 2, seed=seed, scale=1.5), of_machine, False),
    "belief network": (lambda seed: tiny_dbn((3, 2, 3), 0.5 + 0.2 * seed), lambda dbn: Truth(dbn).log_p, False),
    "fine-tuned": (lambda seed: tiny_dbn((3, 2, 3), 0.5 + 0.2 * seed, True), lambda dbn: Truth(dbn).log_p, False),
    "mixture": (mixture, of_mixture, False),
}


@pytest.mark.parametrize("name", mostly_slow(["network", "machine", "mixture"], MODELS))
def test_models(name):
    make, exact, directed = MODELS[name]
    run_model_test(make, exact, directed)


def test_what_is_not_known_of_a_machine_is_refused_before_any_work(monkeypatch):
    """Which sample explains what is observed of a row; and its recognition weights, of other than binary units."""
    rbm = tiny_rbm(3, 2)
    samples = [ds.posterior.store.Sample([v.numpy() for v in rbm.theta_variables], [], step) for step in range(2)]
    posterior = ds.posterior.Posterior(None, samples)
    module = sys.modules["tfdsmcmc.imputation.impute"]  # whose name in the package is the function's
    monkeypatch.setattr(module, "run", lambda *_: pytest.fail("work was done"))
    with pytest.raises(ValueError, match="posterior_weights='equal'.*Received: "):
        ds.imputation.impute(rbm, [[1, np.nan, 0]], posterior=posterior)
    rbms = [ds.boltzmann.RBM(4, 3, visible="spin"), ds.boltzmann.RBM(3, 2)]
    with pytest.raises(ValueError, match="binary units alone. Received: "):
        ds.boltzmann.DBN(rbms, own_recognition=True)


def test_rows_of_a_py_dataset_are_checked_for_their_units():
    class Sevens(keras.utils.PyDataset):
        def __len__(self):
            return 1

        def __getitem__(self, place):
            return np.full((2, 4), 7.0, np.float32)

    rbm = ds.boltzmann.RBM(4, 2, visible="spin")
    with pytest.raises(ValueError, match="Received: "):
        rbm.unnormalized_log_prob(Sevens())

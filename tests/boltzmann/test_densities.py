"""Densities of Boltzmann machines and networks at a log Z that is given, exact or annealed."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.boltzmann.oracle import Enumerated, tiny_rbm
from tests.oracles import binary_states

V = binary_states(3)
MODELS = {
    "RBM": lambda: tiny_rbm(3, 2),
    "DBN of one": lambda: ds.boltzmann.DBN([tiny_rbm(3, 2)]),
    "DBN": lambda: ds.boltzmann.DBN([tiny_rbm(3, 2), tiny_rbm(2, 3, seed=1)]),
}


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("as_function", [False, True])
def test_annealed_estimates_take_a_log_partition_that_is_given(name, as_function):
    """log p falls by as much as log Z rises, and the error of log Z is that of the mean; a function sees the topmost
    machine, once."""
    model, asked = MODELS[name](), []
    top = Enumerated(model.machines[-1] if name != "RBM" else model.machine)
    options = {"seed": 1, "num_steps": 3, "num_runs": 5}

    def found(log_partition):
        def told(machine):
            asked.append(machine.kernel.numpy())
            return log_partition

        return model.density(None, told if as_function else log_partition).annealed_log_likelihood(V, **options)

    exact = found(top.log_z)
    if name != "DBN":
        np.testing.assert_allclose(exact.value, top.log_unnormalized - top.log_z, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(found(top.log_z + 2.0).value, exact.value - 2.0, rtol=1e-6)
    uncertain = ds.boltzmann.LogPartition(top.log_z + 2.0, 0.25, (0.0, 9.0), 3.0)
    np.testing.assert_allclose(found(uncertain).value, exact.value - 2.0, rtol=1e-6)
    assert found(uncertain).shared_standard_error == 0.25
    assert len(asked) == 4 * as_function and all(np.array_equal(kernel, top.kernel) for kernel in asked)


@pytest.mark.parametrize("name", ["RBM", "DBN of one"])
def test_without_one_it_is_annealed(name):
    """Once for all rows, by the seed, runs and steps that were asked for."""
    model = MODELS[name]()
    rbm = model if name == "RBM" else model.rbms[0]
    for told in (None, lambda machine: None):
        rows = model.density(None, told).annealed_log_likelihood(V, 4, num_steps=3, num_runs=5, schedule="linear")
        found = ds.boltzmann.log_partition(rbm, 5, 3, schedule="linear", seed=4)
        np.testing.assert_allclose(rows.value, rbm.log_likelihood(V, found).value, rtol=1e-6)
        assert rows.shared_standard_error == found.standard_error > 0


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("options", [{"num_runs": 0}, {"num_steps": 1.5}])
@pytest.mark.parametrize("log_partition", [None, 3.0])
def test_counts_are_checked_where_log_z_is_given_too(name, options, log_partition):
    with pytest.raises(ValueError, match=r"^num_.*Received: "):
        MODELS[name]().density(None, log_partition).annealed_log_likelihood(V, 1, **options)


def likelihoods(model, known):
    """All that normalise rows by a log Z."""
    density = model.density(log_partition=known)
    yield from (lambda: density.log_likelihood(V, 5, 0, 10), lambda: density.annealed_log_likelihood(V, 1, num_runs=2))
    yield from (density.known_partition, lambda: model.log_likelihood(V, log_partition=known))
    if isinstance(model, ds.boltzmann.DBN):
        yield lambda: model.log_likelihood_bound(V, 5, known)


@pytest.mark.parametrize("name", MODELS)
def test_a_ratio_of_two_machines_is_no_log_partition(name):
    """Neither of the second nor of the first, nor of a machine and itself; a number is taken at its word."""
    model = MODELS[name]()
    top = model if name == "RBM" else model.rbms[-1]
    other = tiny_rbm(top.units, 4, seed=8)
    for pair in [(other, top), (top, other), (top, top)]:
        ratio = ds.boltzmann.log_partition_ratio(*pair, num_runs=3, num_steps=3)
        for found in likelihoods(model, ratio):
            with pytest.raises(ValueError, match="of one machine.* Received: a log_partition_ratio of "):
                found()
    for known in (ratio.value, ratio._replace(value=2.0, fingerprint=None)):  # what it says to give
        for found in likelihoods(model, known):
            found()
    uncertain = ratio._replace(value=2.0, standard_error=0.25, fingerprint=None)
    assert model.density(log_partition=uncertain).known_partition().standard_error == 0.25
    for found in likelihoods(model, ds.boltzmann.log_partition(top, 3, 3)):
        found()


@pytest.mark.parametrize("log_partition", [None, 3.0])
def test_options_of_other_names_are_refused_where_log_z_is_given_too(log_partition):
    with pytest.raises(ValueError, match=r"among .*'schedule'.* Received: \['steps'\]"):
        MODELS["RBM"]().density(None, log_partition).annealed_log_likelihood(V, 1, steps=3)


@pytest.mark.parametrize("log_partition", [None, 3.0])
@pytest.mark.parametrize(
    "options",
    [
        {"schedule": "slow"},
        {"schedule": [0.0, 0.5]},
        {"direction": "up"},
        {"chain_steps": 0},
        {"base": np.zeros(5)},
        {"base": np.full(3, np.nan)},
        {"num_runs": 2, "draws": V[:2]},
        {"num_runs": 2, "direction": "reverse", "draws": V[:3]},
    ],
)
def test_values_of_options_are_refused_where_log_z_is_given_too(options, log_partition):
    """In the words of `boltzmann.log_partition`."""
    model = MODELS["RBM"]()
    with pytest.raises(ValueError, match="Received: ") as expected:
        ds.boltzmann.log_partition(model, **options)
    with pytest.raises(ValueError) as found:
        model.density(None, log_partition).annealed_log_likelihood(V, 1, **options)
    assert str(found.value) == str(expected.value)


@pytest.mark.parametrize("given", [False, True])
def test_a_network_refuses_a_schedule_before_it_asks_for_log_z(given):
    asked = []
    density = MODELS["DBN"]().density(None, lambda machine: asked.append(machine) or (3.0 if given else None))
    with pytest.raises(ValueError, match="schedule is one of.* Received: schedule='slow'"):
        density.annealed_log_likelihood(V, 1, num_steps=3, num_runs=2, schedule="slow")
    assert not asked


@pytest.mark.parametrize("options", [{"num_steps": -3}, {"num_runs": "x"}, {"schedule": "slow"}, {"direction": "up"}])
def test_a_mixture_refuses_values_that_no_annealing_takes(options):
    mixture = ds.boltzmann.MixtureOfBernoullis(V.shape[1], 2, seed=1)
    with pytest.raises(ValueError, match=f"{next(iter(options))}.* Received: "):
        mixture.density().annealed_log_likelihood(V, 1, **options)


def test_a_mixture_passes_over_options_of_annealing_and_refuses_others():
    """There is nothing to anneal: with options that a machine has the density is what it is."""
    mixture = ds.boltzmann.MixtureOfBernoullis(V.shape[1], 2, seed=1)
    exact = mixture.density().log_likelihood(V, 1, 0, 10).value
    found = mixture.density().annealed_log_likelihood(V, 1, num_steps=3, num_runs=2, schedule="linear").value
    np.testing.assert_array_equal(found, exact)
    with pytest.raises(ValueError, match=r"among .*'schedule'.* Received: \['steps'\]"):
        mixture.density().annealed_log_likelihood(V, 1, steps=3)

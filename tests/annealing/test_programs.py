"""Compiled runs: their seeds, how many programs they take, densities that are not finite, models without latents."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import Oracle, binary_states, tiny_model
from tfdsmcmc.programs import _programs

X = binary_states(3)


def test_the_two_directions_share_no_draws():
    """Runs of one seed forwards and backwards, from exact draws: no correlation over 2,048 copies of a row (with shared
    seeds it is 0.5 and more); false failures at most 1e-6."""
    model, copies = tiny_model((2,), seed=4, scale=0.7), 2**11
    model.compile("sgnht", jit_compile=False)
    oracle, row = Oracle(model), X[[3]]
    states = np.random.default_rng(1).choice(4, copies, p=oracle.posterior(row)[:, 0])
    arguments = {"num_steps": 10, "num_runs": 1, "batch_size": copies}
    x = np.repeat(row, copies, 0)
    forward = ds.annealing.annealed_importance_sampling(model, x, **arguments)
    z = [part[states] for part in oracle.z]
    reverse = ds.annealing.annealed_importance_sampling(model, x, direction="reverse", z=z, **arguments)
    assert abs(np.corrcoef(forward.value, reverse.value)[0, 1]) < 4.9 / np.sqrt(copies)


def test_adaptive_schedules_of_one_size_share_a_program():
    model = tiny_model((2,), seed=5)
    model.compile("sgnht", jit_compile=False)
    for steps in (5, 6, 8):
        ds.annealing.annealed_importance_sampling(model, X, num_steps=steps, num_runs=2)
    (program,) = _programs[model].values()
    assert program.experimental_get_tracing_count() == 1


def test_densities_that_are_not_finite():
    """A pilot ends, and weights of zero give −inf as they do in importance sampling."""
    model = ds.DeepGenerativeModel(
        ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.MLPGaussian(2, hidden_units=[2])]),
        ds.RecognitionNetwork([ds.layers.SBN(2)]),
    )
    model.compile("sgnht", jit_compile=False)
    x = [[1e25, 0.0]]
    with pytest.raises(ValueError, match="finite densities. Received: "):
        ds.annealing.annealed_importance_sampling(model, x, 20, 2, schedule="adaptive")
    with np.errstate(all="raise"):
        assert ds.annealing.annealed_importance_sampling(model, x, 4, 2).value == [-np.inf]


def test_a_network_without_latent_layers_checks_its_arguments_too():
    model = ds.models.from_name("NADE", units=3, hidden_units=2)
    model.compile("sgnht", jit_compile=False)
    for arguments in ({"path": "no"}, {"schedule": "no"}, {"direction": np.array(["forward", "a"])}):
        with pytest.raises(ValueError, match=f"{next(iter(arguments))}.*Received: "):
            ds.annealing.annealed_importance_sampling(model, X, **arguments)
    assert np.all(ds.annealing.annealed_importance_sampling(model, X).standard_error == 0)

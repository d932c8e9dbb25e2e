"""The draws of z in a climb: how many, and how their weights warm up."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.model.support import assert_same_state, patterns
from tests.oracles import flat, tiny_model
from tests.training.warm_starts import fit, model_of
from tfdsmcmc.training.steps.fisher_identity import FisherIdentity


@pytest.mark.slow
@pytest.mark.parametrize("num_chains", [1, 2])
def test_draws_grow_when_sampling_begins(num_chains, tmp_path):
    few, many, growing = (
        model_of(num_chains=num_chains, latents=latents, updates=6)
        for latents in (ds.latents.NAIS(2), ds.latents.NAIS(5), ds.latents.NAIS(5, climbing_samples=2))
    )
    for model in (few, growing):
        fit(model, 2)
    assert_same_state(few, growing)
    growing.save_weights(tmp_path / "a.weights.h5")
    many.load_weights(tmp_path / "a.weights.h5")
    for model in (few, many, growing):
        fit(model, 3, 2)
    assert_same_state(many, growing)
    assert np.any(flat(few.get_weights()) != flat(growing.get_weights()))


class AtPower(ds.latents.NAIS):
    """Draws whose β stays."""

    def __init__(self, num_samples, power):
        super().__init__(num_samples)
        self.power = power

    def draw(self, *arguments, **named):
        return super().draw(*arguments, **named, latent_power=self.power)


@pytest.mark.parametrize("num_chains", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("climbing_samples", [3, pytest.param(4, marks=pytest.mark.slow)])
def test_a_climb_warms_up(num_chains, climbing_samples):
    """Of a climb of 30 updates, in 3: at the first β is 0, at the second neither 0 nor 1; φ learns by it too."""

    def after(updates, latents):
        model = model_of(num_chains=num_chains, updates=30, latents=latents)
        model.fit(patterns(30), batch_size=30, epochs=updates, verbose=0)
        return model

    def differ(one, other):
        return np.abs(np.subtract(flat(one.get_weights()), flat(other.get_weights()))).max()

    warm = ds.latents.NAIS(3, climbing_samples=climbing_samples, warm_up=3)
    cold, never = AtPower(climbing_samples, 0.0), AtPower(climbing_samples, 1.0)
    first, second, plain = after(1, warm), after(2, warm), after(1, never)
    assert_same_state(first, after(1, cold))
    assert differ(first, plain) > 1e-4 and differ(first.recognition, plain.recognition) > 1e-4
    assert differ(second, after(2, cold)) > 1e-5 and differ(second, after(2, never)) > 1e-5


def test_draws_of_phi_alone_do_not_warm_up():
    """The draws that `Wake(redraw=True)` makes: as of a β that is 1, from the same θ."""
    model = tiny_model((2,), units=4, seed=3)
    x, theta = patterns(5), [variable.value for variable in model.theta_variables]
    networks = model.generative, model.recognition, model.prior
    estimator = FisherIdentity(*networks, ds.latents.NAIS(3, warm_up=9))
    drawn, _ = estimator.draw(theta, x, None, [0, 1])
    plain, _ = ds.latents.NAIS(3).draw(*networks[:2], x, [0, 1])
    np.testing.assert_array_equal(drawn.log_weights, plain.log_weights)
    _, warm, _ = estimator.gradient(theta, x, 5.0, [], None, [0, 1], latent_power=0.5)
    assert np.abs(warm.log_weights - drawn.log_weights).max() > 0.01

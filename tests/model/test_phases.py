"""Climb and sampling are programs of their own, and make the steps that one program of both makes."""

import numpy as np
import pytest
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.model.support import patterns, state
from tests.oracles import tiny_model


def fitted(apart, kernel_steps=1):
    """A model whose climb of three steps ends within an epoch, and what its two programs know."""
    model = tiny_model((2,), units=4, seed=3)
    kernel = ds.mcmc.WarmStart(kernel=ds.mcmc.SGNHT(learning_rate=0.05), updates=3)
    options = {**ds.methods.dsgnht_nais(), "kernel": kernel, "kernel_steps": kernel_steps, "num_chains": 1}
    model.compile(**options, jit_compile=False)
    step = model.run.step
    known = [part._updates.sampling for part in (step, step.climb)]
    if not apart:
        step._updates.sampling = step.climb._updates.sampling = None
    model.fit(patterns(), batch_size=20, epochs=2, verbose=0)
    assert int(model.run.state.kernel_results.sampler.step) > 0
    return model, known


def test_each_program_makes_its_own_steps():
    (apart, known), (together, _) = fitted(True), fitted(False)
    assert known == [True, False]
    for one, other in zip(state(apart), state(together), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)


def after_two_steps_of_a_climb(prior, scale):
    """(a model, the scales of its prior before these steps)."""
    model = tiny_model((2,), units=4, seed=3, scale=scale, prior=prior)
    kernel = ds.mcmc.WarmStart(kernel=ds.mcmc.SGNHT(learning_rate=0.05), updates=3)
    model.compile(**{**ds.methods.dsgnht_nais(), "kernel": kernel, "num_chains": 1}, jit_compile=False)
    before = [np.array(part) for part in model.run.state.auxiliary]
    model.fit(patterns(), batch_size=20, epochs=1, steps_per_epoch=2, verbose=0)
    assert int(model.run.state.kernel_results.sampler.step) == 0
    return model, before


def test_an_infinite_slope_of_the_prior_stops_no_step_of_the_climb():
    """At weights of 0.3, the mean of random ones, where the prior has a cusp."""
    model, _ = after_two_steps_of_a_climb(tfp.distributions.GeneralizedNormal(0.3, 1.0, 0.5), 0.0)
    assert int(model.run.state.kernel_results.skipped_steps) == 0


def test_the_scales_of_the_prior_move_while_an_optimizer_climbs():
    model, before = after_two_steps_of_a_climb(ds.priors.Horseshoe(), 1.2)
    assert before
    for one, other in zip(before, model.run.state.auxiliary, strict=True):
        assert (one != np.array(other)).all()


@pytest.mark.slow
def test_a_climb_may_end_between_two_updates_of_a_minibatch():
    assert fitted(True, kernel_steps=2)[1] == [None, None]

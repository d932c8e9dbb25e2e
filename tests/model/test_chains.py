"""Several chains over θ in one model: starts, runs, saving, fitting φ anew."""

import functools
import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.model.support import RATE, assert_same_state, compiled, patterns, state
from tests.oracles import flat, tiny_model
from tests.training.support import batch_of, begin, block_of
from tfdsmcmc import random
from tfdsmcmc.training.run import Run
from tfdsmcmc.training.steps.doubly_stochastic import StepState


def theta_of(model):
    return [variable.numpy() for variable in model.generative.trainable_variables]


def thetas_of(model):
    """θ of each chain."""
    return [theta for theta, _ in model.chain_weights()]


def fit(model, until, start=0, **arguments):
    return model.fit(patterns(), batch_size=30, epochs=until, initial_epoch=start, verbose=0, **arguments)


@pytest.mark.parametrize("num_chains", [1, 3])
@pytest.mark.compiled
def test_a_chain_of_the_run_is_a_chain_of_single_steps(num_chains):
    """The run's steps, one by one, from the seeds that belong to chain and step; φ at rest."""
    model = compiled(num_chains=num_chains, proposal_steps=0)
    run, x = model.run, patterns()
    begin(model, x)
    start, results, first = model.chain_weights(), run.state.kernel_results, run.steps.numpy()
    index = np.random.default_rng(1).integers(0, 90, (3, num_chains, 20)).astype(np.int32)
    run.advance(block_of(x, index if num_chains > 1 else index[:, 0], 3))

    alone = compiled(proposal_steps=0)  # one chain
    step = tf.function(alone.run.step.step, autograph=False)
    for c, (theta, phi) in enumerate(start):
        alone.recognition.set_weights(phi)
        own = results if num_chains == 1 else tf.nest.map_structure(lambda part, c=c: part[c], results)
        state = StepState([tf.constant(part) for part in theta], own, [])
        for i in range(3):
            seed = random.fold(random.stream(run.seed, "step"), first + i)
            seed = seed if num_chains == 1 else random.fold(seed, c)
            state, _ = step(state, batch_of(tf.gather(x, index[i, c]), 90.0), seed)
        np.testing.assert_allclose(flat(thetas_of(model)[c]), flat(state.weights), rtol=1e-5, atol=1e-6)
        assert np.all(flat(thetas_of(model)[c]) != flat(theta))
    np.testing.assert_array_equal(flat(theta_of(model)), flat(thetas_of(model)[0]))


def test_chains_start_apart_and_draw_for_themselves():
    model = compiled(num_chains=3)
    present = theta_of(model)
    begin(model, patterns())
    first, second, third = thetas_of(model)
    np.testing.assert_array_equal(flat(first), flat(present))
    for place, part in enumerate(present):
        if part.ndim == 2 and part.size:
            assert np.all(first[place] != second[place]) and np.all(second[place] != third[place])
    for part in model.run.state.kernel_results.momentum:
        part = part.numpy()
        assert len(np.unique(part)) == part.size


@pytest.mark.slow
def test_programs_of_xla_and_of_tensorflow_agree_and_blocks_do_not_matter():
    x = patterns()
    plain, jitted = (compiled(jit, steps_per_execution=3 + jit, num_chains=2) for jit in (False, True))
    for model in (plain, jitted):
        history = model.fit(x, batch_size=20, epochs=2, verbose=0).history
        assert all(np.isfinite(values).all() for values in history.values())
    for one, two in zip(state(plain), state(jitted), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-3, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "method"),
    [("VAE 3", "vae"), *itertools.product(["NADE/NADE 3", "DARN/DARN 3"], ["rws", "nvil", "dsgnht_gibbs"])],
)
def test_every_method_runs_several_chains_under_xla(name, method):
    model = ds.models.from_name(name, units=4, hidden_units=3)
    model.compile(**{**getattr(ds.methods, method)(), "num_chains": 3})
    history = fit(model, 2).history
    assert all(np.isfinite(values).all() for values in history.values())
    assert len({flat(theta).tobytes() for theta in model.run.weights}) == 3


def test_weights_that_are_set_are_those_of_chain_0():
    model = compiled(num_chains=2)
    other = model.run.weights[1]
    for variable in model.generative.trainable_variables:
        variable.assign(variable + 1.0)
    np.testing.assert_array_equal(flat(thetas_of(model)[0]), flat(theta_of(model)))
    np.testing.assert_array_equal(flat(model.run.weights[1]), flat(other))


def test_compiling_anew_goes_on_with_the_chains_that_there_are():
    model = compiled(num_chains=2)
    model.run.move_to([[part + 1 for part in weights] for weights in model.run.weights])
    before = model.run.weights
    model.compile(kernel=ds.mcmc.SGLD(learning_rate=RATE), jit_compile=False, num_chains=3)
    for one, two in zip(before, model.run.weights):
        np.testing.assert_array_equal(flat(one), flat(two))
    assert len(model.run.weights) == 3
    model.compile(kernel=ds.mcmc.SGLD(learning_rate=RATE), jit_compile=False)
    np.testing.assert_array_equal(flat(theta_of(model)), flat(model.run.weights[0]))
    np.testing.assert_array_equal(flat(theta_of(model)), flat(before[0])[: flat(theta_of(model)).size])


# ---- saving


GIBBS = functools.partial(ds.latents.Gibbs, 2, persistent=True)
METHODS = {
    "SGNHT": lambda: (None, {"kernel": ds.mcmc.SGNHT(learning_rate=RATE)}),
    "scales and chains over z": lambda: (
        {"kernel": ds.priors.Horseshoe(), "": None},
        {"kernel": ds.mcmc.SGNHT(learning_rate=RATE), "latents": GIBBS(), "proposal": None},
    ),
}


@pytest.mark.parametrize("name", ["SGNHT", pytest.param("scales and chains over z", marks=pytest.mark.slow)])
def test_a_saved_run_of_chains_goes_on_bit_for_bit(tmp_path, name):
    prior, method = METHODS[name]()
    model = tiny_model((2,), units=4, seed=3, scale=0.3, prior=prior)
    model.compile(**method, jit_compile=False, num_chains=3)
    fit(model, 1)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.get_compile_config()["num_chains"] == 3
    assert_same_state(model, loaded)
    for each in (model, loaded):
        fit(each, 2, 1)
    assert_same_state(model, loaded)


@pytest.mark.slow
def test_an_interrupted_run_of_chains_goes_on_as_if_it_had_not_been(tmp_path):
    class Die(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if int(self.model.run.epochs) == 1 and batch == 1:
                raise KeyboardInterrupt

    def run(callbacks):
        model = compiled(num_chains=2)
        backup = keras.callbacks.BackupAndRestore(tmp_path / "backup", delete_checkpoint=False)
        fit(model, 3, callbacks=[backup, *callbacks])
        return model

    with pytest.raises(KeyboardInterrupt):
        run([Die()])
    straight = compiled(num_chains=2)
    fit(straight, 3)
    assert_same_state(straight, run([]))


@pytest.mark.parametrize(("saved", "compiled_with"), [(1, 3), (3, 1), (2, 3)])
def test_a_run_of_another_number_of_chains_is_refused(tmp_path, saved, compiled_with):
    model, other = compiled(num_chains=saved), compiled(num_chains=compiled_with)
    model.save_weights(tmp_path / "run.weights.h5")
    for variable in other.weights:
        variable.assign(variable + 1.0)
    before = state(other)
    with pytest.raises(ValueError, match=f"num_chains={saved};.*Received: .*num_chains={compiled_with}"):
        other.load_weights(tmp_path / "run.weights.h5")
    for one, now in zip(before, state(other), strict=True):
        np.testing.assert_array_equal(one, now)


@pytest.mark.parametrize("wrong", [0, -1, 1.5, True, "2", "many"])
def test_numbers_of_chains_that_are_none_are_refused(wrong):
    model = tiny_model((2,), units=4)
    with pytest.raises(ValueError, match="Received: num_chains="):
        model.compile(num_chains=wrong)
    assert model.run is None


@pytest.mark.parametrize(("units", "latent", "expected"), [(9090, 10, 3), (2380, 41, 1)])  # 100,000 and one more
def test_chains_of_themselves_are_one_where_there_are_many_weights(units, latent, expected):
    model = tiny_model((latent,), units=units)
    assert sum(np.size(value) for value in model.generative.get_weights()) == 100_000 + (expected == 1)
    for arguments in ({}, {"num_chains": "auto"}, ds.methods.dsgld_nais(), {**ds.methods.rws(), "num_chains": "auto"}):
        model.compile(**arguments, jit_compile=False)
        assert model.run.num_chains == expected and model.get_compile_config()["num_chains"] == "auto"
    model.compile(**ds.methods.dsgld_nais(num_chains=2), jit_compile=False)
    assert model.run.num_chains == 2
    model.generative.layers[-1].trainable = False
    model.compile(jit_compile=False)
    assert model.run.num_chains == 3  # for the weights that learn are few


# ---- φ anew, and chains over z


def test_phi_of_each_chain_is_fitted_anew_at_its_weights(monkeypatch):
    """No chain moves; with one chain φ is fitted at the weights of the layers, and the others stay as they are."""
    model, begin, begun = compiled(num_chains=3), Run.begin, []

    def spy(run, *arguments):
        begun.append(run.weights)
        return begin(run, *arguments)

    monkeypatch.setattr(Run, "begin", spy)
    (_, *start), before = model.run.weights, model.chain_weights()
    model.refit_recognition(patterns(), epochs=1)
    between = model.chain_weights()
    for (theta, phi), (same, other) in zip(before, between):
        np.testing.assert_array_equal(flat(theta), flat(same))
        assert np.all([np.any(a != b) for a, b in zip(phi, other)])
    assert len({flat(phi).tobytes() for _, phi in between}) == 3
    model.refit_recognition(patterns(), epochs=1, num_chains=1)
    for (theta, phi), (same, other), moved in zip(between, model.chain_weights(), (True, False, False)):
        np.testing.assert_array_equal(flat(theta), flat(same))
        assert np.any(flat(phi) != flat(other)) == moved
    assert [len(each) for each in begun] == [3, 1]
    for one, two in zip(start, begun[0][1:]):
        np.testing.assert_array_equal(flat(one), flat(two))
    with pytest.raises(ValueError, match="Received: num_chains=4"):
        model.refit_recognition(patterns(), epochs=1, num_chains=4)


def test_each_chain_keeps_chains_over_z_of_its_own():
    """They start apart; a step moves those of a chain's own rows, from where they stand, and no others."""
    model = tiny_model((2,), units=4, seed=3, scale=0.3)
    model.compile(**ds.methods.dsgnht_gibbs(RATE, num_samples=2, num_chains=2), jit_compile=False)
    run, x, index = model.run, patterns(50), np.array([[[3, 41, 7, 20], [8, 3, 49, 0]]], np.int32)
    run.move_to([run.weights[0]] * 2)  # so that only their seeds tell the starts apart
    begin(model, x)
    before = [part.numpy() for part in run.state.carried]
    assert [part.shape for part in before] == [(2, 50, 2)]
    assert np.any(before[0][0] != before[0][1])
    for _ in range(8):
        run.advance(block_of(x, index))
    for c in range(2):
        others = np.setdiff1d(np.arange(50), index[0, c])
        after = [part.numpy()[c] for part in run.state.carried]
        for a, b in zip(before, after):
            np.testing.assert_array_equal(a[c][others], b[others])
        assert any(np.any(a[c][index[0, c]] != b[index[0, c]]) for a, b in zip(before, after))


def test_chains_over_z_start_from_the_recognition_network_of_their_chain():
    """Biases of −30 and 30 leave no doubt: zeros in chain 0, ones in chain 1; the layers keep φ of chain 0."""
    model = tiny_model((2,), units=4, seed=3, scale=0.3)
    gibbs = ds.latents.Gibbs(2, 0, persistent=True)
    model.compile(ds.mcmc.SGLD(learning_rate=RATE), gibbs, None, jit_compile=False, num_chains=2)
    bias = model.recognition.layers[0].bias
    bias.assign(tf.fill([2], -30.0))
    theta = len(theta_of(model))
    weights = [[part.copy() for part in chain] for chain in model.run.weights]
    weights[1][theta + 1][:] = 30.0
    model.run.move_to(weights)
    begin(model, patterns(20))
    for part in model.run.state.carried:
        np.testing.assert_array_equal(part[0], 0)
        np.testing.assert_array_equal(part[1], 1)
    np.testing.assert_array_equal(bias, np.full(2, -30.0))

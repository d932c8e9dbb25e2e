"""What each part of a method keeps between steps is saved, restored and gone on with."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.model.support import assert_same_state, patterns
from tests.oracles import tiny_model
from tests.pool import pooled
from tests.training.support import begin, block_of

FLAT = {"": None}


def adam():
    return keras.optimizers.Adam(1e-2)


CHOICES = {
    "MAP and WakeSleep": lambda: (FLAT, ds.methods.rws(1e-2)),
    "NVIL": lambda: (FLAT, ds.methods.nvil(1e-2, baseline_units=3)),
    "Gibbs": lambda: (
        None,
        {"kernel": ds.mcmc.SGHMC(learning_rate=0.05), "latents": ds.latents.Gibbs(2, 1), "proposal": None},
    ),
    "persistent Gibbs": lambda: (
        None,
        {
            "kernel": ds.mcmc.SGNHT(learning_rate=0.05),
            "latents": ds.latents.Gibbs(2, persistent=True),
            "proposal": None,
        },
    ),
    "horseshoe": lambda: (
        ds.priors.Horseshoe(),
        {"kernel": ds.mcmc.SGNHT(learning_rate=0.05), "latents": ds.latents.NAIS(2)},
    ),
    "estimated noise": lambda: (
        None,
        {"kernel": ds.mcmc.SGHMC(learning_rate=0.05, gradient_noise="estimate"), "latents": ds.latents.NAIS(2)},
    ),
    "preconditioned": lambda: (
        {"kernel": ds.priors.ThreeParameterBetaNormal(1.0, 0.5), "": None},
        {"kernel": ds.mcmc.PreconditionedSGLD(learning_rate=1e-3), "proposal": ds.proposals.Sleep(adam())},
    ),
}


@pooled
def compiled(name, seed=3, jit_compile=False):
    prior, method = CHOICES[name]()
    model = tiny_model((2, 2), units=4, seed=seed, scale=0.3, prior=prior)
    model.compile(**method, jit_compile=jit_compile, steps_per_execution=2)
    return model


def fit(model, until, start=0):
    return model.fit(patterns(), batch_size=40, epochs=until, initial_epoch=start, verbose=0)


QUICK = ("NVIL",)


@pytest.mark.parametrize(
    "name", [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in CHOICES]
)
def test_a_saved_run_goes_on_bit_for_bit(name, tmp_path):
    """The whole model into a file and back; and its weights and chain into another model."""
    model = compiled(name)
    start = {key: variable.numpy() for key, variable in model.run.saved.items()}
    fit(model, 2)
    for key, before in start.items():
        assert not before.ndim or not before.size or np.any(model.run.saved[key].numpy() != before), f"{key} rests"
    model.save(tmp_path / "model.keras")
    model.save_weights(tmp_path / "model.weights.h5")
    loaded, other = keras.saving.load_model(tmp_path / "model.keras"), compiled(name, seed=4)
    other.load_weights(tmp_path / "model.weights.h5")
    for each in (loaded, other):
        assert_same_state(model, each)
    for each in (model, loaded, other):
        fit(each, 4, 2)
    for each in (loaded, other):
        assert_same_state(model, each)
        assert int(each.run.epochs) == 4


def test_a_checkpoint_has_it_all(tmp_path):
    for name in ("persistent Gibbs", "NVIL", "horseshoe"):
        model, other = compiled(name), compiled(name, seed=4)
        begin(model, patterns())
        begin(other, patterns(seed=1))
        for variable in model.run.saved.values():
            variable.assign(variable + 1)
        path = tf.train.Checkpoint(model=model).save(str(tmp_path / name))
        tf.train.Checkpoint(model=other).restore(path).assert_existing_objects_matched()
        assert_same_state(model, other)


@pytest.mark.slow
def test_each_row_keeps_its_own_chain():
    """A step moves the chains of its rows, each by the sweeps of that row, and no other."""
    model = compiled("persistent Gibbs")
    x = patterns(50)
    begin(model, x)
    before = [part.numpy() for part in model.run.state.carried]
    assert [part.shape for part in before] == [(50, 2), (50, 2)] and before[0].dtype == np.uint8
    index = np.array([[3, 41, 7, 20], [0, 0, 0, 0]], np.int32)
    for _ in range(8):
        model.run.advance(block_of(x, index))
    after = [part.numpy() for part in model.run.state.carried]
    others = np.setdiff1d(np.arange(50), index[0])
    for a, b in zip(before, after):
        np.testing.assert_array_equal(a[others], b[others])
        assert set(np.unique(b)) <= {0, 1}
    assert any(np.any(a[index[0]] != b[index[0]]) for a, b in zip(before, after))


def test_chains_of_rows_go_on_from_where_they_stand(monkeypatch):
    model = compiled("persistent Gibbs")
    x, carries = patterns(50), []
    begin(model, x)
    draw = model.run.step.estimator.latents.draw

    def spy(generative, recognition, x, seed, carry=None):
        carries.append((carry, draw(generative, recognition, x, seed, carry)[1]))
        return draw(generative, recognition, x, seed, carry)

    monkeypatch.setattr(model.run.step.estimator.latents, "draw", spy)
    tf.config.run_functions_eagerly(True)
    try:
        for _ in range(2):
            model.run.advance(block_of(x, [[41, 3]]))
    finally:
        tf.config.run_functions_eagerly(False)
    first, second = carries
    for a, b in zip(first[1], second[0]):
        np.testing.assert_array_equal(a, b)


@pytest.mark.slow
@pytest.mark.parametrize("jit_compile", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_chains_start_anew_for_other_data_and_go_on_for_the_same(jit_compile):
    """Also for as many other rows; and the compiled loop moves the chains of whatever data come."""
    model, x = compiled("persistent Gibbs", jit_compile=jit_compile), patterns()
    begin(model, x)
    kept = [part.numpy() for part in model.run.state.carried]
    begin(model, x.copy())
    for a, b in zip(kept, model.run.state.carried):
        np.testing.assert_array_equal(a, b)
    begin(model, 1 - x)
    assert any(np.any(a != b.numpy()) for a, b in zip(kept, model.run.state.carried))
    for rows in (30, 45, 30):
        begin(model, x[:rows])
        before = [part.numpy() for part in model.run.state.carried]
        assert before[0].shape == (rows, 2)
        for _ in range(3):
            model.run.advance(block_of(x[:rows], [range(20)]))
        assert any(np.any(a != b.numpy()) for a, b in zip(before, model.run.state.carried)), f"{rows} rows rest"


def test_new_chains_have_their_burn_in():
    x, starts = patterns(30), []
    for burn_in in (0, 4):
        model = tiny_model((2, 2), units=4, seed=3, scale=2.0)
        model.compile(latents=ds.latents.Gibbs(1, burn_in, persistent=True), proposal=None, jit_compile=False)
        begin(model, x)
        starts.append(model.run.state.carried[0].numpy())
    assert np.any(starts[0] != starts[1])


def test_a_file_that_does_not_fit_leaves_the_chains_alone(tmp_path):
    model, other = compiled("persistent Gibbs"), tiny_model((2, 2), units=4, seed=3)
    other.compile(kernel="sgld", latents=ds.latents.Gibbs(persistent=True), jit_compile=False)
    begin(model, patterns(30))
    begin(other, patterns(20))
    model.save_weights(tmp_path / "model.weights.h5")
    before = [variable.numpy() for variable in other.run.saved.values()]
    with pytest.raises(ValueError, match="another kernel or prior"):
        other.load_weights(tmp_path / "model.weights.h5")
    for a, b in zip(before, other.run.saved.values()):
        np.testing.assert_array_equal(a, b)


def test_a_second_chain_draws_anew():
    """Nothing that begins with the second chain repeats the first: momentum, scales, chains over z."""
    model = compiled("persistent Gibbs")
    model.prior = ds.Prior(ds.priors.Horseshoe())
    states = []
    for _ in range(2):
        model.compile(**CHOICES["persistent Gibbs"]()[1], jit_compile=False)
        begin(model, patterns())
        states.append({key: variable.numpy() for key, variable in model.run.saved.items()})
        model.run.steps.assign_add(1)
    for key in ("auxiliary_1", "carried_0", "kernel_results_1"):
        assert np.any(states[0][key] != states[1][key]), f"{key} is drawn again"


def test_draws_that_weigh_alike_do_not_suit_the_wake_phase():
    model = tiny_model((2,), units=4)
    for proposal in (ds.proposals.Wake(), ds.proposals.WakeSleep()):
        with pytest.raises(ValueError, match="Received: latents NAIS with weights='uniform'"):
            model.compile(latents=ds.latents.NAIS(5, "uniform"), proposal=proposal)


def test_persistent_chains_need_an_array():
    model = compiled("persistent Gibbs")
    with pytest.raises(ValueError, match="rows with random access. Received: x, a dataset"):
        model.fit(tf.data.Dataset.from_tensor_slices(patterns()).batch(30), epochs=1, verbose=0)
    assert int(model.run.steps) == 0


@pytest.mark.slow
def test_without_a_proposal_phi_stays():
    model = compiled("Gibbs")
    phi = [variable.numpy() for variable in model.recognition.trainable_variables]
    fit(model, 1)
    assert model.optimizer is None
    for variable, before in zip(model.recognition.trainable_variables, phi):
        np.testing.assert_array_equal(variable, before)
    # it learns afterwards, by the wake phase
    theta = [variable.numpy() for variable in model.generative.trainable_variables]
    model.refit_recognition(patterns(), epochs=1, latents=ds.latents.NAIS(3))
    assert any(np.any(v.numpy() != before) for v, before in zip(model.recognition.trainable_variables, phi))
    for variable, before in zip(model.generative.trainable_variables, theta):
        np.testing.assert_array_equal(variable, before)


def test_choices_have_names():
    model = tiny_model((2,), units=4)
    model.compile(kernel="sgld", latents="gibbs", proposal="sleep", jit_compile=False)
    step = model.run.step
    assert isinstance(step.kernel, ds.mcmc.SGLD) and isinstance(step.estimator.latents, ds.latents.Gibbs)
    assert isinstance(step.learning.proposal, ds.proposals.Sleep)
    for wrong in ({"kernel": "sgd"}, {"latents": 5}, {"proposal": "dream"}, {"kernel": ds.mcmc.SGLD}):
        with pytest.raises(ValueError, match=f"Received: {next(iter(wrong))}="):
            model.compile(**wrong)


def test_objectives_that_need_continuous_latents_say_so_at_compile():
    model = tiny_model((2,), units=4)
    with pytest.raises(ValueError, match="continuous"):
        model.compile(**ds.methods.vae())

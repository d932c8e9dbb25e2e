"""A warm start in a run: the climb knows no prior, and ends where it should."""

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.model.support import patterns
from tests.oracles import flat, tiny_model
from tests.posterior.support import Script
from tests.training.warm_starts import LEARNT, fit, flat_chains, model_of
from tfdsmcmc.training.fitting.arguments import FitArguments

tfd = tfp.distributions


def test_the_climb_knows_no_prior_and_sampling_does():
    strong, flat_one = (model_of(prior, updates=6) for prior in (tfd.Normal(0.0, 0.01), {"": None}))
    for model in (strong, flat_one):
        fit(model, 2)
        assert not model.run.sampled  # the next step samples
    np.testing.assert_array_equal(flat(strong.get_weights()), flat(flat_one.get_weights()))
    for model in (strong, flat_one):
        fit(model, 3, 2)
    assert np.any(flat(strong.get_weights()) != flat(flat_one.get_weights()))


def test_half_of_the_planned_updates():
    model = model_of()
    fit(model, 4)
    assert model.run.sampled and int(model.run.state.kernel_results.begins) == 6
    assert int(model.run.state.kernel_results.sampler.step) == 6
    fit(model, 12, 4)
    assert int(model.run.state.kernel_results.begins) == 6


@pytest.mark.parametrize(("kernel_steps", "arguments", "begins"), [
    (1, {}, 13),  # of 4½ epochs 4, three updates each, and one that goes back
    (1, {"validation_freq": 3}, 10),
    (1, {"validation_freq": [2, 5]}, 7),
    (1, {"validation_freq": [5]}, 13),  # no look: half of 27
    pytest.param(2, {}, 25, marks=pytest.mark.slow),
    pytest.param(1, {"validation_data": None}, 13, marks=pytest.mark.slow),
])  # fmt: skip
def test_the_climb_ends_with_its_last_look(kernel_steps, arguments, begins):
    """What the optimizer does in the last epoch before sampling counts: its weights may be the best."""
    model, visited, values = model_of(patience=1000, kernel_steps=kernel_steps), [], iter(range(100))
    validated = model.run.validated

    def look(value, epoch_steps, outdoes):
        visited.append((int(model.run.state.kernel_results.step), flat_chains(model)[0]))
        validated(float(next(values)), epoch_steps)

    model.run.validated = look
    fit(model, 9, **{"validation_data": patterns(), **arguments})
    results = model.run.state.kernel_results
    assert int(results.begins) == begins and model.run.sampled
    looks = dict(visited)
    if begins - 1 in looks:
        assert int(results.best_step) == begins - 1
        np.testing.assert_array_equal(flat(results.best_state), looks[begins - 1])


@pytest.mark.parametrize(("initial_epoch", "epochs", "every", "looks"), [
    (0, 9, 1, [1, 2, 3, 4, 5, 6, 7, 8, 9]), (4, 9, 1, [1, 2, 3, 4, 5]), (0, 9, 4, [4, 8]), (5, 13, 4, [3, 7]),
    (4, 13, 4, [4, 8]), (0, 9, [2, 12], [2]), (2, 12, [2, 3, 12], [1, 10]), (9, 9, 1, []), (9, 9, [9], []),
])  # fmt: skip
def test_looks_are_planned_as_keras_looks(initial_epoch, epochs, every, looks):
    settings = dict.fromkeys(FitArguments._fields) | {"epochs": epochs, "initial_epoch": initial_epoch}
    assert list(FitArguments(**settings | {"validation_freq": every}).looks) == looks
    model = model_of(updates=0)
    history = fit(model, epochs, initial_epoch, validation_data=patterns(10), validation_freq=every).history
    assert len(history.get("val_log_likelihood", [])) == len(looks)


@pytest.mark.parametrize("num_chains", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_sampling_begins_at_the_best_weights(num_chains):
    """All chains at those of the second epoch, after which the validation of chain 0 falls."""
    model, visited = model_of(patience=6, num_chains=num_chains), []
    values, validated = [1.0, 3.0, 2.0, 1.0], model.run.validated

    def look(value, epoch_steps, outdoes):
        visited.append(flat_chains(model))
        assert epoch_steps == 3
        validated(values[len(visited) - 1], epoch_steps)

    def stop(epoch, logs):
        model.stop_training = epoch == 3

    model.run.validated = look
    fit(model, 9, validation_data=patterns(), callbacks=[keras.callbacks.LambdaCallback(on_epoch_end=stop)])
    results = model.run.state.kernel_results
    assert np.all(results.best_step == 6) and np.all(results.begins == 13)
    model.fit(patterns(), batch_size=30, steps_per_epoch=1, epochs=5, initial_epoch=4, verbose=0)
    assert not model.run.sampled
    for part, best, last in zip(flat_chains(model), visited[1], visited[3], strict=True):
        np.testing.assert_array_equal(part, best)
        assert np.any(part != last)


def test_patience_counts_the_updates_between_two_looks():
    model, told = model_of(), []
    model.run.validated = lambda value, epoch_steps, outdoes: told.append(epoch_steps)
    fit(model, 6, validation_data=patterns(), validation_freq=2)
    fit(model, 8, 6, validation_data=patterns(), validation_freq=(8,))
    fit(model, 14, 8, validation_data=patterns(), validation_freq=[5, 9, 10, 14])
    assert told == [6, 6, 6, 6, 3, 3, 12]
    with pytest.raises(ValueError, match="validation_freq must be .*Received: validation_freq=0"):
        fit(model, 15, 14, validation_data=patterns(), validation_freq=[9, 0])


@pytest.mark.parametrize(
    ("proposal", "frozen", "proposal_steps"), [(None, False, 1), (None, True, 1), ("wake", True, 1), ("wake", False, 0)]
)
def test_validation_by_a_recognition_network_that_does_not_learn_is_not_heard(proposal, frozen, proposal_steps):
    model = tiny_model((2,), units=4, seed=3, scale=0.3)
    model.recognition.trainable = not frozen
    kernel = ds.mcmc.WarmStart(kernel=ds.mcmc.SGNHT(learning_rate=0.1), patience=1)
    model.compile(kernel, ds.latents.Gibbs(2, 1), proposal, proposal_steps=proposal_steps, jit_compile=False)
    fit(model, 3, validation_data=patterns())
    results = model.run.state.kernel_results
    assert int(results.best_step) == 0 and int(results.begins) == 4  # half of the nine updates


@pytest.mark.parametrize("num_chains", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_callback_ends_the_climb(num_chains):
    """At the end of the second epoch of three steps; a step without a climb is not changed by it."""
    model = model_of(num_chains=num_chains)

    class Clock(keras.callbacks.Callback):
        def on_epoch_end(self, epoch, logs=None):
            if epoch == 1:
                self.model.run.end_climb()

    fit(model, 8, callbacks=[Clock()])
    results = model.run.state.kernel_results
    assert np.all(results.begins == 6) and np.all(results.sampler.step == 18)
    model.compile(kernel=ds.mcmc.SGHMC(), jit_compile=False, num_chains=num_chains)
    before = [part.numpy() for part in tf.nest.flatten(model.run.state)]
    model.run.end_climb()
    for part, want in zip(tf.nest.flatten(model.run.state), before, strict=True):
        np.testing.assert_array_equal(part, want)


@pytest.mark.parametrize("num_chains", [1, "auto", pytest.param(2, marks=pytest.mark.slow)])
def test_a_climb_that_ends_before_the_first_step(num_chains):
    """As from weights that have learnt elsewhere: the first step samples, with a momentum for its number of rows."""
    model = model_of(num_chains=num_chains)
    model.run.end_climb()
    fit(model, 2)
    results = model.run.state.kernel_results
    assert np.all(results.begins == 0) and np.all(results.sampler.step == 6)


@pytest.mark.slow
def test_a_dataset_of_unknown_length_needs_another_end():
    rows = tf.data.Dataset.from_tensor_slices(patterns(40)).batch(20).filter(lambda x: True)
    model = model_of()
    with pytest.raises(ValueError, match="steps_per_epoch, validation_data or its own updates. Received: a run"):
        model.fit(rows, epochs=2, verbose=0)
    assert float(model.run.num_rows) == 0 and model.fitting.feed is None
    model_of(updates=1).fit(rows, epochs=1, verbose=0)
    before = model.get_weights()
    model.refit_recognition(rows, 1)  # θ does not move: there is nothing to warm
    assert np.any(flat(model.recognition.get_weights()) != flat(before[len(model.generative.weights) :]))


def test_nothing_is_collected_before_the_chain(tmp_path):
    for name, arguments in {"burn in": {"burn_in": 1}, "trend": {"patience": 3}}.items():
        model = model_of(updates=9)
        collector = ds.posterior.Collector(tmp_path / name, num_samples=2, every=1, **arguments)
        fit(model, 12, validation_data=patterns(10), callbacks=[Script([-1.0] * 12), collector])
        first = ds.posterior.load(tmp_path / name).samples[0].step
        # the epoch that ends with update 9 ends the climb; five looks make a trend
        assert first == (12 if name == "burn in" else 24)


@pytest.mark.slow
def test_programs_of_xla_and_of_tensorflow_agree():
    plain, jitted = (model_of(LEARNT, jit_compile=jit, updates=4, num_chains=2) for jit in (False, True))
    for model in (plain, jitted):
        fit(model, 3)
    for one, other in zip(plain.chain_weights(), jitted.chain_weights()):
        np.testing.assert_allclose(flat(one[0]), flat(other[0]), rtol=1e-3, atol=1e-5)

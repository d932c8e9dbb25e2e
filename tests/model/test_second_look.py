"""Before a climb goes back to its best weights, annealing says whether the present ones are better."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import Oracle, binary_states, tiny_model
from tfdsmcmc.model import second_look

ROWS = binary_states(4).astype(np.float32)
FEW = {"val_effective_sample_size": 1.5}


def at(seed, monkeypatch=None, evaluation_samples=1):
    """A model and the pair of its weights; with `monkeypatch` the model is within a fit."""
    model = tiny_model((3,), units=4, seed=seed)
    if monkeypatch:
        model.fitting.settings = {"evaluation_samples": evaluation_samples}
        monkeypatch.setattr(type(model), "validation_source", property(lambda self: self.source("x", ROWS)))
    return model, (model.generative.get_weights(), model.recognition.get_weights())


@pytest.mark.parametrize(("one", "other"), [(6, 1), (1, 6)])
def test_the_exact_log_likelihood_decides(one, other, monkeypatch):
    """By enumeration the two differ by nats a row; q of neither has learnt."""
    (model, _), (twin, weights) = at(one, monkeypatch), at(other)
    gains = np.subtract(*(Oracle(m).log_likelihood(ROWS) for m in (model, twin)))
    assert abs(gains.mean()) > 3 * gains.std() / np.sqrt(len(gains))
    assert model.outdoes(*weights, FEW) == (gains.mean() > 0)


def test_importance_samples_that_are_many_enough_are_believed(monkeypatch):
    (model, _), (_, weights) = at(6, monkeypatch), at(1)
    found = [model.outdoes(*weights, {"val_effective_sample_size": size}) for size in (4.9, 5.0)]
    assert found == [max(found), False]
    monkeypatch.setattr(second_look, "_ENOUGH", 0.0)
    assert not model.outdoes(*weights, FEW)


@pytest.mark.parametrize(
    ("architecture", "asked"), [("SBN/DARN 3-2", 2), ("NADE/NADE 3", 0), ("NADE 3", 0), ("VAE 2", 0)]
)
def test_networks_whose_sweeps_are_fast_are_looked_at(architecture, asked, monkeypatch):
    model, calls = ds.models.from_name(architecture, 4, seed=0), []
    monkeypatch.setattr(type(model), "validation_source", property(lambda self: self.source("x", ROWS)))
    monkeypatch.setattr(second_look, "_annealed", lambda *_: calls.append(0) or np.arange(16.0) + len(calls))
    assert not model.outdoes(model.generative.get_weights(), [], FEW) and len(calls) == asked


@pytest.mark.parametrize(("shift", "better"), [(0.1, True), (-0.1, False)])
def test_annealing_is_believed_where_it_finds_more_than_importance_samples(shift, better, monkeypatch):
    """All of these are lower bounds; where its steps are too few it says nothing, however far apart its estimates."""
    (model, _), (_, weights) = at(6, monkeypatch, 20), at(1)
    seed = ds.random.stream(model.seed, "second look")
    weighed = model.log_likelihood(ROWS, 20, seed).value
    found = iter([weighed + shift, weighed - 9.0])
    monkeypatch.setattr(second_look, "_annealed", lambda *_: next(found))
    assert model.outdoes(*weights, FEW) is better


@pytest.mark.parametrize(("gain", "better"), [(0.2, False), (0.3, True)])
def test_a_gain_is_more_than_its_error(gain, better, monkeypatch):
    """Sixteen gains that alternate by ±1 have a mean of the error 1/√15 = 0.258."""
    (model, _), (_, weights) = at(6, monkeypatch), at(1)
    found = iter([np.zeros(16), np.tile([-1.0, 1.0], 8) - gain])
    monkeypatch.setattr(second_look, "_annealed", lambda *_: next(found))
    assert model.outdoes(*weights, FEW) is better


def test_both_are_annealed_by_the_same_draws_each_from_its_own_q(monkeypatch):
    (model, present), (_, (theta, phi)) = at(6, monkeypatch), at(1)
    asked, annealed = [], second_look.annealed_importance_sampling

    def watched(*arguments, seed, weights, **named):
        asked.append((np.asarray(seed).tolist(), weights))
        return annealed(*arguments, seed=seed, weights=weights, **named)

    monkeypatch.setattr(second_look, "annealed_importance_sampling", watched)
    for kept, wanted in ((phi, phi), ([], present[1])):
        asked.clear()
        model.outdoes(theta, kept, FEW)
        (one, own), (other, found) = asked
        assert one == other and own is None
        for parts, want in zip(found, (theta, wanted), strict=True):
            for part, value in zip(parts, want, strict=True):
                np.testing.assert_array_equal(part, value)


def test_no_gain_is_none(monkeypatch):
    """The same weights have the same estimates by the same draws; one row has no error."""
    model, weights = at(6, monkeypatch)
    assert not model.outdoes(*weights, FEW) and not model.outdoes(weights[0], [], FEW)
    assert not model.outdoes(*at(1)[1], {"val_log_likelihood": -3.0})  # of an evaluate of one's own
    monkeypatch.setattr(type(model), "validation_source", property(lambda self: self.source("x", ROWS[:1])))
    assert not model.outdoes(*at(1)[1], FEW)


class Looks(keras.callbacks.Callback):
    """The weights after each epoch, before the run hears of the look."""

    def __init__(self):
        super().__init__()
        self.seen, self.asked, self.answers = [], [], []

    def on_test_begin(self, logs=None):
        self.seen.append(self.model.chain_weights())

    def outdoes(self, model, theta, phi, logs):
        self.asked.append((len(self.seen), [np.asarray(part) for part in (*theta, *phi)], dict(logs)))
        return self.answers.pop(0)


def climbed(monkeypatch, answers, values, num_chains=1, patience=15, kernel_steps=1):
    """A fit of epochs of three steps whose looks find these values, the last one from then on."""
    model, looks = tiny_model((2,), units=4, seed=3, scale=0.3), Looks()
    looks.answers = list(answers)
    kernel = ds.mcmc.WarmStart(kernel=ds.mcmc.SGNHT(learning_rate=0.1), patience=patience, fraction=0.9)
    how = {"num_chains": num_chains, "kernel_steps": kernel_steps}
    model.compile(kernel, ds.latents.NAIS(3), "wake", jit_compile=False, **how)
    monkeypatch.setattr(type(model), "outdoes", lambda *arguments: looks.outdoes(*arguments))

    def evaluate(*args, **kwargs):
        looks.on_test_begin()
        value = values[min(len(looks.seen), len(values)) - 1]
        return {"log_likelihood": value, "effective_sample_size": 1.5, "loss": -value}

    looks.set_model(model)
    monkeypatch.setattr(model, "evaluate", evaluate)
    model.fit(ROWS[:6], batch_size=2, epochs=40, validation_data=ROWS, verbose=0)
    return model, looks, model.run.state.kernel_results


@pytest.mark.parametrize("num_chains", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_climb_goes_on_from_weights_that_are_better(num_chains, monkeypatch):
    """The best look is the first. Five looks later the present weights are better, and five later they are not."""
    model, looks, results = climbed(monkeypatch, [True, False], [-1.0, -1.2], num_chains)
    assert [epoch for epoch, *_ in looks.asked] == [6, 11]
    assert np.all(results.best_step == 18) and np.all(results.begins == 34)
    for (_, found, logs), epoch in zip(looks.asked, (1, 6), strict=True):
        assert logs["val_effective_sample_size"] == 1.5
        theta, phi = looks.seen[epoch - 1][0]
        for part, want in zip(found, [*theta, *phi], strict=True):
            np.testing.assert_array_equal(part, want)
    started = model.run.step.started_at(model.run.state)[0]
    for chain, (theta, _) in enumerate(looks.seen[5]):
        for part, want in zip(started, theta, strict=True):
            np.testing.assert_array_equal(part[chain] if num_chains > 1 else part, want)


def test_where_the_present_weights_are_no_better_it_goes_back(monkeypatch):
    _, looks, results = climbed(monkeypatch, [False], [-1.0, -1.2])
    assert len(looks.asked) == 1 and int(results.best_step) == 3 and int(results.begins) == 19


@pytest.mark.parametrize("kernel_steps", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_the_end_of_a_plan_is_looked_at_too(kernel_steps, monkeypatch):
    """36 epochs are planned; the best was five looks before. Nearer ones are not worth it."""
    values = [min(epoch, 31) - 0.2 * (epoch > 31) for epoch in range(1, 37)]
    for shift, asked in ((0, 1), (1, 0)):
        _, looks, results = climbed(
            monkeypatch, [True] * asked, [0.0] * shift + values, patience=500, kernel_steps=kernel_steps
        )
        assert len(looks.asked) == asked and int(results.begins) == 108 * kernel_steps + 1
        assert int(results.best_step) == (108 if asked else 96) * kernel_steps


def test_a_coarse_attempt_that_is_better_goes_on():
    kernel = ds.mcmc.WarmStart(lambda x, seed: [-x], ds.mcmc.SGNHT(learning_rate=0.1))
    results = kernel.bootstrap_results([tf.ones([2])])
    results = kernel.told(ds.mcmc.events.Planned(1000, 2), results, [tf.ones([2])])
    for step, value, better in ((2, -20.0, False), (4, -10.0, False), (20, -30.0, True)):
        results = results._replace(step=tf.constant(step))
        results = kernel.told(ds.mcmc.events.Validated(tf.constant(value), 2, better), results, [tf.ones([2])])
    assert int(results.best_step) == 20 and int(results.attempt.ends) == 0 and int(results.begins) == 500

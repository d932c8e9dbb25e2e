"""Estimates, and what the model refuses."""

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.model.support import compiled, patterns, state
from tests.oracles import Oracle, binary_states, tiny_model


@pytest.mark.compiled
def test_evaluate_and_log_likelihood_meet_enumeration():
    model = tiny_model((3, 2), units=4, seed=5)
    states = binary_states(4)
    exact = Oracle(model).log_likelihood(states)
    estimate = model.log_likelihood(states, num_samples=4000)
    # 16 rows, |z| > 6 has a probability of 2e-9 each
    assert np.all(np.abs(estimate.value - exact) < 6 * estimate.standard_error + 1e-4)
    logs = model.evaluate(states, num_samples=4000, verbose=0, return_dict=True)
    assert logs["log_likelihood"] == pytest.approx(exact.mean(), abs=6 * estimate.mean().standard_error)
    assert model.evaluate(states, num_samples=50, verbose=0) == model.evaluate(states, num_samples=50, verbose=0)


def test_sample_is_seeded_and_probabilities_are_those_of_the_drawn_parents():
    model = tiny_model((3, 2), units=4)
    draws = model.sample(200, seed=1)
    assert draws.dtype == np.float32 and draws.shape == (200, 4) and set(np.unique(draws)) == {0.0, 1.0}
    np.testing.assert_array_equal(draws, model.sample(200, seed=1))
    assert not np.array_equal(draws, model.sample(200, seed=2))
    probabilities = model.sample(200, seed=1, probabilities=True)
    _, z = model.generative.sample(200, 1)
    data_layer = model.generative.layers[-1]
    logits = z[0].numpy() @ data_layer.kernel.numpy() + data_layer.bias.numpy()
    np.testing.assert_allclose(probabilities, 1 / (1 + np.exp(-logits)), rtol=1e-5)


def test_averaged_samples_are_means_given_the_top_units_of_the_same_seed():
    """Rows of the same top units, of four states, differ by chance alone, and by half as much as single means."""
    model = tiny_model((3, 2), units=4, scale=2.0)
    averaged = model.sample(600, seed=1, probabilities=True, num_averaged=4)
    assert averaged.dtype == np.float32 and averaged.shape == (600, 4)
    single, top = model.sample(600, seed=1, probabilities=True), model.generative.sample(600, 1)[1][-1].numpy()
    states, places = np.unique(top @ [2, 1], return_inverse=True)
    groups = [(averaged[places == i], single[places == i]) for i in range(len(states))]
    assert len(states) == 4 and min(len(part) for part, _ in groups) > 50
    for part, one in groups:
        # one of 16 means is six standard errors off with a chance of 3e-8
        error = np.sqrt((part.var(0) + one.var(0)) / len(part))
        assert (np.abs(part.mean(0) - one.mean(0)) < 6 * error + 1e-5).all()
    spread = [sum(parts[i].var(0).sum() * len(parts[i]) for parts in groups) for i in (0, 1)]
    assert 0.17 < spread[0] / spread[1] < 0.35
    with pytest.raises(ValueError, match="Received: num_averaged=2"):
        model.sample(3, num_averaged=2)
    for wrong in (0, 2**31):
        with pytest.raises(ValueError, match=f"Received: num_averaged={wrong}"):
            model.sample(3, probabilities=True, num_averaged=wrong)
    plain = ds.models.from_name("SBN", units=4)
    mean = plain.sample(3, probabilities=True, num_averaged=2)
    np.testing.assert_allclose(mean, plain.sample(3, probabilities=True), rtol=1e-6)


BAD_DATA = {  # and what their refusal says after the argument's name
    "infinite": (np.array([[0.0, 1.0, np.inf, 0.0]]), "must be finite"),
    "not binary": (np.array([[0.0, 1.0, 0.5, 0.0]]), "must be binary"),
    "too wide": (np.zeros((3, 5)), r"must have the shape \(rows, 4\)"),
    "no rows": (np.zeros((0, 4)), "must have at least one row"),
    "a vector": (np.zeros(4), r"must have the shape \(rows, 4\)"),
    "text": (np.array([["a", "b", "c", "d"]]), "must be an array of real numbers"),
    "nothing": (None, "must be an array of numbers"),
}


@pytest.mark.parametrize("kind", BAD_DATA)
def test_bad_data_are_refused_before_anything_changes(kind):
    model = compiled()
    before = state(model)
    bad, reason = BAD_DATA[kind]
    calls = [
        ("x", lambda: model.fit(bad, verbose=0)),
        ("x", lambda: model.evaluate(bad)),
        ("x", lambda: model.log_likelihood(bad)),
        ("x", lambda: ds.likelihood.exact(model, bad)),
    ]
    if bad is not None:  # no validation data are what a fit has by default
        calls.append(("validation_data", lambda: model.fit(patterns(), validation_data=bad, verbose=0)))
    for name, call in calls:
        with pytest.raises(ValueError, match=f"^{name} {reason}.*Received: "):
            call()
    for one, other in zip(before, state(model), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel_steps": -1},
        {"proposal_steps": 1.5},
        {"steps_per_execution": 0},
        {"jit_compile": "yes"},
        {"evaluation_samples": 0},
        {"kernel": "sgd"},
        {"kernel": ds.mcmc.SGLD},
        {"kernel": ds.mcmc.SGLD(lambda x, seed: x)},
        {"latents": 5},
        {"proposal": keras.optimizers.Adam()},
    ],
)
def test_bad_compile_arguments_are_refused(arguments):
    model = tiny_model((2,), units=4)
    with pytest.raises(ValueError, match=f"^{next(iter(arguments))} must be .*Received: "):
        model.compile(**arguments)


@pytest.mark.parametrize("phi", [{"proposal": None}, {"proposal_steps": 0}], ids=lambda phi: next(iter(phi)))
def test_what_will_learn_nothing_is_told(phi):
    model = tiny_model((2,), units=4)
    with pytest.warns(UserWarning, match="^Nothing will learn.*Received: kernel_steps=0") as told:
        model.compile(kernel="sgld", kernel_steps=0, **phi)
    assert [warning.filename for warning in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.compile(kernel="sgld", kernel_steps=1, **phi)  # θ learns
        model.compile(kernel="sgld", kernel_steps=0)  # φ does


@pytest.mark.parametrize("kind", ["no latents", "frozen"])
def test_without_weights_of_phi_too_nothing_will_learn(kind):
    model = ds.models.from_name("NADE", 4, hidden_units=2) if kind == "no latents" else tiny_model((2,), units=4)
    for layer in model.recognition.layers:
        layer.trainable = False
    with pytest.warns(UserWarning, match="^Nothing will learn.*Received: .*, 0 trainable weights of φ$") as told:
        model.compile(kernel="sgld", kernel_steps=0, proposal="wake")
    assert [warning.filename for warning in told] == [__file__]
    model.compile(kernel="sgld", proposal="wake")  # θ learns
    with pytest.warns(UserWarning, match="^There is nothing to refit") as told:
        model.refit_recognition(patterns(4), epochs=1)
    assert [warning.filename for warning in told] == [__file__]


@pytest.mark.parametrize(
    "arguments",
    [
        {"batch_size": 0},
        {"batch_size": -5},
        {"steps_per_epoch": 0},
        {"num_rows": 0},
        {"validation_split": 1.0},
        {"validation_split": 7.0, "validation_data": patterns()},
        {"validation_split": "a"},
        {"validation_split": float("nan")},
        {"validation_split": float("inf")},
        {"callbacks": [3]},
        {"callbacks": 3},
        {"verbose": "silent"},
        {"y": np.zeros(90)},
    ],
)
def test_bad_fit_arguments_are_refused(arguments):
    model = compiled()
    with pytest.raises(ValueError, match=f"Received: {next(iter(arguments))}="):
        model.fit(patterns(), **{"verbose": 0, **arguments})


def test_networks_that_do_not_mirror_each_other_are_refused():
    sbn, generative = ds.layers.SBN, ds.GenerativeNetwork
    with pytest.raises(ValueError, match=r"mirror.*\[3, 2\]. Received: \[2, 3\]"):
        ds.DeepGenerativeModel(generative([sbn(2), sbn(3), sbn(4)]), ds.RecognitionNetwork([sbn(2), sbn(3)]))
    with pytest.raises(ValueError, match="Received: list"):
        ds.DeepGenerativeModel([sbn(2), sbn(3)], ds.RecognitionNetwork([sbn(2)]))
    with pytest.raises(ValueError, match="A prior is a TFP distribution.*Received: str"):
        ds.DeepGenerativeModel(generative([sbn(2), sbn(3)]), ds.RecognitionNetwork([sbn(2)]), prior="wide")
    with pytest.raises(ValueError, match="No pattern of the prior is found in .*bias'. Received: "):
        ds.DeepGenerativeModel(generative([sbn(2), sbn(3)]), ds.RecognitionNetwork([sbn(2)]), prior={"kernel": None})
    with pytest.raises(ValueError, match="^seed must be .*Received: seed=-1"):
        ds.DeepGenerativeModel(generative([sbn(2), sbn(3)]), ds.RecognitionNetwork([sbn(2)]), seed=-1)


def test_a_bad_row_anywhere_in_a_dataset_is_found_before_the_first_step():
    model, x = compiled(), patterns()
    x[77, 2] = 0.5
    before = state(model)
    with pytest.raises(ValueError, match="^x must be binary.*Received: 1 other entries, the first 0.5"):
        model.fit(tf.data.Dataset.from_tensor_slices(x).batch(10), verbose=0)
    for one, other in zip(before, state(model), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_keras_offers_and_a_generative_model_cannot_is_refused_clearly():
    model = compiled()
    for call in (lambda: model(patterns()), lambda: model.predict(patterns(), verbose=0)):
        with pytest.raises(ValueError, match="log_likelihood"):
            call()


@pytest.mark.parametrize("arguments", [{"verbose": "silent"}, {"callbacks": 3}, {"callbacks": [3]}], ids=str)
def test_bad_arguments_of_evaluate_are_refused(arguments):
    with pytest.raises(ValueError, match=f"Received: {next(iter(arguments))}="):
        compiled().evaluate(patterns(), **{"verbose": 0, **arguments})


def test_flags_may_be_numpys_and_xla_as_keras_says_it(capsys):
    model = tiny_model((2,), units=4)
    model.compile("sgld", jit_compile="auto")
    assert model.get_compile_config()["jit_compile"] is True
    model.evaluate(patterns(10), num_samples=2, verbose=np.True_)
    assert "log_likelihood" in capsys.readouterr().out


def test_one_callback_and_a_callback_list_are_taken():
    seen = []
    watch = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(epoch))
    model = compiled()
    model.fit(patterns(), epochs=1, verbose=0, callbacks=watch)
    many = keras.callbacks.CallbackList([watch], model=model, epochs=2, steps=1, verbose=0)
    model.fit(patterns(), initial_epoch=1, epochs=2, verbose=0, callbacks=many)
    assert seen == [0, 1] and int(model.run.epochs) == 2


def test_layers_that_cannot_learn_or_stand_in_both_networks_are_refused():
    sbn, shared = ds.layers.SBN, ds.layers.SBN(4)
    with pytest.raises(ValueError, match="share.*Received: "):
        ds.DeepGenerativeModel(ds.GenerativeNetwork([sbn(4), shared, sbn(4)]), ds.RecognitionNetwork([shared, sbn(4)]))
    model = tiny_model((2,), units=4)
    model.generative.trainable = False
    with pytest.raises(ValueError, match="trainable.*Received: "):
        model.compile()
    with pytest.raises(ValueError, match="float32.*Received: "):
        sbn(3, dtype="float64")


def test_uncompiled_model_evaluates_but_does_not_fit(tmp_path):
    model = tiny_model((2,), units=4)
    with pytest.raises(ValueError, match="compile.*Received: "):
        model.fit(patterns())
    assert np.isfinite(model.evaluate(patterns(), num_samples=10, verbose=0)[0])
    model.save(tmp_path / "plain.keras")
    loaded = keras.saving.load_model(tmp_path / "plain.keras")
    np.testing.assert_array_equal(loaded.sample(5), model.sample(5))


@pytest.mark.slow
def test_infinite_dataset_needs_the_number_of_rows():
    model = compiled()
    endless = tf.data.Dataset.from_tensor_slices(patterns()).batch(30).repeat()
    for arguments, lacking in (
        ({}, "num_rows"),
        ({"num_rows": 90}, "steps_per_epoch"),
        ({"steps_per_epoch": 3}, "num_rows"),
    ):
        with pytest.raises(ValueError, match=f"infinite dataset.*Received: {lacking}=None"):
            model.fit(endless, verbose=0, **arguments)
    with pytest.raises(ValueError, match="infinite dataset.*Received: num_rows=None"):
        model.evaluate(endless)
    model.fit(endless, num_rows=90, steps_per_epoch=5, epochs=2, verbose=0)
    assert int(model.run.steps) == 10 and float(model.run.num_rows) == 90
    with pytest.raises(ValueError, match="^x, a dataset, yields batches.*Received: TensorSpec"):
        model.fit(tf.data.Dataset.from_tensor_slices(patterns()), verbose=0)

"""The model: learning, resuming, saving, and what it refuses.

Programs are compiled with XLA where a test is about the compiled loop, and left to TensorFlow elsewhere: it is the same
function.
"""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import Oracle, binary_states, tiny_model

RATE = 0.05


def patterns(rows=90, seed=0):
    """Rows of three noisy prototypes of four pixels."""
    rng = np.random.default_rng(seed)
    prototypes = np.array([[0.9, 0.9, 0.1, 0.1], [0.1, 0.1, 0.9, 0.1], [0.1, 0.9, 0.1, 0.9]])
    return (rng.random((rows, 4)) < prototypes[rng.integers(0, 3, rows)]).astype(np.float32)


def compiled(jit_compile=False, latent_units=(2,), kernel=None, proposal=None, **arguments):
    """A compiled tiny model; the same arguments give the same model."""
    model = tiny_model(latent_units, units=4, seed=3, scale=0.3)
    model.compile(
        kernel=kernel or ds.mcmc.SGNHT(learning_rate=RATE),
        proposal=proposal or ds.proposals.Wake(keras.optimizers.Adam(1e-2)),
        jit_compile=jit_compile,
        **arguments,
    )
    return model


def state(model):
    """Everything that a resumed run needs, as arrays."""
    chain = [variable.numpy() for name, variable in model.chain.state.items() if name != "identity"]
    return [*model.get_weights(), *chain, *[variable.numpy() for variable in model.optimizer.variables]]


def assert_same_state(a, b):
    for one, other in zip(state(a), state(b), strict=True):
        np.testing.assert_array_equal(one, other)


# ---- learning


def test_learning_reaches_the_likelihood_of_the_truth():
    """On data from a known model the exact test log-likelihood comes within 0.1 nats of the truth's own.

    Catches a wrong sign or scale of the gradient, which leaves it near the start's, 0.6 nats below."""
    truth = tiny_model((2,), units=4, seed=1, scale=5.0)
    x, test = truth.sample(1000, seed=1), truth.sample(2000, seed=2)
    model = compiled(True, steps_per_execution=50, kernel=ds.mcmc.SGNHT(learning_rate=0.2))
    before = ds.likelihood.exact(model, test).mean()
    model.fit(x, batch_size=50, epochs=60, verbose=0)
    best, after = ds.likelihood.exact(truth, test).mean(), ds.likelihood.exact(model, test).mean()
    assert before < best - 0.5
    assert after > best - 0.1


@pytest.mark.slow
def test_the_chain_samples_the_exact_posterior_of_a_weight():
    """One free weight: the logit b of the only pixel, z without influence. The posterior of b on a grid is exact.

    The latent kernel is held at 0 by a sharp prior. The 380 draws are 1,000 steps apart, ten relaxation times:
    independent. Mean and standard deviation within 5 standard errors, 1e-6 in all. Catches a missing factor N in
    prior or temperature."""
    import tensorflow_probability as tfp

    tfd = tfp.distributions
    rng = np.random.default_rng(0)
    x = (rng.random((40, 1)) < 0.8).astype(np.float32)
    model = ds.DeepGenerativeModel(
        generative=ds.GenerativeNetwork([ds.layers.SBN(1, name="top"), ds.layers.SBN(1, name="data")]),
        recognition=ds.RecognitionNetwork([ds.layers.SBN(1)]),
        prior={"data/bias": tfd.Normal(0.0, 0.7), "": tfd.Normal(0.0, 1e-2)},
    )
    for variable in model.trainable_variables:
        variable.assign(tf.zeros(variable.shape))
    model.compile(kernel=ds.mcmc.SGHMC(learning_rate=2e-3, friction=0.3), steps_per_execution=1000, proposal_steps=0)
    draws = []

    class Keep(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            draws.append(float(self.model.generative.layers[-1].bias.numpy()[0]))

    model.fit(x, batch_size=40, steps_per_epoch=400_000, epochs=1, verbose=0, callbacks=[Keep()])
    grid = np.linspace(-3, 5, 4001)
    ones, n = x.sum(), len(x)
    log_posterior = ones * grid - n * np.logaddexp(0, grid) - grid**2 / (2 * 0.7**2)
    weights = np.exp(log_posterior - log_posterior.max())
    weights /= weights.sum()
    mean, deviation = weights @ grid, np.sqrt(weights @ grid**2 - (weights @ grid) ** 2)
    draws = np.array(draws[20:])
    assert abs(draws.mean() - mean) < 5 * deviation / np.sqrt(len(draws))
    assert abs(draws.std(ddof=1) / deviation - 1) < 5 / np.sqrt(2 * len(draws))


@pytest.mark.parametrize("integrator", ["splitting", "euler"])
def test_steps_per_execution_does_not_change_the_run(integrator):
    """Blocks of 1, of 3 and of more than an epoch leave the same bits, compiled with XLA."""
    x = patterns()
    runs = [
        compiled(True, steps_per_execution=block, kernel=ds.mcmc.SGNHT(learning_rate=RATE, integrator=integrator))
        for block in (1, 4, 10)
    ]
    for model in runs:
        model.fit(x, batch_size=20, epochs=2, verbose=0)
    assert_same_state(runs[0], runs[1])
    assert_same_state(runs[0], runs[2])


def test_jitted_and_not_agree():
    x = patterns()
    plain, jitted = compiled(False, steps_per_execution=5), compiled(True, steps_per_execution=5)
    for model in (plain, jitted):
        model.fit(x, batch_size=20, epochs=2, verbose=0)
    for one, other in zip(state(plain), state(jitted), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-5)


def test_nothing_is_retraced():
    """Epochs that end in a short block, later fits and evaluations reuse one program."""
    model = compiled(steps_per_execution=3)
    traces = []
    step = model.chain.method.latents.draw
    model.chain.method.latents.draw = lambda *args, **kwargs: traces.append(1) or step(*args, **kwargs)
    model.fit(patterns(), batch_size=20, epochs=2, verbose=0)
    first = len(traces)
    model.fit(patterns(seed=1), batch_size=20, epochs=2, verbose=0)
    assert first > 0 and len(traces) == first


def test_history_has_the_metrics_and_the_progress_bar_shows_them(capsys):
    model = compiled()
    history = model.fit(patterns(), validation_data=patterns(30, seed=1), batch_size=30, epochs=2, verbose=2).history
    names = {"log_likelihood", "effective_sample_size", "kinetic_temperature"}
    assert set(history) == names | {"val_log_likelihood", "val_effective_sample_size"}
    assert all(len(values) == 2 and np.isfinite(values).all() for values in history.values())
    printed = capsys.readouterr().out
    assert all(name in printed for name in names)


def test_kernel_and_proposal_steps_are_counted():
    """kernel_steps moves the kernel's own count, proposal_steps the optimizer's; 0 leaves the weights as they are."""
    model = compiled(kernel_steps=3, proposal_steps=2)
    model.fit(patterns(40), batch_size=20, epochs=1, verbose=0)
    assert int(model.chain.kernel_results.step) == 6
    assert int(model.optimizer.iterations) == 4
    theta = [variable.numpy() for variable in model.generative.trainable_variables]
    model.refit_recognition(patterns(40), epochs=1)
    for variable, before in zip(model.generative.trainable_variables, theta, strict=True):
        np.testing.assert_array_equal(variable.numpy(), before)
    assert int(model.chain.kernel_results.step) == 6


def test_compiling_anew_begins_a_chain_whose_counts_and_draws_go_on():
    model = compiled()
    model.fit(patterns(), epochs=2, verbose=0)
    steps, momentum = int(model.chain.steps), model.chain.kernel_results.momentum
    model.compile(kernel=ds.mcmc.SGNHT(learning_rate=RATE), jit_compile=False)
    assert int(model.chain.steps) == steps > 0 and int(model.chain.epochs) == 2
    assert int(model.chain.kernel_results.step) == 0
    model.chain.begin(90)
    first = compiled()
    first.chain.begin(90)
    for again, initial in zip(model.chain.kernel_results.momentum, first.chain.kernel_results.momentum, strict=True):
        assert initial.shape[0] == 0 or not np.any(np.asarray(again) == np.asarray(initial))
    assert len(momentum) == len(model.chain.kernel_results.momentum)


def test_callbacks_see_epochs_and_early_stopping_works():
    model = compiled()
    stop = keras.callbacks.EarlyStopping("val_log_likelihood", mode="max", patience=0, min_delta=1e9)
    history = model.fit(patterns(), validation_data=patterns(30), epochs=9, verbose=0, callbacks=[stop])
    assert len(history.epoch) == 2
    assert int(model.chain.epochs) == 2


def test_fit_takes_a_dataset_of_batches():
    """Equal batches in file order give what an array without shuffling gives; a short last batch is read too."""
    x = patterns(60)
    array, dataset = compiled(steps_per_execution=2), compiled(steps_per_execution=2)
    array.fit(x, batch_size=20, shuffle=False, epochs=2, verbose=0)
    dataset.fit(tf.data.Dataset.from_tensor_slices(x).batch(20), epochs=2, verbose=0)
    assert_same_state(array, dataset)
    dataset.fit(tf.data.Dataset.from_tensor_slices((x,)).batch(25), epochs=1, verbose=0)
    assert int(dataset.chain.steps) == 6 + 3


# ---- resuming and saving


def test_saved_and_loaded_model_goes_on_bit_for_bit(tmp_path):
    """Also: the loaded model is compiled, with the same kernel, prior and optimizer."""
    x = patterns()
    model = compiled(True, kernel=ds.mcmc.SGNHT(learning_rate=ds.mcmc.PolynomialDecay(RATE), thermostat="scalar"))
    model.fit(x, batch_size=30, epochs=2, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert_same_state(model, loaded)
    for each in (model, loaded):
        each.fit(x, batch_size=30, epochs=4, initial_epoch=2, verbose=0)
    assert_same_state(model, loaded)
    assert int(loaded.chain.epochs) == 4


def test_weights_file_restores_the_chain(tmp_path):
    model, other = compiled(), compiled()
    model.fit(patterns(), epochs=1, verbose=0)
    model.save_weights(tmp_path / "chain.weights.h5")
    other.load_weights(tmp_path / "chain.weights.h5")
    assert_same_state(model, other)


def test_tensorflow_checkpoint_restores_the_chain(tmp_path):
    model, other = compiled(), compiled()
    model.fit(patterns(), epochs=1, verbose=0)
    path = tf.train.Checkpoint(model=model).save(str(tmp_path / "checkpoint"))
    tf.train.Checkpoint(model=other).restore(path).assert_existing_objects_matched()
    assert_same_state(model, other)


def test_interrupted_and_resumed_run_equals_an_uninterrupted_one(tmp_path):
    """The run dies in the middle of an epoch; a new process' model goes on from the backup."""
    x, held_out = patterns(), patterns(30, seed=1)

    class Die(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            if int(self.model.chain.epochs) == 2 and batch == 1:
                raise KeyboardInterrupt

    def run(callbacks):
        model = compiled(steps_per_execution=2)
        backup = keras.callbacks.BackupAndRestore(tmp_path / "backup", delete_checkpoint=False)
        model.fit(
            x, validation_data=held_out, batch_size=20, epochs=4, verbose=0, callbacks=[backup, *callbacks]
        )
        return model

    with pytest.raises(KeyboardInterrupt):
        run([Die()])
    resumed = run([])
    straight = compiled(steps_per_execution=2)
    straight.fit(x, validation_data=held_out, batch_size=20, epochs=4, verbose=0)
    assert_same_state(straight, resumed)


def test_loading_the_chain_of_another_kernel_is_refused(tmp_path):
    model, other = compiled(), compiled(kernel=ds.mcmc.SGLD(learning_rate=RATE))
    model.save_weights(tmp_path / "chain.weights.h5")
    before = state(other)
    with pytest.raises(ValueError, match="another kernel"):
        other.load_weights(tmp_path / "chain.weights.h5")
    for one, now in zip(before, state(other), strict=True):
        np.testing.assert_array_equal(one, now)


def test_weights_without_a_chain_leave_the_chain_alone(tmp_path):
    plain, model = tiny_model((2,), units=4, seed=9), compiled()
    plain.save_weights(tmp_path / "plain.weights.h5")
    model.fit(patterns(), epochs=1, verbose=0)
    steps = int(model.chain.steps)
    model.load_weights(tmp_path / "plain.weights.h5")
    assert int(model.chain.steps) == steps
    for one, other in zip(plain.get_weights(), model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_an_interrupted_save_leaves_the_old_file(tmp_path, monkeypatch):
    model = compiled()
    model.save(tmp_path / "model.keras")
    model.save_weights(tmp_path / "model.weights.h5")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    model.fit(patterns(), epochs=1, verbose=0)

    def killed(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", killed)
    for save, name in ((model.save, "model.keras"), (model.save_weights, "model.weights.h5")):
        with pytest.raises(KeyboardInterrupt):
            save(tmp_path / name)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


# ---- estimates


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


# ---- what is refused


BAD_DATA = {
    "NaN": np.array([[0.0, 1.0, np.nan, 0.0]]),
    "infinite": np.array([[0.0, 1.0, np.inf, 0.0]]),
    "not binary": np.array([[0.0, 1.0, 0.5, 0.0]]),
    "too wide": np.zeros((3, 5)),
    "no rows": np.zeros((0, 4)),
    "a vector": np.zeros(4),
    "text": np.array([["a", "b", "c", "d"]]),
    "nothing": None,
}


@pytest.mark.parametrize("kind", BAD_DATA)
def test_bad_data_are_refused_before_anything_changes(kind):
    model = compiled()
    before = state(model)
    good = patterns()
    for call in (
        lambda: model.fit(BAD_DATA[kind], verbose=0),
        lambda: model.fit(good, validation_data=BAD_DATA[kind], verbose=0) if kind != "nothing" else model.fit(None),
        lambda: model.evaluate(BAD_DATA[kind]),
        lambda: model.log_likelihood(BAD_DATA[kind]),
        lambda: ds.likelihood.exact(model, BAD_DATA[kind]),
    ):
        with pytest.raises(ValueError, match="Received: "):
            call()
    for one, other in zip(before, state(model), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize(
    "arguments",
    [
        {"kernel_steps": -1},
        {"proposal_steps": 1.5},
        {"steps_per_execution": 0},
        {"evaluation_samples": 0},
        {"kernel": "sgld"},
        {"kernel": ds.mcmc.SGLD},
        {"latents": 5},
        {"proposal": keras.optimizers.Adam()},
    ],
)
def test_bad_compile_arguments_are_refused(arguments):
    model = tiny_model((2,), units=4)
    with pytest.raises(ValueError, match="Received: "):
        model.compile(**arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        {"batch_size": 0},
        {"batch_size": -5},
        {"steps_per_epoch": 0},
        {"num_rows": 0},
        {"validation_split": 1.0},
        {"validation_split": "a"},
        {"y": np.zeros(90)},
    ],
)
def test_bad_fit_arguments_are_refused(arguments):
    model = compiled()
    with pytest.raises(ValueError, match="Received: "):
        model.fit(patterns(), verbose=0, **arguments)


def test_networks_that_do_not_mirror_each_other_are_refused():
    sbn, generative = ds.layers.SBN, ds.GenerativeNetwork
    with pytest.raises(ValueError, match=r"mirror.*\[3, 2\]. Received: \[2, 3\]"):
        ds.DeepGenerativeModel(generative([sbn(2), sbn(3), sbn(4)]), ds.RecognitionNetwork([sbn(2), sbn(3)]))
    with pytest.raises(ValueError, match="Received: list"):
        ds.DeepGenerativeModel([sbn(2), sbn(3)], ds.RecognitionNetwork([sbn(2)]))
    with pytest.raises(ValueError, match="Received: "):
        ds.DeepGenerativeModel(generative([sbn(2), sbn(3)]), ds.RecognitionNetwork([sbn(2)]), prior="wide")
    with pytest.raises(ValueError, match="Received: "):
        ds.DeepGenerativeModel(generative([sbn(2), sbn(3)]), ds.RecognitionNetwork([sbn(2)]), prior={"kernel": None})
    with pytest.raises(ValueError, match="Received: "):
        ds.DeepGenerativeModel(generative([sbn(2), sbn(3)]), ds.RecognitionNetwork([sbn(2)]), seed=-1)


def test_a_bad_row_anywhere_in_a_dataset_is_found_before_the_first_step():
    model, x = compiled(), patterns()
    x[77, 2] = 0.5
    before = state(model)
    with pytest.raises(ValueError, match="Received: "):
        model.fit(tf.data.Dataset.from_tensor_slices(x).batch(10), verbose=0)
    for one, other in zip(before, state(model), strict=True):
        np.testing.assert_array_equal(one, other)


def test_what_keras_offers_and_a_generative_model_cannot_is_refused_clearly():
    model = compiled()
    for call in (lambda: model(patterns()), lambda: model.predict(patterns(), verbose=0)):
        with pytest.raises(ValueError, match="log_likelihood"):
            call()


def test_one_callback_and_a_callback_list_are_taken():
    seen = []
    watch = keras.callbacks.LambdaCallback(on_epoch_end=lambda epoch, logs: seen.append(epoch))
    model = compiled()
    model.fit(patterns(), epochs=1, verbose=0, callbacks=watch)
    many = keras.callbacks.CallbackList([watch], model=model, epochs=2, steps=1, verbose=0)
    model.fit(patterns(), initial_epoch=1, epochs=2, verbose=0, callbacks=many)
    assert seen == [0, 1] and int(model.chain.epochs) == 2


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


def test_infinite_dataset_needs_the_number_of_rows():
    model = compiled()
    endless = tf.data.Dataset.from_tensor_slices(patterns()).batch(30).repeat()
    for arguments in ({}, {"num_rows": 90}, {"steps_per_epoch": 3}):
        with pytest.raises(ValueError, match="Received: "):
            model.fit(endless, verbose=0, **arguments)
    with pytest.raises(ValueError, match="Received: "):
        model.evaluate(endless)
    model.fit(endless, num_rows=90, steps_per_epoch=5, epochs=2, verbose=0)
    assert int(model.chain.steps) == 10 and float(model.chain.num_rows) == 90
    with pytest.raises(ValueError, match="Received: "):
        model.fit(tf.data.Dataset.from_tensor_slices(patterns()), verbose=0)

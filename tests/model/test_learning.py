"""Learning: what fit does to the chain."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.model.support import RATE, assert_same_state, compiled, patterns, state
from tests.oracles import tiny_model
from tests.training.support import begin


@pytest.mark.slow
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


@pytest.mark.compiled  # 400,000 steps
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


@pytest.mark.slow
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


@pytest.mark.compiled
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
    latents = model.run.step.estimator.latents
    draw = latents.draw
    latents.draw = lambda *args, **kwargs: traces.append(1) or draw(*args, **kwargs)
    model.fit(patterns(), batch_size=20, epochs=2, verbose=0)
    first = len(traces)
    model.fit(patterns(seed=1), batch_size=20, epochs=2, verbose=0)
    assert first > 0 and len(traces) == first


def test_history_has_the_metrics_and_the_progress_bar_shows_them(capsys):
    model = compiled()
    history = model.fit(patterns(), validation_data=patterns(30, seed=1), batch_size=30, epochs=2, verbose=2).history
    names = {"log_likelihood", "effective_sample_size", "kinetic_temperature", "skipped_steps", "loss"}
    names.add("configurational_temperature")
    assert set(history) == names | {"val_log_likelihood", "val_effective_sample_size", "val_loss"}
    assert all(len(values) == 2 and np.isfinite(values).all() for values in history.values())
    printed = capsys.readouterr().out
    assert all(name in printed for name in names)


def test_kernel_and_proposal_steps_are_counted():
    """kernel_steps moves the kernel's own count, proposal_steps the optimizer's; 0 leaves the weights as they are."""
    model = compiled(kernel_steps=3, proposal_steps=2)
    model.fit(patterns(40), batch_size=20, epochs=1, verbose=0)
    assert int(model.run.state.kernel_results.step) == 6
    assert int(model.optimizer.iterations) == 4
    theta = [variable.numpy() for variable in model.generative.trainable_variables]
    model.refit_recognition(patterns(40), epochs=1)
    for variable, before in zip(model.generative.trainable_variables, theta, strict=True):
        np.testing.assert_array_equal(variable.numpy(), before)
    assert int(model.run.state.kernel_results.step) == 6


def test_compiling_anew_begins_a_chain_whose_counts_and_draws_go_on():
    model = compiled()
    model.fit(patterns(), epochs=2, verbose=0)
    steps, momentum = int(model.run.steps), model.run.state.kernel_results.momentum
    model.compile(kernel=ds.mcmc.SGNHT(learning_rate=RATE), jit_compile=False)
    assert int(model.run.steps) == steps > 0 and int(model.run.epochs) == 2
    assert int(model.run.state.kernel_results.step) == 0
    begin(model, patterns())
    first = compiled()
    begin(first, patterns())
    now, at_first = (each.run.state.kernel_results.momentum for each in (model, first))
    for again, initial in zip(now, at_first, strict=True):
        assert initial.shape[0] == 0 or not np.any(np.asarray(again) == np.asarray(initial))
    assert len(momentum) == len(now)


def test_callbacks_see_epochs_and_early_stopping_works():
    model = compiled()
    stop = keras.callbacks.EarlyStopping("val_log_likelihood", mode="max", patience=0, min_delta=1e9)
    history = model.fit(patterns(), validation_data=patterns(30), epochs=9, verbose=0, callbacks=[stop])
    assert len(history.epoch) == 2
    assert int(model.run.epochs) == 2


@pytest.mark.slow
def test_fit_takes_a_dataset_of_batches():
    """Equal batches in file order give what an array without shuffling gives; a short last batch is read too."""
    x = patterns(60)
    array, dataset = compiled(steps_per_execution=2), compiled(steps_per_execution=2)
    array.fit(x, batch_size=20, shuffle=False, epochs=2, verbose=0)
    dataset.fit(tf.data.Dataset.from_tensor_slices(x).batch(20), epochs=2, verbose=0)
    assert_same_state(array, dataset)
    dataset.fit(tf.data.Dataset.from_tensor_slices((x,)).batch(25), epochs=1, verbose=0)
    assert int(dataset.run.steps) == 6 + 3


def test_an_optimizer_belongs_to_one_model():
    """Compiling again is fine; another model, and an optimizer that has served elsewhere, are refused."""
    method = ds.methods.dsgnht_nais(RATE)
    model = tiny_model((2,), units=4)
    for _ in range(2):
        model.compile(**method, jit_compile=False)
    with pytest.raises(ValueError, match="Received: 'adam.*', built for others"):
        tiny_model((2,), units=4).compile(**method)
    used = keras.optimizers.Adam()
    used.build([keras.Variable(0.0)])
    with pytest.raises(ValueError, match="built for others"):
        model.compile(proposal=ds.proposals.Wake(used))
    shared = keras.optimizers.Adam()
    model.compile(proposal=ds.proposals.Wake(shared))
    with pytest.raises(ValueError, match="built for others"):  # of its own network, but not of the baseline
        model.compile(latents=ds.latents.NAIS(2, "uniform"), proposal=ds.proposals.NVIL(shared))

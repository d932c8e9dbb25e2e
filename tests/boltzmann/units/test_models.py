"""What a machine of other than binary units is as a model: learning, files, samples of the posterior, rows."""

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.boltzmann.units.oracle import KINDS, Table, tiny_machine, tiny_rbm
from tests.oracles import log_sum
from tfdsmcmc.boltzmann import ContrastiveDivergence
from tfdsmcmc.supports import Binary

tfd = tfp.distributions


def climbing():
    return ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.1))


def mostly_slow(*quick):
    """Visible kinds as parameters of tests, all but the quick ones marked slow."""
    return [pytest.param(name, marks=[] if name in quick else pytest.mark.slow) for name in KINDS]


def rows_of(visible, hidden="binary", count=40):
    return ds.boltzmann.exact_draws(tiny_machine(visible, hidden, seed=5), count, seed=1)


@pytest.mark.parametrize("visible", mostly_slow("learnt gaussian"))
def test_a_fit_goes_on_from_a_file(visible, tmp_path):
    """Kinds and weights come back, the order of the weights stays, and learning goes on bit for bit."""
    rbm = tiny_rbm(visible, "learnt gaussian", seed=3)
    rows = rows_of(visible)
    rbm.compile(climbing(), ContrastiveDivergence(1, persistent=visible == "spin", num_particles=5), jit_compile=False)
    rbm.fit(rows, batch_size=10, epochs=1, verbose=0, validation_data=rows[:7])
    rbm.save(tmp_path / "rbm.keras")
    loaded = keras.saving.load_model(tmp_path / "rbm.keras")
    assert (loaded.visible, loaded.hidden) == (rbm.visible, rbm.hidden)
    names = [name for name, _ in rbm.named_weights]
    assert names[:3] == ["kernel", "bias", "hidden_bias"] and names[-1] == "hidden_log_precision"
    for each in (rbm, loaded):
        each.fit(rows, batch_size=10, epochs=2, initial_epoch=1, verbose=0)
    for one, other in zip(rbm.theta_variables, loaded.theta_variables, strict=True):
        np.testing.assert_array_equal(one.numpy(), other.numpy())
    np.testing.assert_allclose(rbm.log_likelihood(rows).value, loaded.log_likelihood(rows).value, rtol=1e-6)


def test_a_configuration_without_kinds_is_of_binary_units():
    config = ds.boltzmann.RBM(4, 3).get_config()
    del config["visible"], config["hidden"]
    rbm = ds.boltzmann.RBM.from_config(config)
    assert type(rbm.machine) is ds.boltzmann.Machine and rbm.support == Binary()


@pytest.mark.parametrize("visible", mostly_slow("categorical"))
def test_learning_raises_the_likelihood(visible):
    """CD-1 from small weights: the exact mean log-likelihood of 200 rows gains on independent units."""
    rows = rows_of(visible, "spin", 200)
    kind, width = KINDS[visible]
    rbm = ds.boltzmann.RBM(width, 3, seed=1, visible=kind, hidden="spin")
    kernel = ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.05, momentum=0.9))
    rbm.compile(kernel, steps_per_execution=4, jit_compile=False)
    base = [tf.constant(part) for part in kind.fit(rows, 1e-6)]
    law = kind.natural(*base)
    alone = np.mean(kind.log_measure(tf.constant(rows), law)) - float(kind.cumulant(*law))
    before = float(rbm.log_likelihood(rows).mean())
    rbm.fit(rows, batch_size=50, epochs=40, verbose=0)
    assert before < float(rbm.log_likelihood(rows).mean()) > alone - 0.02


def test_samples_of_the_posterior_have_all_weights(tmp_path):
    """Two chains by SGHMC with a prior for each weight; the predictive average by the tables."""
    prior = {"^kernel": tfd.Normal(0.0, 0.5), "precision": tfd.Normal(0.0, 1.0), "": tfd.Normal(0.0, 2.0)}
    kind = KINDS["learnt gaussian"][0]
    rbm = ds.boltzmann.RBM(2, 2, seed=2, prior=prior, visible=kind, hidden="spin")
    rbm.compile(ds.mcmc.SGHMC(learning_rate=0.01), num_chains=2, jit_compile=False)
    rows = rows_of("learnt gaussian", "spin")
    collector = ds.posterior.Collector(tmp_path, num_samples=2, burn_in=0, every=1, stop=False)
    rbm.fit(rows, batch_size=10, epochs=1, verbose=0, callbacks=[collector])
    assert np.all(rbm.run.weights[0][0] != rbm.run.weights[1][0])
    posterior = ds.posterior.load(tmp_path)
    values = []
    for sample in posterior.samples:
        machine = type(rbm.machine)(*map(tf.constant, sample.theta))
        assert machine._fields[-1] == "log_precision" and np.any(sample.theta[-1] != kind.initial[0])
        values.append(machine.unnormalized_log_prob(tf.constant(rows)) - Table(machine).log_z)
    exact = log_sum(np.array(values)) - np.log(len(values))
    found = ds.boltzmann.predictive_log_likelihood(rbm, posterior, rows)
    np.testing.assert_allclose(found.value, exact, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_a_compiled_fit_of_several_chains():
    """By XLA, two chains as one program: as op by op."""
    found = []
    for jit in (True, False):
        rbm = tiny_rbm("categorical", "learnt gaussian", seed=3)
        rbm.compile(climbing(), ContrastiveDivergence(1), num_chains=2, jit_compile=jit)
        rbm.fit(rows_of("categorical"), batch_size=20, epochs=1, verbose=0)
        found.append([part for weights in rbm.run.weights for part in weights])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


ROWS = {
    "spins": ("spin", np.array([[0.0, 1.0], [1.0, -1.0]]), np.array([[-1.0, 1.0], [1.0, -1.0]])),
    "groups": ("categorical", np.array([[1, 1, 0, 1, 0]] * 2), np.array([[1, 0, 0, 0, 1]] * 2)),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_any_source_are_checked(name, tmp_path):
    """Arrays, datasets of batches, files where they are bytes; before anything is learnt."""
    visible, bad, good = ROWS[name]
    rbm = tiny_rbm(visible, "binary")
    rbm.compile(climbing(), jit_compile=False)
    sources = {"array": lambda x: x, "dataset": lambda x: tf.data.Dataset.from_tensor_slices(x).batch(1)}
    if visible == "categorical":

        def mapped(x):
            path = tmp_path / f"{x.sum()}.bin"
            x.astype(np.uint8).tofile(path)
            return np.memmap(path, np.uint8, "r", shape=x.shape)

        sources["file"] = mapped
    before = rbm.kernel.numpy()
    for make in sources.values():
        for use in (rbm.unnormalized_log_prob, lambda x: rbm.fit(x, batch_size=1, verbose=0)):
            with pytest.raises(ValueError, match="Received: "):
                use(make(bad))
        np.testing.assert_array_equal(rbm.kernel.numpy(), before)
        found = rbm.unnormalized_log_prob(make(good))
        np.testing.assert_allclose(found, rbm.machine.unnormalized_log_prob(tf.constant(good, tf.float32)), rtol=1e-5)
    rbm.fit(sources["dataset"](good), batch_size=1, epochs=1, verbose=0)
    assert np.any(rbm.kernel.numpy() != before)
    with pytest.raises(ValueError, match="Received: "):
        rbm.sample(2, start=bad)
    with pytest.raises(ValueError, match="Received: "):
        rbm.impute(bad)


WRONG = {
    "no kind": lambda: ds.boltzmann.RBM(3, 2, visible="real"),
    "hidden": lambda: ds.boltzmann.RBM(3, 2, hidden=3),
    "width": lambda: ds.boltzmann.RBM(3, 2, visible=ds.boltzmann.units.Categorical([2, 2])),
    "hidden width": lambda: ds.boltzmann.RBM(3, 3, hidden=ds.boltzmann.units.Categorical([2, 2])),
    "grey rows": lambda: tiny_rbm("spin", "binary").unnormalized_log_prob([[0.5, 1.0]]),
    "an infinite one": lambda: tiny_rbm("gaussian", "binary").unnormalized_log_prob([[np.inf, 1.0]]),
    "part of a group": lambda: tiny_rbm("categorical", "spin").impute([[np.nan, 0.0, 1.0, 1.0, 0.0]]),
    "too large": lambda: ds.boltzmann.exact_log_partition(ds.boltzmann.RBM(26, 30, visible="spin", hidden="gaussian")),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name):
    with pytest.raises(ValueError, match="Received: "):
        WRONG[name]()


def test_gaussian_layers_without_a_log_z_are_refused():
    """At the threshold: γ_v γ_h above and below the square of the largest singular value of W."""
    kernel = np.array([[1.0, 0.3], [-0.2, 0.5]])
    largest = np.linalg.norm(kernel, 2)
    for size, there in ((0.99, True), (1.01, False)):
        rbm = ds.boltzmann.rbm_from_arrays(size * kernel / largest, visible="gaussian", hidden="gaussian")
        if there:
            assert np.isfinite(ds.boltzmann.exact_log_partition(rbm)) and np.isfinite(rbm.sample(2, steps=2)).all()
            continue
        for use in (ds.boltzmann.exact_log_partition, ds.boltzmann.log_partition, lambda x: x.sample(2, steps=2)):
            with pytest.raises(ValueError, match="no log Z|have a log Z.*Received: "):
                use(rbm)

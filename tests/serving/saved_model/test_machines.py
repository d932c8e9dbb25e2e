"""SavedModels of Boltzmann machines: the numbers of the live model, in Python and in a server's loader."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.boltzmann.belief_networks import Truth, tiny_dbn
from tests.boltzmann.oracle import Enumerated, tiny_rbm
from tests.boltzmann.units.oracle import tiny_rbm as rbm_of_units
from tests.chance import assert_frequencies, assert_near
from tests.oracles import binary_states, log_sum, state_numbers
from tests.serving.exports import export
from tests.serving.saved_model.test_loader import assert_same_in_both
from tfdsmcmc import random
from tfdsmcmc.boltzmann.deep import stack as deep
from tfdsmcmc.posterior.store import Sample
from tfdsmcmc.serving.saved_model.content import functions_of

SEED = np.array([3, 4], np.int32)
V = binary_states(3).astype(np.float32)
PLAIN = ["log_likelihood", "sample", "impute"]


def answers(served, name, **inputs):
    return {key: value.numpy() for key, value in served.signatures[name](**inputs).items()}


def requests(x):
    mask = np.zeros(x.shape, bool)
    mask[:, 1] = True
    return [
        ("log_likelihood", {"x": x, "num_samples": np.int32(40), "seed": SEED}),
        ("serving_default", {"x": x, "num_samples": np.int32(2), "seed": SEED}),
        ("sample", {"num_samples": np.int32(5), "seed": SEED}),
        ("impute", {"x": x, "mask": mask, "num_imputations": np.int32(2), "seed": SEED}),
    ]


def test_a_machine(tmp_path):
    """log p(x) by enumeration, with the error of a log Z that is given; the laws of draws by chi-square tests."""
    rbm = tiny_rbm(3, 2, seed=6, scale=0.7)
    truth = Enumerated(rbm.machine)
    known = ds.boltzmann.LogPartition.of_weights(np.log([1.0, 1.1, 1.2]) + truth.log_z)
    served = tf.saved_model.load(export(rbm, tmp_path / "rbm", log_partition=known, sweeps=30, only=PLAIN))
    found = answers(served, "log_likelihood", x=V, num_samples=1, seed=SEED)
    np.testing.assert_allclose(found["value"], truth.log_unnormalized - known.value, rtol=1e-5)
    np.testing.assert_allclose(found["standard_error"], known.standard_error, rtol=1e-6)
    np.testing.assert_allclose(found["shared_standard_error"], known.standard_error, rtol=1e-6)
    np.testing.assert_allclose(found["effective_sample_size"], known.effective_sample_size, rtol=1e-6)
    law = truth.joint.sum(1)
    drawn = answers(served, "sample", num_samples=10_000, seed=SEED)["x"]
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=8), law)
    x, mask = np.array([[np.nan, 1, np.nan]], np.float32), np.array([[False, True, False]])
    filled = answers(served, "impute", x=x, mask=mask, num_imputations=10_000, seed=SEED)["x"][:, 0]
    free = V[:, 1] == 1
    counts = np.bincount(state_numbers(filled), minlength=8)
    assert counts[~free].sum() == 0
    assert_frequencies(counts[free], law[free] / law[free].sum())
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must be binary, each entry 0 or 1"):
        served.signatures["log_likelihood"](x=tf.constant(V + 0.5), num_samples=tf.constant(1), seed=tf.constant(SEED))


@pytest.mark.parametrize("visible", ["spin", "categorical"])
def test_other_units_are_served(tmp_path, visible):
    """log p(x) as the live model has it; values of other kinds are refused; draws and imputations are such values."""
    rbm = rbm_of_units(visible, "binary", seed=3)
    if not rbm.support.bits:
        with pytest.raises(ValueError, match="only has names among.*Received: 'log_likelihood_packed'"):
            export(rbm, tmp_path / "rbm", only="log_likelihood_packed")
    served = tf.saved_model.load(export(rbm, tmp_path / "rbm", sweeps=5, only=PLAIN))
    x = answers(served, "sample", num_samples=50, seed=SEED)["x"]
    assert rbm.support.holds(x).all()
    found = answers(served, "log_likelihood", x=x, num_samples=1, seed=SEED)["value"]
    np.testing.assert_allclose(found, rbm.log_likelihood(x, ds.boltzmann.exact_log_partition(rbm)).value, rtol=1e-5)
    mask = np.zeros(x.shape, bool)
    filled = answers(served, "impute", x=x, mask=mask, num_imputations=2, seed=SEED)["x"]
    assert rbm.support.holds(filled).all()
    with pytest.raises(tf.errors.InvalidArgumentError, match=f"x must be {rbm.support.described}"):
        answers(served, "log_likelihood", x=x + 1.0, num_samples=1, seed=SEED)
    mask[:, 0] = True
    if visible == "categorical":  # a variable observed in part
        with pytest.raises(tf.errors.InvalidArgumentError, match="all states of a variable observed or none"):
            answers(served, "impute", x=x, mask=mask, num_imputations=2, seed=SEED)


def posterior_of(*models):
    samples = [Sample([v.numpy() for v in model.theta_variables], [], step) for step, model in enumerate(models)]
    return ds.posterior.Posterior(None, samples)


def test_a_posterior_of_machines(tmp_path):
    """The mixture of two, each with a log Z of its own; an error of log Z is stated as one and the same."""
    rbms = [tiny_rbm(3, 2, seed=seed, scale=0.7) for seed in (6, 7)]
    truths = [Enumerated(rbm.machine) for rbm in rbms]
    log_p = np.logaddexp(*(truth.log_unnormalized - truth.log_z for truth in truths)) - np.log(2)
    posterior, known = posterior_of(*rbms), iter(truths)

    def log_partition(machine):
        return ds.boltzmann.LogPartition(next(known).log_z, 0.1, (0.0, 0.0), 9.0)

    arguments = {"average": "draws", "log_partition": log_partition, "sweeps": 30}
    only = [*PLAIN, "log_likelihood_packed"]
    served = tf.saved_model.load(export(rbms[0], tmp_path / "rbm", 1, posterior, only=only, **arguments))
    found = answers(served, "log_likelihood", x=V, num_samples=1, seed=SEED)
    np.testing.assert_allclose(found["value"], log_p, rtol=1e-5)
    for error in ("standard_error", "shared_standard_error"):
        np.testing.assert_allclose(found[error], 0.1, rtol=1e-5)
    packed = answers(served, "log_likelihood_packed", x=np.packbits(V == 1, axis=1), num_samples=1, seed=SEED)
    np.testing.assert_allclose(packed["value"], log_p, rtol=1e-5)
    drawn = answers(served, "sample", num_samples=10_000, seed=SEED)["x"]
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=8), np.exp(log_p))
    x, mask = np.array([[0, 1, 0]], np.float32), np.array([[False, True, False]])
    filled = answers(served, "impute", x=x, mask=mask, num_imputations=10_000, seed=SEED)["x"][:, 0]
    free = V[:, 1] == 1
    laws = [truth.joint.sum(1)[free] / truth.joint.sum(1)[free].sum() for truth in truths]
    assert_frequencies(np.bincount(state_numbers(filled), minlength=8)[free], np.mean(laws, 0))
    with pytest.raises(ValueError, match="jit is of a DeepGenerativeModel.*Received: "):
        ds.serving.export(rbms[0], tmp_path / "rbm", 2, jit=True)


def test_a_mixture(tmp_path):
    mixture = ds.boltzmann.MixtureOfBernoullis(3, 2, seed=1)
    exact = mixture.log_likelihood(V).value
    served = tf.saved_model.load(export(mixture, tmp_path / "mixture", only=PLAIN))
    found = answers(served, "log_likelihood", x=V, num_samples=1, seed=SEED)
    np.testing.assert_allclose(found["value"], exact, rtol=1e-5)
    assert not found["standard_error"].any()
    drawn = answers(served, "sample", num_samples=10_000, seed=SEED)["x"]
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=8), np.exp(exact))
    x, mask = np.array([[0, 1, 0]], np.float32), np.array([[False, True, False]])
    filled = answers(served, "impute", x=x, mask=mask, num_imputations=10_000, seed=SEED)["x"][:, 0]
    free = V[:, 1] == 1
    given = np.exp(exact[free]) / np.exp(exact[free]).sum()
    assert_frequencies(np.bincount(state_numbers(filled), minlength=8)[free], given)


def test_the_name_before():
    with pytest.warns(DeprecationWarning, match="serving.export"), pytest.raises(ValueError, match="Received: "):
        ds.serving.export_machines("rbm", "served")


@pytest.mark.slow
def test_a_network(tmp_path):
    """Importance samples in chunks, the last of them in part, against enumeration."""
    dbn = tiny_dbn((3, 2, 3), 0.8)
    path = ds.serving.export(dbn, tmp_path / "dbn", sweeps=20, verbose=False)
    served, truth = tf.saved_model.load(path), Truth(dbn)
    found = answers(served, "log_likelihood", x=V, num_samples=2_000, seed=SEED)
    assert_near(found["value"], truth.log_p, found["standard_error"] + 1e-6)
    few = answers(served, "log_likelihood", x=V, num_samples=40, seed=SEED)
    of_component = random.fold(random.fold(SEED, 0), 0)  # the first block of rows, the only component
    chunks = [deep.log_weights(dbn.stack, tf.constant(V), 32, random.fold(of_component, i)) for i in range(2)]
    log_w = np.concatenate(chunks)[:40].astype(np.float64)
    np.testing.assert_allclose(few["value"], log_sum(log_w) - np.log(40) - truth.log_z, rtol=1e-4)
    drawn = answers(served, "sample", num_samples=10_000, seed=SEED)["x"]
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=8), np.exp(truth.log_p))


def test_the_effective_size_of_a_network_is_that_of_its_draws(tmp_path):
    """Not of the runs that log Z is known by."""
    dbn, known = tiny_dbn((3, 2, 3), 0.8), ds.boltzmann.LogPartition(2.0, 0.1, (1.7, 2.3), 3.0)
    path = ds.serving.export(dbn, tmp_path / "dbn", only="log_likelihood", log_partition=known, verbose=False)
    found = answers(tf.saved_model.load(path), "log_likelihood", x=V, num_samples=4_000, seed=SEED)
    live = dbn.log_likelihood(V, num_samples=4_000, log_partition=known)
    np.testing.assert_allclose(found["effective_sample_size"], live.effective_sample_size, rtol=0.1)


@pytest.mark.slow
@pytest.mark.compiled  # the server rewrites graphs, and so does TensorFlow for users
def test_the_loader_of_a_server(tmp_path):
    """Bit for bit what Python's TensorFlow answers, with XLA disabled."""
    rbm, dbn = tiny_rbm(3, 2, seed=6), tiny_dbn((3, 2, 3))
    known = ds.boltzmann.LogPartition.of_weights([4.0, 4.1, 4.2])
    paths = [
        ds.serving.export(model, tmp_path / name, log_partition=known, sweeps=3, verbose=False)
        for name, model in (("rbm", rbm), ("dbn", dbn))
    ]
    assert_same_in_both(tmp_path, {path: requests(V) for path in paths})


def test_importance_samples_count_as_many_as_are_made_at_a_time():
    """Those of a belief network; what is exact makes none, and a row counts as one."""
    for model, costs in ((tiny_rbm(), (1, 0, 1)), (tiny_dbn((3, 2, 3)), (0, 1, 32))):
        functions = functions_of(model, None, None, 5, False, 4.0)
        assert functions.costs("log_likelihood") == costs
        assert functions.costs("sample") == functions.costs("impute") == (0, 5, 1)


BAD = {
    "model": lambda path: ds.serving.export("rbm", path),
    "version": lambda path: ds.serving.export(tiny_rbm(), path, 0),
    "steps": lambda path: ds.serving.export(tiny_rbm(), path, sweeps=0),
    "draws": lambda path: ds.serving.export(tiny_rbm(), path, max_draws=3),
    "shape": lambda path: ds.serving.export(tiny_rbm(), path, data_shape=(3, 3)),
    "figures": lambda path: ds.serving.export(tiny_rbm(), path, figures={"a": np.nan}),
    "log Z": lambda path: ds.serving.export(tiny_rbm(), path, log_partition=np.nan),
    "no log Z": lambda path: ds.serving.export(ds.boltzmann.RBM(26, 27), path),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name, tmp_path):
    with pytest.raises(ValueError, match=r"Received: "):
        BAD[name](tmp_path / "served")
    assert list(tmp_path.iterdir()) == []

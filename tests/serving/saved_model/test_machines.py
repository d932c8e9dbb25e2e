"""SavedModels of Boltzmann machines: the numbers of the live model, in Python and in a server's loader."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.boltzmann.oracle import Enumerated, tiny_rbm
from tests.boltzmann.test_dbn import Truth, tiny_dbn
from tests.chance import assert_frequencies, assert_near
from tests.oracles import binary_states, log_sum, state_numbers
from tests.serving.saved_model.test_loader import assert_same_in_both
from tfdsmcmc import random
from tfdsmcmc.boltzmann import deep

SEED = np.array([3, 4], np.int32)
V = binary_states(3).astype(np.float32)


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
    path = ds.serving.export_machines(rbm, tmp_path / "rbm", log_partition=known, steps=30, verbose=False)
    served = tf.saved_model.load(path)
    found = answers(served, "log_likelihood", x=V, num_samples=1, seed=SEED)
    np.testing.assert_allclose(found["value"], truth.log_unnormalized - known.value, rtol=1e-5)
    np.testing.assert_allclose(found["standard_error"], known.standard_error, rtol=1e-6)
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
    with pytest.raises(tf.errors.InvalidArgumentError, match="x must be 0 or 1"):
        served.signatures["log_likelihood"](x=tf.constant(V + 0.5), num_samples=tf.constant(1), seed=tf.constant(SEED))


@pytest.mark.slow
def test_a_network(tmp_path):
    """Importance samples in chunks, the last of them in part, against enumeration."""
    dbn = tiny_dbn((3, 2, 3), 0.8)
    path = ds.serving.export_machines(dbn, tmp_path / "dbn", steps=20, verbose=False)
    served, truth = tf.saved_model.load(path), Truth(dbn)
    found = answers(served, "log_likelihood", x=V, num_samples=2_000, seed=SEED)
    assert_near(found["value"], truth.log_p, found["standard_error"] + 1e-6)
    few = answers(served, "log_likelihood", x=V, num_samples=40, seed=SEED)
    of_block = random.fold(SEED, 0)
    chunks = [deep.log_weights(dbn.stack, tf.constant(V), 32, random.fold(of_block, i)) for i in range(2)]
    log_w = np.concatenate(chunks)[:40].astype(np.float64)
    np.testing.assert_allclose(few["value"], log_sum(log_w) - np.log(40) - truth.log_z, rtol=1e-4)
    drawn = answers(served, "sample", num_samples=10_000, seed=SEED)["x"]
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=8), np.exp(truth.log_p))


@pytest.mark.slow
@pytest.mark.compiled  # the server rewrites graphs, and so does TensorFlow for users
def test_the_loader_of_a_server(tmp_path):
    """Bit for bit what Python's TensorFlow answers, with XLA disabled."""
    rbm, dbn = tiny_rbm(3, 2, seed=6), tiny_dbn((3, 2, 3))
    known = ds.boltzmann.LogPartition.of_weights([4.0, 4.1, 4.2])
    paths = [
        ds.serving.export_machines(model, tmp_path / name, log_partition=known, steps=3, verbose=False)
        for name, model in (("rbm", rbm), ("dbn", dbn))
    ]
    assert_same_in_both(tmp_path, {path: requests(V) for path in paths})


BAD = {
    "model": lambda path: ds.serving.export_machines("rbm", path),
    "version": lambda path: ds.serving.export_machines(tiny_rbm(), path, 0),
    "steps": lambda path: ds.serving.export_machines(tiny_rbm(), path, steps=0),
    "draws": lambda path: ds.serving.export_machines(tiny_rbm(), path, max_draws=3),
    "shape": lambda path: ds.serving.export_machines(tiny_rbm(), path, data_shape=(3, 3)),
    "figures": lambda path: ds.serving.export_machines(tiny_rbm(), path, figures={"a": np.nan}),
    "log Z": lambda path: ds.serving.export_machines(tiny_rbm(), path, log_partition=np.nan),
    "no log Z": lambda path: ds.serving.export_machines(ds.boltzmann.RBM(26, 27), path),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name, tmp_path):
    with pytest.raises(ValueError, match=r"Received: "):
        BAD[name](tmp_path / "served")
    assert list(tmp_path.iterdir()) == []

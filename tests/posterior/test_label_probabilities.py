"""Probabilities of labels against enumeration, and samples of an earlier version with biases for each label."""

import h5py
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import binary_states, log_sum, randomize, tiny_model
from tests.posterior.support import sample_of, write_sample
from tfdsmcmc.posterior import Posterior

X = binary_states(3).astype(np.float32)


def model_of(seed):
    generative = ds.GenerativeNetwork([ds.layers.SBN(2, name="top"), ds.layers.SBN(3, name="data")], context=[3])
    model = ds.DeepGenerativeModel(generative, ds.RecognitionNetwork([ds.layers.SBN(2, name="q")]))
    randomize(model.generative, seed, 1.5)
    randomize(model.recognition, seed + 5, 0.3)
    return model


def test_the_exact_law():
    """Within six standard errors of two logarithms, by the delta method: a chance of 2·10⁻⁹ for each entry."""
    models = [model_of(seed) for seed in (1, 2)]
    posterior = Posterior(None, [sample_of(model, number) for number, model in enumerate(models)])
    rows = [ds.Rows(X, context=np.full(8, y)) for y in range(3)]
    want = np.stack([log_sum(np.stack([ds.likelihood.exact(m, own).value for m in models]), 0) for own in rows], 1)
    largest = max(m.log_likelihood(own, 20_000).standard_error.max() for m in models for own in rows)
    assert largest < 0.03
    frequencies = np.array([5.0, 1.0, 2.0])
    for given, log_p in ((None, 0.0), (frequencies, np.log(frequencies))):
        found = posterior.label_probabilities(models[0], X, given, num_samples=20_000)
        exact = np.exp(want + log_p - log_sum(want + log_p, 1)[:, None])
        np.testing.assert_allclose(found, exact, atol=6 * 2**0.5 * largest / 4)
        assert np.abs(np.roll(exact, 1, 1) - exact).max() > 0.2
    assert (posterior.label_probabilities(models[0], X, [0, 1, 1], num_samples=4)[:, 0] == 0).all()


def test_what_does_not_fit():
    model = model_of(1)
    posterior = Posterior(None, [sample_of(model, 1)])
    for frequencies in ([1, 1], [1, -1, 1], [0, 0, 0], [1, np.nan, 1], "abc"):
        with pytest.raises(ValueError, match="one for each label.* Received: frequencies="):
            posterior.label_probabilities(model, X, frequencies)
    plain = tiny_model((2,))
    with pytest.raises(ValueError, match="Received: a model with the context None"):
        Posterior(None, [sample_of(plain, 1)]).label_probabilities(plain, X)


def test_samples_with_biases_for_each_label(tmp_path):
    """They are those of a network whose context is the label: b_y is the weight of label y, and b is 0."""
    old, biases = tiny_model((2,)), np.random.default_rng(5).normal(0, 2, (3, 2)).astype(np.float32)
    write_sample(tmp_path, sample_of(old, 10))
    (path,) = tmp_path.glob("sample_*.h5")
    with h5py.File(path, "a") as file:
        file.create_dataset("label_biases", data=biases)
    generative = ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.SBN(3)], context=[3])
    sample = ds.posterior.load(tmp_path).samples[0]
    for variable, value in zip(generative.trainable_variables, sample.theta, strict=True):
        variable.assign(value)
    model = ds.DeepGenerativeModel(generative, ds.RecognitionNetwork([ds.layers.SBN(2)]))
    for y in range(3):
        old.generative.layers[0].bias.assign(biases[y])
        exact = ds.likelihood.exact(old, X).value
        rows = ds.Rows(X, context=np.full(8, y))
        np.testing.assert_allclose(ds.likelihood.exact(model, rows).value, exact, rtol=1e-5)
    with h5py.File(path, "a") as file:
        del file["label_biases"]
        file.create_dataset("label_biases", data=np.zeros((3, 5), np.float32))
    with pytest.raises(ValueError, match="biases of labels of the shape.* Received: "):
        ds.posterior.load(tmp_path)

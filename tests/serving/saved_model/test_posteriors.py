"""SavedModels of posterior samples: their mean, mixtures of them, and averages within the model."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_near
from tests.oracles import Oracle, binary_states, state_numbers, tiny_model
from tests.posterior.support import folder_of, sample_of, written
from tests.serving.exports import export
from tests.serving.saved_model import loader
from tests.serving.saved_model.support import QUICK, SEED


def test_the_mean_of_a_posterior_is_exported_and_the_model_left_alone(tmp_path):
    (tmp_path / "samples").mkdir()
    model = folder_of(tmp_path / "samples")
    before = model.get_weights()
    posterior = ds.posterior.load(tmp_path / "samples")
    served = tf.saved_model.load(ds.serving.export(model, tmp_path / "served", posterior=posterior, **QUICK))
    for one, other in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)
    drawn = served.signatures["sample"](num_samples=tf.constant(99), seed=tf.constant(SEED))["x"]
    assert not np.array_equal(drawn, model.sample(99, SEED))
    np.testing.assert_array_equal(drawn, posterior.apply_mean(model).sample(99, SEED))


def test_a_posterior_of_another_architecture_is_refused(tmp_path):
    (tmp_path / "samples").mkdir()
    folder_of(tmp_path / "samples")
    posterior = ds.posterior.load(tmp_path / "samples")
    with pytest.raises(ValueError, match="weights of the shapes.*Received: a model with "):
        ds.serving.export(tiny_model((3,), units=4), tmp_path / "m", posterior=posterior)
    assert not (tmp_path / "m").exists()


def test_an_ensemble_draws_from_all_samples(tmp_path):
    """Not from their mean: 4,000 draws against the average of the three laws, false failure 1e-6."""
    (tmp_path / "samples").mkdir()
    model = folder_of(tmp_path / "samples")
    posterior = ds.posterior.load(tmp_path / "samples")
    path = ds.serving.export(model, tmp_path / "m", posterior=posterior, ensemble=True, only="sample", verbose=False)
    drawn = tf.saved_model.load(path).signatures["sample"](num_samples=tf.constant(4000), seed=tf.constant(SEED))["x"]
    law = np.mean([np.exp(Oracle(tiny_model((2,), 4, seed=i)).log_likelihood(binary_states(4))) for i in (1, 2, 3)], 0)
    assert_frequencies(np.bincount(state_numbers(drawn.numpy()), minlength=16), law)


@pytest.mark.parametrize(
    "average",
    [
        "units_and_start",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("units", "weights", "weights_and_start")),
    ],
)
def test_averages_within_the_model_are_served_as_python_has_them(tmp_path, average):
    """Of two chains: likelihoods of both beside each other, with the same components' draws; samples by their law."""
    chains = written(tmp_path, (0, 1, 0, 1))
    chains.starts = [sample_of(tiny_model((2,), units=4, seed=20 + c), 5)._replace(chain=c) for c in range(2)]
    model = tiny_model((2,), units=4)
    only = ["log_likelihood", "sample", "impute"]
    path = export(model, tmp_path / "m", posterior=chains, average=average, sweeps=3, only=only)
    found = loader.manifest_of(path)["posterior"]
    assert (found["average"], found["chains"], found["samples"]) == (average, 2, 4)
    served, x = tf.saved_model.load(path).signatures, binary_states(4).astype(np.float32)
    arguments = {"num_samples": tf.constant(3000), "seed": tf.constant(SEED)}
    value = served["log_likelihood"](x=tf.constant(x), **arguments)
    python = chains.log_likelihood(model, x, 3000, average=average)
    error = np.hypot(value["standard_error"].numpy(), python.standard_error)
    assert_near(value["value"].numpy(), python.value, error)
    drawn = served["sample"](num_samples=tf.constant(4000), seed=tf.constant(SEED))["x"].numpy()
    precise = np.exp(chains.log_likelihood(model, x, 20_000, average=average).value)
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=16), precise / precise.sum())
    filled = served["impute"](
        x=tf.constant(x), mask=tf.constant(x[::-1] > 0), num_imputations=tf.constant(2), seed=tf.constant(SEED)
    )["x"].numpy()
    assert np.all((filled == x)[:, x[::-1] > 0]) and set(np.unique(filled)) <= {0, 1}


def test_what_cannot_be_averaged_for_export_is_refused(tmp_path):
    posterior, model = written(tmp_path, (0, 1, 0)), tiny_model((2,), units=4)
    for bad in (
        {"posterior": posterior, "average": "units"},  # two draws of one chain, one of the other
        {"posterior": posterior, "average": "all"},
        {"posterior": posterior, "ensemble": True, "average": "weights"},
        {"average": "weights"},
    ):
        with pytest.raises(ValueError, match="Received: "):
            ds.serving.export(model, tmp_path / "m", verbose=False, **bad)
    assert not (tmp_path / "m").exists()

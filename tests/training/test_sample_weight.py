"""Rows that count as often as their weights say: the target is log p(θ) + Σ_i w_i log p(x_i; θ)."""

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.oracles import Oracle, binary_states, flat, tiny_model
from tests.training.support import SEED, theta_of
from tfdsmcmc._common.types import WeightedLatents
from tfdsmcmc.rows import ArraySource, Rows, WeightedSource, as_rows
from tfdsmcmc.training.steps.fisher_identity import FisherIdentity
from tfdsmcmc.training.steps.recognition_learning import RecognitionLearning

X = binary_states(3)[[1, 6, 3, 4]].astype(np.float32)
WEIGHTS = np.array([2, 0, 1, 4])
REPEATED = np.repeat(X, WEIGHTS, 0)


class AllStates(ds.latents.Latents):
    """Every latent state with its weight, so that shares are the posterior and nothing is random."""

    def __init__(self, oracle):
        self.z = oracle.z

    def draw(self, generative, recognition, x, seed, carry):
        x = as_rows(x).values
        z = [tf.repeat(tf.cast(part, tf.float32)[:, tf.newaxis], tf.shape(x)[0], 1) for part in self.z]
        return WeightedLatents(z, generative.log_joint(x, z)), None


def exact(model):
    """(the estimator over all states, gradient of the log target over W)."""
    oracle = Oracle(model)
    estimator = FisherIdentity(model.generative, model.recognition, model.prior, AllStates(oracle))
    prior = -(flat(theta_of(model)).astype(np.float64) - 0.1) / 0.25
    likelihood = WEIGHTS @ flat(oracle.likelihood_gradient(X), 1)
    return estimator, (prior + likelihood) / WEIGHTS.sum()


def test_the_gradient_is_that_of_the_weighted_target_and_of_the_rows_repeated():
    """All rows at once; and in the mean over minibatches of one row, where Σ_B v in place of B would give another."""
    model = tiny_model((2,), seed=1, scale=0.7, prior=tfp.distributions.Normal(0.1, 0.5))
    estimator, wanted = exact(model)
    source, total = WeightedSource(ArraySource(Rows(X)), WEIGHTS.astype(float)), WEIGHTS.sum()

    def gradient(x):
        x = x if isinstance(x, np.ndarray) else x.floats()
        return flat(estimator.gradient(theta_of(model), x, float(total), (), None, SEED)[0])

    assert source.total_weight == total
    np.testing.assert_allclose(gradient(source.all()), wanted, atol=1e-5)
    np.testing.assert_allclose(gradient(REPEATED), wanted, atol=1e-5)
    batches = [gradient(source.take(np.array([i]))) for i in range(len(X))]
    np.testing.assert_allclose(np.mean(batches, 0), wanted, atol=1e-5)
    np.testing.assert_allclose(flat(source.part(slice(0, 3)).all().weight), [2, 0, 1])  # of mean 1 again


def test_the_recognition_network_learns_from_the_rows_repeated():
    model = tiny_model((2,), seed=1)
    estimator = exact(model)[0]
    weighted = WeightedSource(ArraySource(Rows(X)), WEIGHTS.astype(float)).all().floats()
    learning = RecognitionLearning(estimator, ds.proposals.Wake("sgd"))
    found = []
    for x in (weighted, REPEATED):
        draws = estimator.draw(theta_of(model), x, None, SEED)[0]
        found.append(flat(learning.gradient(theta_of(model), x, draws, None, SEED)))
    np.testing.assert_allclose(*found, atol=1e-6)
    assert np.abs(found[0]).max() > 0.1


def test_a_fit_is_that_of_the_rows_repeated():
    """A model without latent variables, all rows in each minibatch, an optimizer: nothing is random."""

    def fitted(x, **options):
        model = ds.DeepGenerativeModel(
            ds.GenerativeNetwork([ds.layers.DARN(3)]), ds.RecognitionNetwork([]),
            prior=tfp.distributions.Normal(0.0, 1.0),
        )  # fmt: skip
        model.compile(ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.5)), "nais", None)
        model.fit(x, batch_size=len(x), epochs=5, verbose=0, **options)
        return model

    weighted, repeated, plain = fitted(X, sample_weight=WEIGHTS), fitted(REPEATED), fitted(X)
    assert float(weighted.run.num_rows) == len(REPEATED)
    np.testing.assert_allclose(flat(theta_of(weighted)), flat(theta_of(repeated)), atol=1e-6)
    assert np.abs(flat(theta_of(plain)) - flat(theta_of(repeated))).max() > 0.05


HALVES = np.arange(10) * 0.5


def fitted_with_weights(rows, **how):
    """N, the steps, and the log-likelihoods of the two rows that are held out: these have no part in N."""
    model = tiny_model()
    model.compile(kernel="sghmc", **how)
    history = model.fit(rows, sample_weight=HALVES, batch_size=3, epochs=1, validation_split=0.2, verbose=0)
    return float(model.run.num_rows), int(model.run.steps), history.history["val_log_likelihood"]


def rows(seed=0):
    return (np.random.default_rng(seed).random((10, 3)) < 0.5).astype(np.float32)


def test_rows_of_a_file_take_weights(tmp_path):
    np.save(tmp_path / "rows.npy", rows().astype(np.uint8))
    num_rows, steps, held_out = fitted_with_weights(np.load(tmp_path / "rows.npy", mmap_mode="r"))
    assert (num_rows, steps) == (HALVES[:8].sum(), 3) and np.isfinite(held_out).all()


@pytest.mark.slow
def test_rows_with_gaps_that_several_chains_fill_take_weights():
    gaps = np.where(np.random.default_rng(1).random((10, 3)) < 0.2, np.nan, rows())
    latents = ds.latents.Gibbs(persistent=True, draw_missing=True)
    num_rows, steps, held_out = fitted_with_weights(gaps, latents=latents, num_chains=2)
    assert (num_rows, steps) == (HALVES[:8].sum(), 3) and np.isfinite(held_out).all()


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0, 2.0], r"one number for each of 4 rows. Received: an array of the shape \(2,\)"),
        ([1, 1, -1, 1], "none below 0 and some above. Received: numbers from -1.0 to 1.0"),
        ([0, 0, 0, 0], "Received: numbers from 0.0 to 0.0"),
        ([1, 1, np.nan, 1], "Received: numbers from nan"),
        ([1e-300, 0, 0, 0], "a number of float32. Received: 1e-300"),
        (["a"] * 4, "sample_weight must be real numbers. Received: "),
        (["1"] * 4, "sample_weight must be real numbers. Received: "),
        ([1, 1, 1, 1j], "sample_weight must be real numbers. Received: "),
        (np.array(["2020-01-01"] * 4, "M8[D]"), "sample_weight must be real numbers. Received: "),
        (
            np.ma.array([1, 1, 1, 1e6], mask=[0, 0, 0, 1]),
            "sample_weight must be real numbers. Received: .*masked_array",
        ),
    ],
)
def test_other_weights_are_refused(weights, message):
    model = tiny_model()
    model.compile(kernel="sgld")
    with pytest.raises(ValueError, match=message):
        model.fit(X, sample_weight=weights, verbose=0)
    assert float(model.run.num_rows) == 0


def test_weights_of_rows_that_are_held_out_do_not_count():
    """Zeros on all that is left are refused before anything changes; zeros on what is held out are nothing."""
    model = tiny_model()
    model.compile(kernel="sgld")
    with pytest.raises(ValueError, match="Received: numbers from 0.0 to 0.0"):
        model.fit(X, sample_weight=[0, 0, 1, 1], validation_split=0.5, verbose=0)
    assert float(model.run.num_rows) == 0
    model.fit(X, sample_weight=[2, 1, 0, 0], validation_split=0.5, verbose=0)
    assert float(model.run.num_rows) == 3


def test_what_cannot_heed_weights_refuses_them():
    model = tiny_model()
    model.compile(kernel="sgld")
    with pytest.raises(ValueError, match="rows with random access. Received: x=DatasetSource"):
        model.fit(tf.data.Dataset.from_tensor_slices(X).batch(2), sample_weight=WEIGHTS, verbose=0)
    with pytest.raises(ValueError, match="Received: num_rows=9, sample_weight"):
        model.fit(X, sample_weight=WEIGHTS, num_rows=9, verbose=0)
    with pytest.raises(ValueError, match="the sample_weight of fit. Received: x, Rows with weights"):
        model.fit(Rows(X, weight=WEIGHTS[:, np.newaxis]), verbose=0)
    model.compile(**ds.methods.polya_gamma_gibbs())
    rbm, mixture = ds.boltzmann.RBM(3, 2), ds.boltzmann.MixtureOfBernoullis(3, 2)
    rbm.compile()
    for other in (model, rbm, mixture):
        with pytest.raises(ValueError, match="counts each row once: leave sample_weight out.*Received: sample_weight"):
            other.fit(X, sample_weight=WEIGHTS, verbose=0)

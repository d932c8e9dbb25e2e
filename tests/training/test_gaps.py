"""Learning from rows with gaps."""

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_means
from tests.gaps import NAN, ROWS, completions, log_joint, rows_with_gaps
from tests.oracles import Oracle, flat, log_sum, tiny_model
from tfdsmcmc.training.steps.fisher_identity import FisherIdentity


def test_the_gradient_is_that_of_the_observed_entries():
    """E of the θ-gradient over exact Gibbs chains, K = 1, is ∇ log p(x_observed) = E[∇ log p(x) given x_observed], by
    enumeration; 2^14 independent rows, false failures at most 1e-6."""
    model, count = tiny_model((2, 1), seed=5, prior={"": None}), 2**14
    oracle, row = Oracle(model), ROWS[0]
    log_p = log_joint(oracle, row)
    posterior = np.exp(log_p - log_sum(log_p))
    chosen = np.random.default_rng(6).choice(len(posterior), count, p=posterior)
    carry = [tf.constant(part[chosen], tf.uint8) for part in oracle.z]
    estimator = FisherIdentity(model.generative, model.recognition, model.prior, ds.latents.Gibbs(1))
    x = rows_with_gaps(np.repeat(row[None], count, 0))
    weights = [tf.convert_to_tensor(variable) for variable in model.generative.trainable_variables]
    gradients, weighted, moved = estimator.gradient(weights, x, 1.0, (), carry, tf.constant([1, 2]))
    # the exact gradient of log p(x_observed, z) of each state, averaged over the completions given that state
    filled = completions(row)
    given_z = np.exp(oracle.log_joint(filled) - log_p[:, None])
    terms = flat(oracle.joint_gradient(filled), 2)
    by_state = np.einsum("sn,snm->sm", given_z, terms)
    states = oracle.state([part.numpy()[0] for part in weighted.z])
    values = by_state[states]
    np.testing.assert_allclose(flat(gradients), values.mean(0), rtol=2e-3, atol=2e-4)
    assert_means(values, posterior @ by_state)
    assert np.mean(states != chosen) > 0.2 and (oracle.state([part.numpy() for part in moved]) == states).all()


@pytest.fixture
def step_by_step():
    """A few steps of tiny programs run faster than they are traced."""
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)


def fitted(x, latents="nais", proposal="wake", jit_compile=False, num_chains=1, **arguments):
    model = tiny_model((2,), seed=7, scale=0.3)
    kernel = ds.mcmc.SGLD(learning_rate=0.05)
    model.compile(kernel, latents, proposal, jit_compile=jit_compile, num_chains=num_chains, steps_per_execution=2)
    history = model.fit(x, batch_size=4, epochs=2, verbose=0, **arguments)
    assert all(np.isfinite(weight).all() for weight in model.get_weights())
    assert all(np.isfinite(values).all() for values in history.history.values())
    return model


def assert_same(a, b):
    for one, other in zip(a.get_weights(), b.get_weights()):
        np.testing.assert_array_equal(one, other)


GAPPY = np.where(np.random.default_rng(3).random((12, 3)) < 0.4, NAN, np.random.default_rng(4).integers(0, 2, (12, 3)))


def test_a_mask_is_the_same_as_nan(step_by_step):
    """Bit for bit, whatever stands under the mask."""
    mask = ~np.isnan(GAPPY)
    hidden = np.resize([-1, np.inf, 1, 0], GAPPY.shape)
    learnt = fitted(GAPPY, validation_data=GAPPY[:4])
    assert_same(learnt, fitted(np.where(mask, GAPPY, hidden), mask=mask, validation_data=GAPPY[:4]))


@pytest.mark.parametrize(
    "arguments",
    [
        {"latents": "gibbs", "proposal": None},
        {"latents": ds.latents.Gibbs(2, 1, persistent=True), "proposal": "sleep", "num_chains": 2},
        {"latents": ds.latents.NAIS(3, weights="uniform"), "proposal": "nvil"},
        {"proposal": "wake_sleep", "jit_compile": True},
    ],
    ids=["gibbs", "persistent chains", "nvil", "xla"],
)
def test_every_method_learns_from_gaps(arguments):
    """All weights move, the recognition network's where it learns, and stay finite; so do the metrics."""
    learnt, start = fitted(GAPPY, **arguments), tiny_model((2,), seed=7, scale=0.3)
    networks = [(learnt.generative, start.generative)]
    if arguments.get("proposal", "wake") is not None:
        networks.append((learnt.recognition, start.recognition))
    for moved, still in networks:
        for one, other in zip(moved.trainable_variables, still.trainable_variables, strict=True):
            assert not one.shape[0] or np.any(one.numpy() != other.numpy()), one.path


def test_a_variational_autoencoder_learns_from_gaps(step_by_step):
    model = ds.models.from_name("VAE 2", units=3, hidden_units=4)
    model.compile(**ds.methods.vae(learning_rate=0.01), jit_compile=False)
    losses = model.fit(GAPPY, epochs=2, verbose=0).history["log_likelihood"]
    assert np.isfinite(losses).all()


@pytest.mark.slow
def test_a_dataset_with_gaps(step_by_step):
    """A first batch without gaps may stand before those with some, counted or not; draws are those of the array."""
    x = np.concatenate([np.ones((4, 3)), GAPPY[:8]]).astype(np.float32)
    dataset = tf.data.Dataset.from_tensor_slices(x).batch(4)
    of_array = fitted(x, shuffle=False)
    assert_same(fitted(dataset, num_rows=12), of_array)
    assert_same(fitted(dataset), of_array)
    with pytest.raises(ValueError, match="mask is for arrays. Received: ndarray"):
        fitted(dataset, mask=x > 0)


def test_the_chain_finds_the_law_behind_the_gaps():
    """Rows whose first two units agree and whose third is independent, half of the entries missing: the most
    probable weights put the exact p(x) of the complete rows within 0.1 nats of 2 log ½. What ignores the gaps,
    or takes them for zeros, is off by more."""
    rng = np.random.default_rng(5)
    x = np.repeat(rng.integers(0, 2, (4000, 2)), [2, 1], 1).astype(np.float32)
    gappy = np.where(rng.random(x.shape) < 0.5, NAN, x)
    model = tiny_model((3,), seed=8, scale=0.5, prior={"": None})
    optimizers = keras.optimizers.Adam(0.03), keras.optimizers.Adam(0.03)
    proposal = ds.proposals.Wake(optimizers[1])
    model.compile(ds.mcmc.MAP(optimizer=optimizers[0]), ds.latents.NAIS(20), proposal, steps_per_execution=40)
    model.fit(gappy, batch_size=100, epochs=30, verbose=0)
    found = Oracle(model).log_likelihood(np.unique(x, axis=0))
    assert np.all(found > 2 * np.log(0.5) - 0.25) and found.mean() > 2 * np.log(0.5) - 0.1

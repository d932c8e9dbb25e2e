"""Rows with missing entries: what is missing is summed out, exactly, in every density, gradient and draw."""

import keras
import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_bounded_means, assert_frequencies, assert_means
from tests.oracles import Oracle, binary_states, flat, log_sum, randomize, tiny_model
from tests.training.support import theta_of
from tfdsmcmc import checks, incomplete
from tfdsmcmc.training.step import Method, theta_gradient

NAN = np.nan
ROWS = np.array([[1, NAN, 0], [NAN, 1, NAN], [0, 0, 1], [NAN, NAN, NAN]], np.float32)


def completions(row):
    """Every way to fill the gaps of a row, (2^gaps, D)."""
    gaps = np.isnan(row)
    filled = np.repeat(row[None], 2 ** gaps.sum(), 0)
    filled[:, gaps] = binary_states(gaps.sum())
    return filled


def exact(oracle, row):
    """log p(x_observed)."""
    return log_sum(oracle.log_likelihood(completions(row)))


@pytest.mark.parametrize("kind", ["SBN", "MLPBernoulli", "MLPGaussian"])
def test_what_a_layer_misses_drops_out(kind):
    """Against the sum over all completions, or for real units against SciPy's densities one by one; gradients with
    respect to the weights are those of the observed terms alone, and finite."""
    layer = {"SBN": ds.layers.SBN(3)}.get(kind) or getattr(ds.layers, kind)(3, hidden_units=[4])
    layer.build((None, 2))
    randomize(layer, seed=1, scale=0.7)
    parents = np.array([[1, 0], [0.5, 2], [1, 1], [0, 3]], np.float32)
    x, observed = incomplete.parted(ROWS, fill=0.7)
    with tf.GradientTape() as tape:
        found = layer.observed_log_prob(x, observed, parents)
    assert all(np.isfinite(g).all() for g in tape.gradient(found, layer.trainable_variables))
    for i, row in enumerate(ROWS):
        if kind == "MLPGaussian":
            law = layer.distribution(parents[i])
            terms = scipy.stats.norm.logpdf(row, law.mean(), law.stddev())
            expected = terms[~np.isnan(row)].sum()
        else:
            expected = log_sum(layer.log_prob(completions(row), parents[i]).numpy())
        np.testing.assert_allclose(found[i], expected, rtol=1e-5, atol=1e-5)
    complete = layer.log_prob(x, parents)
    np.testing.assert_allclose(layer.observed_log_prob(x, tf.ones_like(x), parents), complete, rtol=1e-5)


def test_dependent_units_are_refused_by_name():
    for layer in (ds.layers.DARN(3), ds.layers.NADE(3, hidden_units=2)):
        network = ds.GenerativeNetwork([ds.layers.SBN(2), layer])
        with pytest.raises(ValueError, match=f"SBN, MLPBernoulli or MLPGaussian. Received: {type(layer).__name__}"):
            incomplete.check(network)
        with pytest.raises(ValueError, match=f"SBN, MLPBernoulli and MLPGaussian. Received: {type(layer).__name__}"):
            network.log_joint(np.ones((1, 3)), [np.ones((1, 2))], observed=np.ones((1, 3)))


def test_the_joint_of_observed_entries_is_the_sum_over_the_others():
    model = tiny_model((2, 1), seed=3)
    generative, _ = incomplete.of(model.generative, model.recognition)
    oracle = Oracle(model)
    z = [tf.constant(part[:, None], tf.float32) for part in oracle.z]
    found = generative.log_joint(ROWS, z).numpy()
    for i, row in enumerate(ROWS):
        np.testing.assert_allclose(found[:, i], log_sum(oracle.log_joint(completions(row)), 1), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("latent_units", [(2,), (2, 1)])
def test_importance_weights_have_the_mean_of_the_observed_entries(latent_units):
    """mean_k w_k / p(x_observed) of 20,000 draws is 1, by Bernstein's inequality with the exact deviation and bound."""
    model, num_samples = tiny_model(latent_units, seed=4, scale=0.6), 20_000
    networks = incomplete.of(model.generative, model.recognition)
    weighted, _ = ds.latents.NAIS(num_samples).draw(*networks, ROWS, seed=5)
    oracle = Oracle(model)
    log_q = oracle.log_q(np.where(np.isnan(ROWS), 0.5, ROWS))
    for i, row in enumerate(ROWS):
        log_joint = log_sum(oracle.log_joint(completions(row)), 1)
        ratio = np.exp(log_joint - log_q[:, i] - exact(oracle, row))
        deviation = np.sqrt((np.exp(log_q[:, i]) * ratio**2).sum() - 1)
        means = np.exp(weighted.log_likelihood.numpy()[i : i + 1].astype(np.float64) - exact(oracle, row))
        assert_bounded_means(means, 1.0, deviation, ratio.max(), num_samples)


def test_gibbs_draws_have_the_posterior_given_the_observed_entries():
    """2^14 exact draws, one sweep: chi-square over the states of z, false failures at most 1e-6 a row."""
    model = tiny_model((2, 1), seed=3)
    oracle = Oracle(model)
    generative, _ = incomplete.of(model.generative, model.recognition)
    for row in ROWS[:2]:
        log_p = log_sum(oracle.log_joint(completions(row)), 1)
        p = np.exp(log_p - log_sum(log_p))
        chosen = np.random.default_rng(1).choice(len(p), 2**14, p=p)
        start = [tf.constant(part[chosen], tf.float32) for part in oracle.z]
        moved = ds.latents.Gibbs().sweep(generative, row, start, seed=2)
        states = oracle.state([part.numpy() for part in moved])
        assert np.mean(states != chosen) > 0.2
        assert_frequencies(np.bincount(states, minlength=len(p)), p)


def test_the_gradient_is_that_of_the_observed_entries():
    """E of the θ-gradient over exact Gibbs chains, K = 1, is ∇ log p(x_observed) = E[∇ log p(x) given x_observed], by
    enumeration; 2^14 independent rows, false failures at most 1e-6."""
    model, count = tiny_model((2, 1), seed=5, prior={"": None}), 2**14
    oracle, row = Oracle(model), ROWS[0]
    log_p = log_sum(oracle.log_joint(completions(row)), 1)
    posterior = np.exp(log_p - log_sum(log_p))
    chosen = np.random.default_rng(6).choice(len(posterior), count, p=posterior)
    carry = [tf.constant(part[chosen], tf.float32) for part in oracle.z]
    networks = incomplete.of(model.generative, model.recognition)
    method = Method(*networks, model.prior, None, ds.latents.Gibbs(1), None, 1, 0)
    x = np.repeat(row[None], count, 0)
    gradients, (weighted, _) = theta_gradient(method, x, 1.0, carry=carry)(*theta_of(model), seed=[1, 2])
    # the exact gradient of log p(x_observed, z) of each state, averaged over the completions given that state
    filled = completions(row)
    given_z = np.exp(oracle.log_joint(filled) - log_p[:, None])
    terms = flat(oracle.joint_gradient(filled), 2)
    by_state = np.einsum("sn,snm->sm", given_z, terms)
    values = by_state[oracle.state([part.numpy()[0] for part in weighted.z])]
    np.testing.assert_allclose(flat(gradients), values.mean(0), rtol=2e-3, atol=2e-4)
    assert_means(values, posterior @ by_state)


def test_complete_rows_are_what_they_were():
    model = tiny_model((2,), seed=1)
    networks = incomplete.of(model.generative, model.recognition)
    x = np.array([[1, 0, 1], [0, 0, 1]], np.float32)
    pairs = networks, (model.generative, model.recognition)
    for seen, plain in zip(*(ds.latents.NAIS(4).draw(*pair, x, 1)[0] for pair in pairs)):
        np.testing.assert_allclose(np.array(seen), np.array(plain), rtol=1e-5, atol=1e-6)


# ---- reading


def test_rows_with_gaps():
    x = [[1, None, 0], [NAN, 1, 1]]
    found = checks.rows("x", x, 3, binary=True, missing=True)
    assert found.dtype == np.float32
    np.testing.assert_array_equal(found, [[1, NAN, 0], [NAN, 1, 1]])
    assert checks.rows("x", [[1, 0, 0]], 3, binary=True, missing=True).dtype == np.uint8
    for bad, message in (([[2, NAN, 0]], "first 2.0"), ([[np.inf, NAN, 0]], "1 entries that are NaN or infinite")):
        with pytest.raises(ValueError, match=f"Received: .*{message}"):
            checks.rows("x", bad, 3, binary=True, missing=True)
    with pytest.raises(ValueError, match="Received: 2 entries that are NaN"):
        checks.rows("x", x, 3, binary=True)


def test_rows_of_pandas():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": pandas.array([1, None], "Int64"), "b": [0.0, NAN], "c": [True, False]})
    found = checks.rows("x", frame, 3, binary=True, missing=True)
    np.testing.assert_array_equal(found, [[1, 0, 1], [NAN, NAN, 0]])


def test_masks():
    np.testing.assert_array_equal(checks.observed("mask", [1, 0], (2, 2)), [[True, False]] * 2)
    for bad in ([[True]], [[0.5, 1], [1, 1]], [["a", "b"], ["c", "d"]]):
        with pytest.raises(ValueError, match=r"^mask has|^mask must.* Received: "):
            checks.observed("mask", bad, (2, 2))


# ---- estimates


@pytest.mark.parametrize("latent_units", [(2,), pytest.param((2, 1), marks=pytest.mark.slow)])
def test_estimates_of_rows_with_gaps(latent_units):
    """Enumeration is the sum over completions; importance sampling, to a precision too, and annealing on every path lie
    within 6 standard errors of it."""
    model = tiny_model(latent_units, seed=4, scale=0.6)
    model.compile(jit_compile=False)
    oracle = Oracle(model)
    expected = np.array([exact(oracle, row) for row in ROWS])
    likelihood = ds.likelihood
    np.testing.assert_allclose(likelihood.exact(model, ROWS).value, expected, rtol=1e-5, atol=1e-5)
    estimates = [
        likelihood.importance_sampling(model, ROWS, 4000, seed=1, warn=False),
        likelihood.importance_sampling(model, ROWS, 400, seed=1, warn=False, standard_error=0.02),
        *(likelihood.annealed_importance_sampling(model, ROWS, 4, 500, path=path) for path in ("prior", "recognition")),
        likelihood.annealed_importance_sampling(model, ROWS, 4, 500, path="weights", schedule="adaptive"),
    ]
    for estimate in estimates:
        assert np.all(np.abs(estimate.value - expected) < 6 * estimate.standard_error + 1e-5)
        assert np.all(estimate.standard_error < 0.08)
    bound = likelihood.evidence_lower_bound(model, ROWS, 4000)
    assert np.all(bound.value < expected + 5 * bound.standard_error)
    # a row with nothing observed has probability 1
    assert expected[-1] == pytest.approx(0.0, abs=1e-9)


def test_estimates_refuse_gaps_where_units_depend_on_each_other():
    model = ds.models.from_name("SBN/SBN 2", units=3)
    model = ds.DeepGenerativeModel(
        ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.DARN(3)]), ds.RecognitionNetwork([ds.layers.SBN(2)])
    )
    model.compile(jit_compile=False)
    calls = (model.log_likelihood, lambda x: ds.likelihood.exact(model, x), model.fit,
             lambda x: ds.likelihood.annealed_importance_sampling(model, x))  # fmt: skip
    before = model.get_weights()
    for call in calls:
        with pytest.raises(ValueError, match="SBN, MLPBernoulli or MLPGaussian. Received: DARN"):
            call(ROWS)
    for a, b in zip(before, model.get_weights()):
        np.testing.assert_array_equal(a, b)


# ---- learning


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

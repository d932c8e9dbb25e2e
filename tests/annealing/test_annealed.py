"""Annealed importance sampling against enumeration: the laws of its runs, of its estimates, and its errors."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.annealing.enumeration import (
    KINDS,
    log_table,
    model_of,
    posterior_draws,
    run_moments,
    states_of,
    sweep_matrix,
)
from tests.chance import assert_bounded_means, assert_frequencies, assert_means
from tests.oracles import Oracle, binary_states, randomize, state_numbers, tiny_model
from tests.slow_cases import mostly_slow
from tfdsmcmc.annealing import annealed_importance_sampling, latent_paths, runs
from tfdsmcmc.likelihood import exact

X = binary_states(3)
ROW = np.array([1, 1, 0])
BETAS = np.array([0.0, 0.35, 0.8, 1.0], np.float32)
PATHS = list(latent_paths.PATHS)
FAST = [("SBN", "prior"), ("DARN", "recognition"), ("NADE", "weights")]


def log_weights_of_runs(model, name, direction, betas, copies, seed):
    """One run for each of many copies of a row, eagerly: (copies,)."""
    rows = tf.constant(np.repeat(ROW[None], copies, 0), tf.float32)
    path = latent_paths.PATHS[name](model.generative, model.recognition, rows)
    arguments = tf.constant(betas), ds.random.as_seed(seed)
    if direction == "forward":
        return runs.forward(path, *arguments).numpy()
    z = [tf.constant(part) for part in posterior_draws(model, ROW, copies, seed)[0]]
    return runs.reverse(path, z, *arguments).numpy()


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_a_schedule_is_what_its_numbers_are(direction):
    model = tiny_model((2,), seed=1)
    wanted = log_weights_of_runs(model, "prior", direction, BETAS, 4, 1)
    path = latent_paths.PATHS["prior"](model.generative, model.recognition, tf.constant([ROW] * 4, tf.float32))
    z = [tf.constant(part) for part in posterior_draws(model, ROW, 4, 1)[0]]
    for betas in (BETAS.tolist(), BETAS.astype(np.float64)):
        arguments = betas, ds.random.as_seed(1)
        found = runs.forward(path, *arguments) if direction == "forward" else runs.reverse(path, z, *arguments)
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize(("kind", "path"), mostly_slow(FAST, itertools.product(KINDS, PATHS)))
def test_runs_have_their_exact_law(kind, path, direction):
    """Three steps and 2¹⁴ runs: E w = p(x), or E w' = 1/p(x), by Bernstein's inequality with the exact deviation and
    bound; E log w, which depends on every transition, as the product of the sweeps' matrices has it. False failures at
    most 1e-6 each. Catches the wrong order of weight and move, a move at another β, a lost start."""
    model, copies = model_of(KINDS[kind]()), 2**14
    true = run_moments(model, path, BETAS, ROW, direction)
    p = np.exp(exact(model, ROW[None]).value[0])
    np.testing.assert_allclose(true.mean, p if direction == "forward" else 1 / p, rtol=1e-5)
    log_w = log_weights_of_runs(model, path, direction, BETAS, copies, seed=5)
    w = np.exp(log_w - np.log(true.mean))
    assert w.max() < 1.0001 * true.largest / true.mean
    assert_bounded_means(w.mean(), 1.0, true.deviation / true.mean, true.largest / true.mean, copies)
    assert_means(log_w, true.log_mean, true.log_deviation)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("steps", [2, 3])
def test_the_order_of_weight_and_move_matters(path, steps):
    """What the tests above can see: a run that moves to a density before it is weighed for it misses p(x) by over ten
    times the tolerance of Bernstein's inequality."""
    model, copies = model_of(KINDS["SBN"]()), 2**14
    betas = np.linspace(0, 1, steps + 1)
    right, wrong = (run_moments(model, path, betas, ROW, moved_first=late) for late in (False, True))
    np.testing.assert_allclose(right.mean, np.exp(exact(model, ROW[None]).value[0]), rtol=1e-5)
    with pytest.raises(AssertionError):
        assert_bounded_means(wrong.mean, right.mean, 10 * right.deviation, 10 * right.largest, copies)


# ---- estimates from runs


def test_the_estimate_of_given_weights():
    log_w = np.random.default_rng(0).normal(-700.0, 2.0, (6, 5))
    w = np.exp(log_w + 700)
    up, down = runs.log_normaliser(log_w), runs.log_normaliser(-log_w, -1)
    np.testing.assert_allclose(up.value, np.log(w.mean(0)) - 700, rtol=1e-12)
    np.testing.assert_allclose(up.standard_error, w.std(0, ddof=1) / np.sqrt(6) / w.mean(0), rtol=1e-9)
    np.testing.assert_allclose(up.effective_sample_size, w.sum(0) ** 2 / (w**2).sum(0), rtol=1e-9)
    np.testing.assert_allclose(down.value, -np.log((1 / w).mean(0)) - 700, rtol=1e-12)
    assert np.all(down.value < up.value)
    one = runs.log_normaliser(log_w[:1])
    np.testing.assert_allclose(one.value, log_w[0])
    assert np.isnan(one.standard_error).all() and np.all(one.effective_sample_size == 1)


@pytest.mark.compiled
def test_a_compiled_run():
    """Rows in batches that do not divide them, float32 in loops of XLA: every row, by Bernstein's inequality."""
    model = tiny_model((2, 2), seed=1)
    estimate = annealed_importance_sampling(model, X, 8, 2000, path="weights", schedule="linear", seed=2, batch_size=5)
    log_p = exact(model, X).value
    true = [run_moments(model, "weights", np.linspace(0, 1, 9), x) for x in X]
    relative = np.array([[t.deviation / t.mean, t.largest / t.mean] for t in true])
    assert_bounded_means(np.exp(estimate.value - log_p), 1.0, *relative.T, count=2000)
    np.testing.assert_allclose(estimate.standard_error, relative[:, 0] / np.sqrt(2000), rtol=0.25)


@pytest.mark.parametrize(
    ("path", "models"), mostly_slow([("recognition", 50)], [("recognition", 50), *zip(PATHS, [200] * 3)])
)
def test_errors_are_calibrated(path, models):
    """1,600 estimates at random weights of one program: within one standard error in 68.3 %, within two in 95.4 % of
    them, up to 5 binomial standard deviations and 2 % for the skewness of means of 400 runs. Catches a factor of 1.2;
    false failures at most 1e-6."""
    model, x, z = model_of(KINDS["SBN"]()), np.tile(X, (200 // models, 1)), []
    for number in range(models):
        randomize(model, seed=number, scale=0.8)
        estimate = annealed_importance_sampling(model, x, 2, 400, path=path, seed=number)
        z.append((estimate.value - Oracle(model).log_likelihood(x)) / estimate.standard_error)
    z = np.concatenate(z)
    assert np.mean(np.abs(z) < 1) == pytest.approx(0.683, abs=0.08)
    assert np.mean(np.abs(z) < 2) == pytest.approx(0.954, abs=0.046)
    assert abs(z.mean()) < 0.25


# ---- runs that share a posterior draw


def test_the_posterior_chain():
    """From one fixed state the r-th kept one has the law of the sweep's matrix to the power r · separation."""
    model, copies = model_of(KINDS["SBN"]()), 2**14
    rows = tf.constant(np.repeat(ROW[None], copies, 0), tf.float32)
    path = latent_paths.PriorPath(model.generative, model.recognition, rows)
    first = [tf.tile(part[5:6], [copies, 1]) for part in states_of(model.generative)]
    kept = runs.target_chain(path, first, 2, 2, ds.random.as_seed(4))
    sweep = sweep_matrix(log_table(model, "prior", 1.0, ROW))
    numbers = state_numbers(np.concatenate(kept, -1))
    assert numbers.shape == (2, copies)
    for r, power in enumerate((2, 4)):
        assert_frequencies(np.bincount(numbers[r], minlength=16), np.linalg.matrix_power(sweep, power)[5])


@pytest.mark.parametrize("draws", ["shared", "one for each run"])
@pytest.mark.compiled
def test_reverse_runs(draws):
    """E (1/R) Σ w' = 1/p(x) over exact draws, shared or not; their standard error is right if they are independent, and
    where the runs begin two sweeps apart on a chain that forgets."""
    model, copies, repeats = model_of(KINDS["SBN"](), scale=0.8), 2**11, 8
    count = copies if draws == "shared" else repeats * copies
    z = [part.astype(int) for part in posterior_draws(model, ROW, count)[0]]
    if draws != "shared":
        z = [part.reshape(repeats, copies, -1) for part in z]
    estimate = annealed_importance_sampling(
        model, np.repeat(ROW[None], copies, 0), 3, repeats, direction="reverse", z=z, batch_size=copies, separation=2
    )
    relative = np.exp(exact(model, ROW[None]).value - estimate.value)
    assert_means(relative, 1.0)
    assert estimate.value.mean() > exact(model, ROW[None]).value[0]
    stated = np.sqrt(np.mean(np.square(estimate.standard_error * relative)))
    assert stated == pytest.approx(relative.std(), rel=0.15)


def test_each_row_has_its_own_draws():
    """Rows and draws stay together through the batches and their padding: with one step of reverse weights, w' is a
    function of x and z alone."""
    model = model_of(KINDS["SBN"]())
    z = [np.random.default_rng(1).integers(0, 2, (2, 8, 2)) for _ in range(2)]
    estimate = annealed_importance_sampling(model, X, 1, 2, direction="reverse", schedule=[0, 1], z=z, batch_size=3)
    log_data = model.generative.layers[-1].log_prob(X.astype(np.float32), tf.cast(z[0], tf.float32)).numpy()
    np.testing.assert_allclose(estimate.value, -np.log(np.exp(-log_data).mean(0)), rtol=1e-5)


# ---- rows, weights, seeds


def test_other_weights_and_seeds():
    model, other = model_of(KINDS["SBN"](), seed=1), model_of(KINDS["SBN"](), seed=2)
    weights = [[v.numpy() for v in network.trainable_variables] for network in (other.generative, other.recognition)]

    def estimates(model, seed, weights=None):
        return annealed_importance_sampling(model, X, 3, 2, path="recognition", seed=seed, weights=weights).value

    first, there = estimates(model, 5), estimates(model, 5, weights)
    assert np.all(first != there) and np.all(first != estimates(model, 6))
    # the model is as it was; and if it moves, the program sees it
    np.testing.assert_array_equal(first, estimates(model, 5))
    model.set_weights(other.get_weights())
    np.testing.assert_allclose(estimates(model, 5), there, rtol=1e-6)


def test_without_latent_layers_the_value_is_exact():
    model = ds.DeepGenerativeModel(ds.GenerativeNetwork([ds.layers.DARN(3)]), ds.RecognitionNetwork([]))
    randomize(model)
    estimate = annealed_importance_sampling(model, X)
    np.testing.assert_array_equal(estimate.value, exact(model, X).value)
    assert np.all(estimate.standard_error == 0)
    weights = [v.numpy() * 2 for v in model.generative.trainable_variables], []
    assert np.all(annealed_importance_sampling(model, X, weights=weights).value != estimate.value)


@pytest.mark.parametrize("path", latent_paths.PATHS)
@pytest.mark.parametrize("jit_compile", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_a_row_of_density_zero(path, jit_compile):
    """In float32 the square of 10²⁵ is infinite."""
    layers = [ds.layers.SBN(2), ds.layers.MLPGaussian(2)]
    model = ds.DeepGenerativeModel(ds.GenerativeNetwork(layers), ds.RecognitionNetwork([ds.layers.SBN(2)]), seed=1)
    model.compile(kernel=ds.mcmc.SGLD(learning_rate=0.1), jit_compile=jit_compile)
    x = np.array([[1e25, 0.0], [0.5, 0.0]])
    value = annealed_importance_sampling(model, x, 4, 3, path=path).value
    assert value[0] == -np.inf and np.isfinite(value[1])


COUNTS = ["num_steps", "num_runs", "batch_size", "separation"]


@pytest.mark.parametrize(("name", "count"), [
    *((name, count) for name in COUNTS for count in (0, 2.5, True, None)),
    *((name, 2**31) for name in COUNTS if name != "batch_size"),
])  # fmt: skip
def test_bad_counts(name, count):
    with pytest.raises(ValueError, match=f"Received: {name}="):
        annealed_importance_sampling(tiny_model(), X, **{name: count})


@pytest.mark.parametrize(
    "wrong",
    [
        {"path": "posterior"},
        {"path": None},
        {"schedule": "geometric"},
        {"schedule": None},
        {"schedule": [0.0, 0.5, 0.9]},
        {"schedule": [0.1, 1.0]},
        {"schedule": [0.0, 0.7, 0.7, 1.0]},
        {"schedule": [1.0]},
        {"schedule": np.zeros((2, 2))},
        {"schedule": [0.0, np.nan, 1.0]},
        {"schedule": {}},
        {"direction": "backward"},
        {"direction": "reverse"},
        {"direction": "reverse", "z": np.zeros((8, 2))},
        {"direction": "reverse", "z": [np.zeros((7, 2))]},
        {"direction": "reverse", "z": [np.zeros((8, 3))]},
        {"direction": "reverse", "z": [np.zeros((8, 2))] * 2},
        {"direction": "reverse", "z": [np.full((8, 2), 0.5)]},
        {"direction": "reverse", "z": [np.ma.masked_array(np.zeros((8, 2)), np.eye(8, 2))]},
        {"direction": "reverse", "z": [np.zeros((3, 8, 2))], "num_runs": 4},
        {"z": [np.zeros((8, 2))]},
        {"transition": "hmc"},
        {"transition": ds.annealing.HMC()},
        {"x": X[:, :2]},
        {"seed": -1},
        {"weights": ([], [])},
    ],
    ids=str,
)
def test_bad_arguments(wrong):
    with pytest.raises(ValueError, match=f"({'|'.join(wrong)}).*Received: "):
        annealed_importance_sampling(tiny_model(), **{"x": X, **wrong})

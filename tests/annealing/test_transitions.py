"""Transitions against quadrature: they keep the density of any path; runs with them have mean p(x)."""

import itertools

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.annealing.enumeration import model_of
from tests.chance import assert_frequencies, assert_means
from tests.oracles import log_sum
from tests.slow_cases import mostly_slow
from tfdsmcmc.annealing import HMC, MALA, latent_paths, pilot, runs, transitions

SBN, MLP, Gaussian = ds.layers.SBN, ds.layers.MLPBernoulli, ds.layers.MLPGaussian

GRID = np.linspace(-8, 8, 3201)
ROW = np.array([1.0, 0.0, 1.0], np.float32)

# networks of one real latent unit, and of one binary unit next to it
NETWORKS = {
    "binary data": lambda: ([Gaussian(1), MLP(3, hidden_units=[3])], [Gaussian(1, hidden_units=[3])]),
    "real data": lambda: ([Gaussian(1), Gaussian(3, hidden_units=[3])], [Gaussian(1, hidden_units=[3])]),
    "mixed": lambda: ([Gaussian(1), SBN(1), MLP(3)], [SBN(1), Gaussian(1, hidden_units=[2])]),
}
PRODUCTS = list(itertools.product(NETWORKS, latent_paths.PATHS))


def network(name):
    """With a recognition network of standard deviation 1: were it much narrower than the posterior, or much wider, the
    weights of a few steps would have no variance."""
    model = model_of(NETWORKS[name](), seed=5, scale=0.9)
    for variable in model.recognition.layers[-1].trainable_variables:
        if "log_scale" in variable.name:
            variable.assign(tf.zeros_like(variable))
    return model


def path_of(model, name, copies, kernel=None):
    """Runs of copies of one row."""
    row = tf.constant(ROW[None])
    return latent_paths.path_over_latents(name, model.generative, model.recognition, row, kernel, copies)


def quadrature(model, name, beta):
    """(log f_β at the points (S,), their z, the cell of the real unit): the grid, for both values of a binary unit."""
    binary = [0.0, 1.0] if len(model.generative.latent_units) == 2 else [None]
    points = [(bit, value) for bit in binary for value in GRID]
    real = tf.constant([[value] for _, value in points], tf.float32)
    z = [real] if binary == [None] else [tf.constant([[bit] for bit, _ in points], tf.float32), real]
    path = path_of(model, name, len(points))
    return path.log_density(beta, z).numpy().astype(np.float64), z


def draws(log_f, z, count, seed):
    """Points of the grid from their law, moved within their cell."""
    rng = np.random.default_rng(seed)
    chosen = rng.choice(len(log_f), count, p=np.exp(log_f - log_sum(log_f)))
    *binary, real = (part.numpy()[chosen] for part in z)
    shift = rng.uniform(-0.5, 0.5, real.shape) * (GRID[1] - GRID[0])
    return [tf.constant(part, tf.float32) for part in (*binary, real + shift)]


def cells(z, edges):
    """Bins of the real unit, for each value of the binary one."""
    place = np.searchsorted(edges, np.asarray(z[-1])[:, 0])
    return place + (len(edges) + 1) * (np.asarray(z[0])[:, 0].astype(int) if len(z) == 2 else 0)


@pytest.mark.parametrize("kernel", [HMC(0.4, num_leapfrog_steps=4), MALA(0.3)], ids=["HMC", "MALA"])
@pytest.mark.parametrize(
    ("kind", "name"),
    mostly_slow([("binary data", "weights"), ("real data", "prior"), ("mixed", "recognition")], PRODUCTS),
)
def test_a_transition_keeps_the_density(kind, name, kernel):
    """2^13 exact draws of f_β, one transition: chi-square over 12 cells, false failures at most 1e-6. Some proposals
    are rejected, so that a wrong acceptance is seen; the states move."""
    model = network(kind)
    log_f, points = quadrature(model, name, 0.6)
    z = draws(log_f, points, 2**13, seed=1)
    path = path_of(model, name, 2**13, kernel)
    after, acceptance = path.move(tf.constant(0.6), z, ds.random.as_seed(2), kernel.step_size)
    assert 0.3 < np.mean(acceptance) < 0.999
    assert np.mean(after[-1] != z[-1]) > 0.3
    p = np.exp(log_f - log_sum(log_f))
    order = np.argsort(points[-1][:, 0].numpy(), kind="stable")
    edges = np.interp(np.arange(1, 12) / 12, np.cumsum(p[order]), points[-1][:, 0].numpy()[order])
    expected = np.bincount(cells(points, edges), p)
    counts = np.bincount(cells(after, edges), minlength=len(expected))
    assert_frequencies(counts, expected)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize(
    ("kind", "name"),
    mostly_slow([("real data", "recognition")], PRODUCTS),
)
def test_runs_have_the_mean_of_quadrature(kind, name, direction):
    """Three steps, 2^13 runs: E w = p(x) or E w' = 1/p(x); false failures at most 1e-6, as far as the sample's
    deviation is that of the law."""
    model, copies = network(kind), 2**13
    log_f, points = quadrature(model, name, 1.0)
    log_p = log_sum(log_f) + np.log(GRID[1] - GRID[0])
    betas, steps = tf.constant([0.0, 0.3, 0.7, 1.0]), tf.fill([4], 0.4)
    path, seed = path_of(model, name, copies, HMC(0.4, num_leapfrog_steps=3)), ds.random.as_seed(3)
    if direction == "forward":
        relative = np.exp(runs.forward(path, betas, seed, steps) - log_p)
    else:
        z = draws(log_f, points, copies, seed=4)
        relative = np.exp(runs.reverse(path, z, betas, seed, steps) + log_p)
    assert relative.max() < 0.05 * copies
    assert_means(relative, 1.0)


@pytest.mark.slow
@pytest.mark.parametrize("kernel", [HMC(num_leapfrog_steps=4), MALA()], ids=str)
def test_the_pilot_finds_step_sizes(kernel):
    """Of two different widths of f_β, the prior's and a narrow posterior's, each gets the acceptance aimed at."""
    model = network("real data")
    for variable in model.generative.layers[-1].trainable_variables:
        if "log_scale" in variable.name and "bias" in variable.name:
            variable.assign(tf.fill(variable.shape, -1.0))
    betas = tf.concat([tf.zeros([1]), tf.linspace(0.1, 1.0, 20)], 0)
    path, count = path_of(model, "prior", pilot.NUM_RUNS * 8, kernel), 16
    many = path_of(model, "prior", 2**10, kernel)
    run = tf.function(lambda seed: pilot.pilot(path, betas, None, seed), autograph=False)
    kept, step_sizes = run(ds.random.as_seed(1))
    np.testing.assert_array_equal(kept, betas)
    assert step_sizes[0] > 2 * step_sizes[-1]
    for beta, t in ((0.0, 0), (1.0, 20)):
        z = draws(*quadrature(model, "prior", beta), 2**10, seed=2)
        moves = (many.move(beta, z, ds.random.as_seed(i), step_sizes[t]) for i in range(count))
        assert np.mean([acceptance for _, acceptance in moves]) == pytest.approx(kernel.target_acceptance, abs=0.15)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "kernel", "jit_compile"),
    [
        ("real data", MALA(0.3), False),
        ("real data", None, True),
        ("mixed", HMC(num_leapfrog_steps=4), True),
    ],
    ids=str,
)
def test_estimates_agree_with_quadrature(kind, kernel, jit_compile):
    """From below and from above, step sizes from a pilot included, within 5.5 standard errors that are small."""
    model, x = network(kind), np.repeat(ROW[None], 2, 0)
    model.compile(kernel=ds.mcmc.SGLD(learning_rate=0.1), jit_compile=jit_compile)
    log_f, points = quadrature(model, "prior", 1.0)
    log_p = log_sum(log_f) + np.log(GRID[1] - GRID[0])
    z = [np.reshape(part, (1000, 2, -1)) for part in draws(log_f, points, 2000, seed=1)]
    for arguments in ({"direction": "forward"}, {"direction": "reverse", "z": z}):
        estimate = ds.annealing.annealed_importance_sampling(
            model, x, 20, 1000, transition=kernel, batch_size=2, seed=2, **arguments
        )
        assert np.all(estimate.standard_error < 0.06)
        np.testing.assert_array_less(np.abs(estimate.value - log_p) / estimate.standard_error, 5.5)


@pytest.mark.parametrize("make", [HMC, MALA])
@pytest.mark.parametrize("step_size", [0, -0.1, np.nan, "small", None, [0.1, 0.2], 1e-60, 1e39])
def test_bad_step_sizes(make, step_size):
    with pytest.raises(ValueError, match="Received: step_size="):
        make(step_size)


@pytest.mark.parametrize("count", [0, 2.5, None])
def test_bad_leapfrog_steps(count):
    with pytest.raises(ValueError, match="Received: num_leapfrog_steps="):
        HMC(num_leapfrog_steps=count)


@pytest.mark.parametrize(
    "columns", [[ds.columns.Categorical(3)], [ds.columns.Binary()] * 2, [ds.columns.Count("poisson")]]
)
def test_latents_that_are_neither_binary_nor_real_are_refused(columns):
    """Hamiltonian Monte Carlo would move them, to figures that are off by thousands of nats."""
    top, proposal = (ds.layers.Mixed(columns) for _ in range(2))
    model = ds.DeepGenerativeModel(ds.GenerativeNetwork([top, ds.layers.SBN(2)]), ds.RecognitionNetwork([proposal]))
    for path in ("prior", "recognition"):
        with pytest.raises(ValueError, match=r"real units alone\. Received: \['Mixed of"):
            ds.likelihood.annealed_importance_sampling(model, np.eye(2), num_steps=2, path=path)


def test_real_columns_of_a_latent_layer_are_moved():
    layer = ds.layers.Mixed([ds.columns.Real(), ds.columns.Real()])
    generative = ds.GenerativeNetwork([layer, ds.layers.SBN(2)])
    assert transitions.transition_for(generative, None) == transitions.HMC()

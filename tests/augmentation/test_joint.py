"""Geweke's joint test: passes in turn with draws of the data given weights and units leave the law of both invariant.

The weights of the chain are compared with draws from the prior, by means of bounded functions and their errors over
batches of the chain; a test fails by chance once in 10⁶ runs at most.

Source: Geweke, "Getting it right: joint distribution tests of posterior simulators", Journal of the American
Statistical Association 99 (2004).
"""

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.chance import assert_near
from tfdsmcmc import random
from tfdsmcmc.augmentation.gibbs import polya_gamma_gibbs, regressions
from tfdsmcmc.networks import evaluated_at
from tfdsmcmc.rows import Rows
from tfdsmcmc.sweeps import gibbs as gibbs_sweeps
from tfdsmcmc.training.feeding.batch import Batch

tfd = tfp.distributions
pytestmark = [pytest.mark.slow, pytest.mark.compiled]
ROWS, BATCHES = 3, 50
SBN, DARN = ds.layers.SBN, ds.layers.DARN
NORMAL = {"bias": tfd.Normal(0.3, 1.0), "": tfd.Normal(-0.2, 1.3)}
WIDE = {"bias": tfd.Normal(1.5, 2.5), "": tfd.Normal(-0.2, 1.3)}
STUDENT_T = {"bias": tfd.Normal(0.3, 1.0), "": tfd.StudentT(2.2, 0.1, 0.8)}
COLUMN = {"bias": tfd.Normal(0.0, 1.0), "": ds.priors.ColumnThreeParameterBetaNormal(0.5, 0.5)}
GENERAL = {"bias": tfd.Normal(0.0, 1.0), "": ds.priors.ColumnThreeParameterBetaNormal(1.2, 0.8, minimum_scale=0.3)}
HORSESHOE = {"bias": tfd.Normal(0.0, 1.0), "": ds.priors.Horseshoe(0.7, 0.2, group="parent")}


def networks(layers, context=None):
    generative = ds.GenerativeNetwork(layers, context)
    recognition = ds.RecognitionNetwork([SBN(width) for width in generative.latent_units])
    recognition.build((None, generative.seen_units))
    return generative, recognition


def weights_from(prior, shape, rng):
    """A draw of a weight from its prior, by NumPy."""
    if isinstance(prior, tfd.Normal):
        return rng.normal(float(prior.loc), float(prior.scale), shape)
    if isinstance(prior, tfd.StudentT):
        return float(prior.loc) + float(prior.scale) * rng.standard_t(float(prior.df), shape)
    floor = rng.normal(0, 1, shape) * prior.minimum_scale
    if isinstance(prior, ds.priors.Horseshoe):
        scale = prior.global_scale * np.abs(rng.standard_cauchy((shape[0], 1)))
        return scale * rng.normal(size=shape) + floor
    omega = rng.gamma(0.5)
    phi = rng.gamma(0.5, size=(shape[0], 1)) / omega
    xi = rng.gamma(prior.b, size=shape) / phi
    with np.errstate(all="ignore"):
        value = np.sqrt(rng.gamma(prior.a, size=shape) / xi) * rng.normal(size=shape) + floor
    return np.nan_to_num(value, nan=0.0, posinf=1e30, neginf=-1e30)


def prior_draws(generative, prior, count, seed=0):
    """List of arrays (count, …) of all weights."""
    rng, prior = np.random.default_rng(seed), ds.Prior(prior)
    laws = [(prior.for_weight(name), tuple(v.shape)) for name, v in generative.named_weights]
    draws = [[weights_from(*law, rng).astype(np.float32) for law in laws] for _ in range(count)]
    return [np.stack(parts) for parts in zip(*draws)]


def chain_draws(generative, recognition, prior, count, seed=1, gaps=False, context=None):
    """(weights, units) after each of `count` passes over data that are drawn anew before each."""
    step = polya_gamma_gibbs.PolyaGammaGibbsStep(generative, recognition, ds.Prior(prior))
    index, true = tf.range(ROWS), tf.constant(True)
    observed = tf.constant(np.random.default_rng(3).random((ROWS, generative.units)) < 0.6) if gaps else None

    def data(state, seed):
        with evaluated_at(step.variables, state.weights):
            z = [tf.cast(part, tf.float32) for part in state.units]
            parents = z[0] if z else tf.zeros([ROWS, 0])
            return generative.layers[-1].sample(parents, seed)

    @tf.function(jit_compile=True, autograph=False)
    def run(state, seed):
        def body(i, state, kept):
            data_seed, step_seed = tf.unstack(random.split(random.fold(seed, i)))
            rows = Rows(data(state, data_seed), observed, context)
            batch = Batch(rows, index, tf.fill([ROWS], True), true, true, float(ROWS))
            state, _ = step.step(state, batch, step_seed)
            parts = [*state.weights, *(tf.cast(part, tf.float32) for part in state.units)]
            return i + 1, state, [array.write(i, part) for array, part in zip(kept, parts, strict=True)]

        parts = [*state.weights, *(tf.cast(part, tf.float32) for part in state.units)]
        kept = [tf.TensorArray(tf.float32, count, element_shape=part.shape) for part in parts]
        return [array.stack() for array in tf.while_loop(lambda i, *_: i < count, body, (0, state, kept))[2]]

    seed = random.as_seed(seed)
    weights = [tf.constant(part[0]) for part in prior_draws(generative, prior, 1, seed=5)]
    state = step.init(None, seed, weights)
    state = state._replace(units=[tf.zeros([ROWS, width], tf.uint8) for width in generative.latent_units])
    return [part.numpy() for part in run(state, seed)]


def functions(parts):
    """Bounded functions of each weight, (draws, functions)."""
    found = []
    for part in parts:
        flat = part.reshape(len(part), -1).astype(np.float64)
        found += [np.tanh(flat), np.tanh(np.square(flat)), np.abs(flat) < 0.1, np.abs(flat) < 1, np.abs(flat) < 3]
    return np.concatenate([np.asarray(value, np.float64) for value in found], 1)


def assert_joint(layers, prior, count=40_000, **options):
    context = options.get("context")
    generative, recognition = networks(layers, None if context is None else [3])
    drawn = chain_draws(generative, recognition, prior, count, **options)
    theta, exact = len(generative.named_weights), prior_draws(generative, prior, 40_000, seed=7)
    values = functions(drawn[:theta])
    means = values[: count // BATCHES * BATCHES].reshape(BATCHES, -1, values.shape[1]).mean(1)
    exact = functions(exact)
    # 50 batches: the t law's quantile at this level is some 1.3 of the normal one
    error = np.sqrt(1.7 * means.var(0, ddof=1) / BATCHES + exact.var(0) / len(exact))
    assert_near(means.mean(0), exact.mean(0), error)


KINDS = {
    "SBN, normal": (lambda: [SBN(2), SBN(2)], NORMAL),
    "SBN, wide biases": (lambda: [SBN(2), SBN(2)], WIDE),
    "SBN, Student-t": (lambda: [SBN(2), SBN(2)], STUDENT_T),
    "SBN, column": (lambda: [SBN(2), SBN(2)], COLUMN),
    "SBN, column of other a and b": (lambda: [SBN(2), SBN(2)], GENERAL),
    "SBN, horseshoe": (lambda: [SBN(2), SBN(2)], HORSESHOE),
    "two layers": (lambda: [SBN(1), SBN(2), SBN(2)], NORMAL),
    "DARN": (lambda: [DARN(2), DARN(3, ordering=[2, 0, 1])], NORMAL),
    "deep DARN": (lambda: [SBN(1), DARN(2), SBN(2)], NORMAL),
    "FVSBN": (lambda: [DARN(3, ordering=[1, 2, 0])], STUDENT_T),
}


@pytest.mark.parametrize("kind", KINDS)
def test_the_joint_law(kind):
    layers, prior = KINDS[kind]
    assert_joint(layers(), prior)


def test_the_joint_law_with_gaps():
    assert_joint([SBN(2), SBN(4)], NORMAL, gaps=True)


def test_the_joint_law_given_labels():
    """Three labels, one of which no row has: its weights follow the prior."""
    assert_joint([SBN(2), SBN(2)], WIDE, context=tf.constant(np.eye(3, dtype=np.float32)[[2, 0, 2]]))


def test_one_augmentation_for_all_rows_is_found(monkeypatch):
    """A published error: N times one γ ~ PG(1, b) in the place of N draws, for the biases at the top."""
    exact = regressions.gammas

    def one_for_all(logits, seed):
        top, *others = exact(logits, seed)
        return [tf.repeat(top[:1], top.shape[0], 0), *others]

    monkeypatch.setattr(polya_gamma_gibbs, "gammas", one_for_all)
    with pytest.raises(AssertionError, match="off by more than chance"):
        assert_joint([SBN(2), SBN(2)], WIDE)


def test_lateral_terms_left_out_are_found(monkeypatch):
    """A published error: the units of a DARN drawn as if the later units of their own layer did not depend on them."""
    exact = polya_gamma_gibbs.sweep

    def without_later_units(factors, values, place, seed, update=None):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(gibbs_sweeps, "_within", _nothing)
            return exact(factors, values, place, seed, update)

    monkeypatch.setattr(polya_gamma_gibbs, "sweep", without_later_units)
    with pytest.raises(AssertionError, match="off by more than chance"):
        assert_joint([DARN(2), SBN(2)], NORMAL)


def _nothing(factor, value, parents):
    """As `gibbs_sweeps._within` of a layer without lateral weights."""
    lateral = 0 * factor.layer.lateral_kernel()
    return lateral, gibbs_sweeps.Targets(lateral, 0 * value, 1.0)

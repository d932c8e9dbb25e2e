"""The laws of the kinds of columns against SciPy's and against sums; what they refuse."""

import json

import keras
import numpy as np
import pytest
import scipy.integrate
import scipy.special
import scipy.stats
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_means
from tests.columns.laws import law
from tfdsmcmc.columns import Binary, Categorical, Count, Layout, Ordinal, Real, Semicontinuous, Skewed

KINDS = [Binary(), Categorical(2), Categorical(4), Ordinal(2), Ordinal(4), Real(0.1), Count(), Count("poisson")]
KINDS += [Count("poisson", zero_inflated=True), Count(zero_inflated=True, typical=3.0)]
KINDS += [Categorical(3, none=True), Real(same_scale=True), Semicontinuous(), Semicontinuous(2.5)]
KINDS += [Count(typical=6.0, offset=6.0), Count(limit=2.0), Count("poisson", zero_inflated=True, limit=1.5)]
KINDS += [Skewed(), Skewed(0.5), Skewed(2.0, same_scale=True)]
REAL = ("real", "semicontinuous", "skewed")
COUNTS = np.arange(400.0)


def values(kind):
    """All values, (S, entries), of counts those below 400; None where there are too many."""
    if kind.word == "count":
        return COUNTS[:, None]
    if kind.word in REAL:
        return None
    return np.array([[0.0], [1.0]]) if kind.word == "binary" else all_states(kind)


def all_states(kind):
    """A one among zeros, and zeros alone where they may be."""
    states = np.eye(kind.entries)
    return np.concatenate([states, np.zeros((1, kind.entries))]) if getattr(kind, "none", False) else states


def reference(kind, parameters, shared):
    """Probabilities (5, C, S) in float64 by SciPy."""
    parameters, shared = parameters.astype(np.float64), shared.astype(np.float64)
    first = parameters[..., :1]
    if kind.word == "binary":
        return scipy.special.expit(np.concatenate([-first, first], -1))
    if kind.word == "categorical":
        return scipy.special.softmax(parameters, -1)
    if kind.word == "ordinal":
        states = kind.states
        even = scipy.special.logit(np.arange(1, states) / states)
        start = np.log(np.expm1(np.diff(even) - 1e-4))
        cuts = np.cumsum(np.pad(1e-4 + np.log1p(np.exp(start + shared)), ((0, 0), (1, 0))), -1)
        below = scipy.special.expit(cuts - cuts.mean(-1, keepdims=True) - first)
        return np.diff(np.pad(below, [(0, 0), (0, 0), (1, 1)], constant_values=(0, 1))[..., :], axis=-1)
    mean = np.exp(first)
    if kind.limit:
        mean = np.where(mean <= kind.limit, mean, kind.limit * (1 + np.log(np.maximum(mean / kind.limit, 1))))
    if kind.law == "poisson":
        p = scipy.stats.poisson.pmf(COUNTS, mean)
    else:
        r = np.exp(shared)[None]
        p = scipy.stats.nbinom.pmf(COUNTS, r, r / (r + mean))
    if kind.zero_inflated:
        zero = scipy.special.expit(parameters[..., 1:])
        p = (1 - zero) * p + zero * (COUNTS == 0)
    return p


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind.word not in REAL], ids=repr)
def test_laws(kind):
    """log p, Σ p = 1 and the means; draws by chi-square, false failures at most 1e-6 a column."""
    parameters, shared = law(kind)
    want, all_values = reference(kind, parameters, shared), values(kind)
    found = kind.log_prob(all_values[:, None, None].astype(np.float32), parameters, shared)
    found = np.moveaxis(found.numpy().astype(np.float64), 0, -1)
    kept = want > 1e-30  # of counts SciPy's own rounding is larger beyond
    np.testing.assert_allclose(found[kept], np.log(want[kept]), rtol=2e-5, atol=2e-5)
    np.testing.assert_allclose(np.exp(found).sum(-1), np.ones((5, 3)), atol=2e-5)
    np.testing.assert_allclose(kind.mean(parameters, shared), want @ all_values, rtol=1e-4, atol=1e-5)
    many = tf.broadcast_to(parameters[:2], [20000, 2, 3, kind.parameters])
    drawn = kind.draw(many, shared, 5).numpy()
    places = drawn[..., 0] if kind.entries == 1 else drawn @ np.arange(kind.entries)
    if getattr(kind, "none", False):
        places = np.where(drawn.any(-1), places, kind.entries)
    for row in range(2):
        for column in range(3):
            counts = np.bincount(places[:, row, column].astype(int), minlength=len(all_values))
            assert_frequencies(counts, want[row, column])
    assert drawn.dtype == np.float32 and (
        kind.entries == 1 or np.isin(drawn.sum(-1), [1, 0 if getattr(kind, "none", False) else 1]).all()
    )


@pytest.mark.parametrize("typical", [1.0, 2.5])
def test_amounts_with_a_spike_at_zero(typical):
    """Against SciPy's log-normal law; the mass is 1 by quadrature; draws by means and Kolmogorov's test."""
    kind = Semicontinuous(typical)
    parameters, shared = law(kind)
    scale = 0.01 + 5 / (1 + 5 * np.exp(-shared[:, 0].astype(np.float64)))
    some, center = scipy.special.expit(parameters[..., 0]), typical * np.exp(parameters[..., 1].astype(np.float64))
    y = np.array([1e-3, 0.3, 1.0, 7.0, 200.0], np.float32)
    found = kind.log_prob(y[:, None, None, None], parameters, shared)
    want = np.log(some) + scipy.stats.lognorm.logpdf(y[:, None, None], scale, scale=center)
    np.testing.assert_allclose(found, want, rtol=2e-5, atol=2e-5)
    nothing = kind.log_prob(tf.zeros([1]), parameters, shared)
    np.testing.assert_allclose(nothing, np.log1p(-some), rtol=2e-5)
    log_y = np.linspace(-40, 40, 4001)[:, None, None]
    density = np.exp(kind.log_prob(np.exp(log_y)[..., None].astype(np.float32), parameters, shared), dtype=np.float64)
    mass = scipy.integrate.simpson(density * np.exp(log_y), x=log_y[:, 0, 0], axis=0)
    np.testing.assert_allclose(mass + np.exp(nothing), np.ones((5, 3)), rtol=1e-4)
    np.testing.assert_allclose(kind.mean(parameters, shared)[..., 0], some * center * np.exp(scale**2 / 2), rtol=1e-4)
    drawn = kind.draw(tf.broadcast_to(parameters, [5000, 5, 3, 2]), shared, 5).numpy()[..., 0]
    assert_means(drawn > 0, some, np.sqrt(some * (1 - some)))
    for row, column in np.ndindex(5, 3):
        amounts = drawn[:, row, column][drawn[:, row, column] > 0]
        law_of = scipy.stats.lognorm(scale[column], scale=center[row, column])
        assert scipy.stats.kstest(amounts, law_of.cdf).pvalue > 1e-7


def test_real_columns_of_one_scale():
    kind, other = Real(0.1, same_scale=True), Real(0.1)
    parameters, shared = law(kind)
    both = np.concatenate([parameters, np.broadcast_to(shared, (5, 3, 1))], -1)
    y = np.linspace(-3, 3, 7, dtype=np.float32)[:, None, None, None]
    none = np.zeros((3, 0), np.float32)
    np.testing.assert_allclose(kind.log_prob(y, parameters, shared), other.log_prob(y, both, none), rtol=2e-6)
    np.testing.assert_allclose(kind.draw(parameters, shared, 3), other.draw(both, none, 3), rtol=1e-5)


def test_moves_of_real_columns_are_reversible_under_their_law():
    """Pairs (y, y') of exact draws and their moves have the law of (y', y): moments up to the third, false failures at
    most 1e-6; half of them are draws, the others shorter."""
    kind = Real(0.1)
    parameters, shared = law(kind, columns=1)
    many = tf.broadcast_to(parameters[:1], [2**15, 1, 2])
    before = kind.draw(many, shared, 1)
    after = kind.moved(before, many, shared, 2).numpy()[:, 0, 0].astype(np.float64)
    before = before.numpy()[:, 0, 0].astype(np.float64)
    scale = 0.1 + 10 / (1 + 10 * np.exp(-parameters[0, 0, 1]))
    y, z = ((part - parameters[0, 0, 0]) / scale for part in (before, after))
    assert_means(np.stack([z, z**2 - 1, y**2 * z - y * z**2, y**3 * z - y * z**3], 1), np.zeros(4))
    assert 0.05 < np.mean(abs(z - y) < 0.1) - np.mean(abs(y[1:] - y[:-1]) < 0.1)


def test_real_columns():
    kind = Real(0.1)
    parameters, shared = law(kind)
    scale = 0.1 + 10 / (1 + 10 * np.exp(-parameters[..., 1]))
    y = np.linspace(-3, 3, 7, dtype=np.float32)
    found = kind.log_prob(y[:, None, None, None], parameters, shared)
    want = scipy.stats.norm.logpdf(y[:, None, None], parameters[..., 0], scale)
    np.testing.assert_allclose(found, want, rtol=1e-5, atol=1e-5)
    drawn = kind.draw(tf.broadcast_to(parameters, [20000, 5, 3, 2]), shared, 5).numpy()[..., 0]
    assert_means(drawn, parameters[..., 0], scale)
    assert_means((drawn - parameters[..., 0]) ** 2, scale**2)
    assert float(Real().log_prob(tf.constant([[3.0]]), tf.constant([[3.0, -1e4]]), tf.zeros([1, 0]))[0]) < 4, "bounded"


@pytest.mark.parametrize("kind", KINDS, ids=repr)
def test_gradients_are_finite_everywhere(kind):
    """At parameters far out too, at values of any kind."""
    rng = np.random.default_rng(1)
    parameters = tf.constant(rng.normal(0, 60, (50, 2, kind.parameters)), tf.float32)
    shared = tf.constant(rng.normal(0, 20, (2, kind.shared)), tf.float32)
    filling = np.broadcast_to(np.float32(kind.support_of([kind]).filling), kind.entries)
    for value in [filling] if values(kind) is None else [filling, values(kind)[0], values(kind)[-1]]:
        with tf.GradientTape() as tape:
            tape.watch([parameters, shared])
            log_p = kind.log_prob(tf.constant(value, tf.float32), parameters, shared)
        gradients = tape.gradient(log_p, [parameters, shared], unconnected_gradients="zero")
        assert all(np.isfinite(part).all() for part in (log_p, *gradients))


@pytest.mark.parametrize("kind", [*KINDS, Ordinal(5)], ids=repr)
def test_first_parameters_fit_the_values(kind):
    """Means, and of states all probabilities, are those of 500 values, half a value added to each state."""
    rng = np.random.default_rng(2)
    if kind.word == "real":
        y = rng.normal(0.3, 2.0, (500, 1))
    elif kind.word == "skewed":
        y = kind.draw(tf.fill([500, 1, kind.parameters], 0.3), tf.fill([1, kind.shared], 0.3), 5).numpy()[:, 0]
    elif kind.word == "semicontinuous":
        y = (rng.random((500, 1)) < 0.7) * rng.lognormal(1.0, 0.8, (500, 1))
    elif kind.word == "count":
        y = rng.poisson(rng.gamma(2.0, 2.0, (500, 1)))
    else:
        p = rng.dirichlet(np.full(2 if kind.word == "binary" else len(all_states(kind)), 2.0))
        y = np.eye(len(p))[rng.choice(len(p), 500, p=p)]
        y = y[:, 1:] if kind.word == "binary" else y[:, : kind.entries]
    parameters, shared = kind.fitted(y.astype(np.float32))
    assert parameters.shape == (kind.parameters,) and shared.shape == (kind.shared,)
    assert parameters.dtype == shared.dtype == np.float32
    found = kind.mean(parameters[None, None], shared[None])[0, 0]
    np.testing.assert_allclose(
        found, y.mean(0), rtol=0.06 if kind.word in ("count", "semicontinuous", "skewed") else 0.01, atol=2e-3
    )
    alike = np.repeat(y[:1], 500, 0)
    assert all(np.isfinite(part).all() for part in kind.fitted(alike.astype(np.float32)))


def test_large_poisson_counts_are_as_exact_as_small_ones():
    """Against SciPy in float64 at the same η; a term y η of 10⁸ rounded alone would be off by nats."""
    kind, nothing = Count("poisson"), np.zeros((1, 0), np.float32)
    y = np.float32([0, 1, 7, 8, 9, 100, 1e4, 1e5, 1e6, 3e6, 1e7])
    eta = np.log(np.maximum(y, 0.5)).astype(np.float32) + np.float32(1e-3)
    want = scipy.stats.poisson.logpmf(y.astype(np.float64), np.exp(eta.astype(np.float64)))
    found = kind.log_prob(y[:, None, None], eta[:, None, None], nothing)[:, 0]
    np.testing.assert_allclose(found, want, rtol=2e-5, atol=0.02)
    moved = kind.log_factor(y[:, None, None], eta[:, None, None] + 1e-3, nothing)[:, 0]
    factor = moved - kind.log_factor(y[:, None, None], eta[:, None, None], nothing)[:, 0]
    other = scipy.stats.poisson.logpmf(y.astype(np.float64), np.exp((eta + np.float32(1e-3)).astype(np.float64)))
    np.testing.assert_allclose(factor, other - want, rtol=0.02, atol=0.01)


def test_means_reach_to_the_end_of_the_support():
    kind = Count(typical=9e6)
    (eta,), shared = kind.fitted(np.full((10, 1), 9e6))
    np.testing.assert_allclose(kind.mean(np.float32([[eta]]), shared)[0], 9e6, rtol=1e-4)


def test_a_limit_of_means_leaves_the_pull_of_small_counts():
    """d log p(0)/dη of a far too large η: −r at first, −r/(1 + η − log B) beyond B, the mean B (1 + η − log B)."""
    kind, eta = Count(limit=4.0), tf.constant([[[1.0]], [[8.0]], [[14.0]]])
    shared = np.zeros((1, 1), np.float32)  # r = 1
    with tf.GradientTape() as tape:
        tape.watch(eta)
        log_p = kind.log_prob(tf.zeros([3, 1, 1]), eta, shared)
    beyond = 1 + np.maximum(np.array([1.0, 8.0, 14.0]) - np.log(4), 0)
    mean = np.where(beyond > 1, 4 * beyond, np.e)
    np.testing.assert_allclose(kind.mean(eta, shared)[:, 0, 0], mean, rtol=1e-5)
    np.testing.assert_allclose(tape.gradient(log_p, eta)[:, 0, 0], -mean / (1 + mean) / beyond, rtol=1e-4)


def test_they_are_values():
    for kind in KINDS:
        config = json.loads(json.dumps(keras.saving.serialize_keras_object(kind)))
        twin = keras.saving.deserialize_keras_object(config)
        assert twin == kind and hash(twin) == hash(kind) and repr(twin) == repr(kind)
    assert len(set(KINDS)) == len(KINDS) and Binary() != "binary"
    assert Count(typical=2.0) != Count() and Count(typical=2.0).likeness == Count().likeness
    assert Count(offset=2.0) != Count() and Count(offset=2.0).likeness == Count().likeness


def test_counts_of_files_without_an_offset_have_that_of_their_time():
    """Their weights were learnt beside log(1 + y): of a file by Keras, and of a pickled kind."""
    old = {"law": "negative binomial", "zero_inflated": False, "typical": 256.0}
    pickled = Count.__new__(Count)
    pickled.__dict__.update(old, parameters=1, shared=1)
    for kind in (Count(**old), pickled):
        assert kind == Count(typical=256.0) and kind.offset == 1.0
        np.testing.assert_allclose(kind.support_of([kind]).seen(np.float32([0.0])), -np.log(257.0), rtol=1e-6)


@pytest.mark.parametrize("states", [1, 0, -2, 2.5, "3", None, True])
def test_numbers_of_states(states):
    for kind in (Categorical, Ordinal):
        with pytest.raises(ValueError, match="states must .*Received: states="):
            kind(states)


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        (Count, {"law": "normal"}),
        (Count, {"typical": 0}),
        (Count, {"typical": -1.0}),
        (Count, {"zero_inflated": 1}),
        (Count, {"offset": 0}),
        (Real, {"least_scale": -1}),
        (Real, {"largest_scale": 0}),
        (Real, {"same_scale": 1}),
        (Semicontinuous, {"typical": 0}),
        (Skewed, {"power": -0.1}),
        (Skewed, {"power": 2.1}),
        (Skewed, {"largest_scale": 0}),
        (Real, {"least_scale": float("nan")}),
    ],
)
def test_arguments_out_of_range(kind, arguments):
    with pytest.raises(ValueError, match="Received: "):
        kind(**arguments)


def test_where_entries_and_parameters_stand():
    """Columns of one likeness stand together; rows are put together as they were."""
    layout = Layout([Real(), Ordinal(3), Real(), Count(typical=2.0), Ordinal(3), Count(typical=5.0)])
    assert layout.units == 10 and layout.parameters == 2 * 2 + 2 + 2
    assert [group.columns.tolist() for group in layout.groups] == [[0, 2], [1, 4], [3, 5]]
    assert layout.owners.tolist() == [0, 1, 1, 1, 2, 3, 4, 4, 4, 5]
    assert layout.parameter_owners.tolist() == [0, 0, 2, 2, 1, 4, 3, 5]
    rows = np.arange(20.0).reshape(2, 10)
    np.testing.assert_array_equal(layout.rows([layout.values_of(group, rows) for group in layout.groups]), rows)
    observed = np.ones((1, 10), bool)
    observed[0, [2, 5]] = False
    np.testing.assert_array_equal(layout.observed_columns(observed), [[True, False, True, False, True, True]])
    np.testing.assert_allclose(layout.support.filling, [0, *[1 / 3] * 3, 0, 2, *[1 / 3] * 3, 5], rtol=1e-6)
    with pytest.raises(ValueError, match="Received: columns="):
        ds.columns.Layout([Real])

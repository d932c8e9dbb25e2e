"""One sweep over a layer's units: the fast form is the plain one, and both keep the law of the product of factors."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies
from tests.oracles import binary_states, randomize, state_numbers
from tfdsmcmc._common.compiling import program
from tfdsmcmc.rows import Rows, as_rows
from tfdsmcmc.sweeps import averaged as averaged_sweeps
from tfdsmcmc.sweeps import gibbs as gibbs_sweeps
from tfdsmcmc.sweeps.gibbs import generative_factors, recognition_factors, sweep, sweep_any, sweep_logistic

SBN, DARN = ds.layers.SBN, ds.layers.DARN

# (generative layers, top first; recognition layers, data first)
NETWORKS = {
    "SBN": ([SBN(2), SBN(3), SBN(4)], [SBN(3), SBN(2)]),
    "DARN": (
        [DARN(2, ordering=[1, 0]), DARN(3, ordering=[2, 0, 1]), DARN(4)],
        [DARN(3), DARN(2)],
    ),
    "DARN below SBN": ([SBN(2), DARN(3), SBN(4)], [SBN(3), DARN(2)]),
    "NADE": (
        [ds.layers.NADE(2, hidden_units=3), ds.layers.NADE(3, hidden_units=3), SBN(4)],
        [ds.layers.NADE(3, hidden_units=3), SBN(2)],
    ),
}


def networks(name, scale=1.0):
    generative, recognition = (
        [type(layer).from_config(layer.get_config()) for layer in layers] for layers in NETWORKS[name]
    )
    model = ds.DeepGenerativeModel(ds.GenerativeNetwork(generative), ds.RecognitionNetwork(recognition))
    randomize(model, seed=3, scale=scale)
    return model.generative, model.recognition


def products(name, scale=1.0):
    """Named products of factors."""
    generative, recognition = networks(name, scale)
    both = [*generative_factors(generative, tf.constant(0.3)), *recognition_factors(recognition, tf.constant(0.7))]
    found = {
        "joint": generative_factors(generative),
        "tempered data": generative_factors(generative, data_power=tf.constant(0.4)),
        "geometric": both,
    }
    if generative.layers[-1].factorised:
        found["missing"] = generative_factors(generative)
    return found


def seen_by(product, x):
    """The data as a product has them: with gaps for "missing"."""
    return Rows(x, tf.reshape(tf.range(tf.size(x)), tf.shape(x)) % 3 > 0) if product == "missing" else x


def log_density(factors, values):
    """log f by the layers' own log-probabilities."""
    total = 0.0
    for factor in factors:
        above = tf.zeros([0]) if factor.parent is None else as_rows(values[factor.parent]).values
        child = as_rows(values[factor.child])
        if child.complete:
            term = factor.layer.log_prob(child.values, above)
        else:
            term = factor.layer.observed_log_prob(child.values, child.observed, above)
        total += factor.power * term
    return total


def assert_same_sweeps(fast_form, factors, product):
    """One form of the sweep draws what the plain one does, of the same probabilities, every variable in turn."""
    rng = np.random.default_rng(0)
    values = [tf.constant(rng.integers(0, 2, (200, width)), tf.float32) for width in (4, 3, 2)]
    update = tf.constant(rng.integers(0, 2, (200, 4)), tf.bool)
    for place in (0, 1, 2):
        if place == 0 and product == "missing":
            continue
        given = [seen_by(product, values[0]), *values[1:]]
        around = [factor for factor in factors if place in (factor.child, factor.parent)]
        kept = update[:, : values[place].shape[1]]
        for mask in (None, kept):
            forms = (form(around, given, place, [5, 6], mask, chances=True) for form in (fast_form, sweep_any))
            (fast, fast_chances), (plain, plain_chances) = forms
            # a log-odds within rounding of the uniform draw's may fall on the other side
            same = np.all(fast == plain, 1)
            assert np.mean(~same) <= 0.01, (product, place)
            np.testing.assert_allclose(fast_chances[same], plain_chances[same], atol=1e-4)
            assert np.mean(np.any(fast != values[place], 1)) > 0.1
            if mask is not None:
                assert not np.any((fast != values[place]) & ~kept.numpy())


@pytest.mark.parametrize("name", ["SBN", "DARN", "DARN below SBN"])
@pytest.mark.parametrize("scale", [1.0, 24.0])
def test_the_fast_sweep_is_the_plain_one(name, scale):
    """The same uniform draws give the same units, weights of up to 87, which saturate the units, included; with powers,
    missing targets and units that keep their values; every variable in turn, the data too."""
    for product, factors in products(name, scale).items():
        assert_same_sweeps(sweep_logistic, factors, product)


def averaged(factors, num_draws=3, scale=1.5):
    """The same product with averages of the generative layers, or of all, over asymmetric draws."""
    found = []
    for i, factor in enumerate(factors):
        layer = ds.layers.UnitAverage(factor.layer, num_draws)
        layer.build((None, factor.layer.parent_units))
        randomize(layer, seed=i, scale=scale)
        found.append(factor._replace(layer=layer))
    return found


@pytest.mark.parametrize("name", ["SBN", "DARN", "DARN below SBN"])
@pytest.mark.parametrize(("num_draws", "scale"), [(3, 1.5), (1, 100.0)])
def test_the_sweep_of_averages_is_the_plain_one(name, num_draws, scale, monkeypatch):
    """The same uniform draws give the same units, in small blocks of rows, with powers, missing targets and units that
    keep their values, beside recognition layers that are no averages; every variable in turn, the data too. One draw is
    the layer itself, with logits of hundreds too."""
    monkeypatch.setattr(averaged_sweeps, "_BLOCK_ENTRIES", 3 * 4 * 70)
    for product, factors in products(name).items():
        averages = averaged(factors[:3], num_draws, scale)
        assert_same_sweeps(averaged_sweeps.sweep_averaged, [*averages, *factors[3:]], product)


@pytest.mark.parametrize(("name", "product"), [(name, product) for name in NETWORKS for product in products(name)])
def test_a_sweep_keeps_the_law_of_the_product(name, product):
    """2^14 exact draws of f over all z given one x; a sweep over each latent layer in turn: chi-square over the states,
    false failures at most 1e-6. Catches a power on the wrong factor, a lost or doubled term, a mask the wrong way."""
    factors = products(name)[product]
    states = binary_states(5).astype(np.float32)
    x = np.repeat(np.array([[1, 0, 0, 1]], np.float32), len(states), 0)
    z = np.split(states, [3], 1)
    gaps = seen_by(product, tf.constant(x[:1]))  # the same of each row
    x = tf.constant(x) if product != "missing" else gaps.map(lambda part: tf.repeat(part, len(states), 0))
    log_f = log_density(factors, [x, *map(tf.constant, z)]).numpy().astype(np.float64)
    p = np.exp(log_f - log_f.max())
    p /= p.sum()
    assert p.max() < 0.9
    chosen = np.random.default_rng(1).choice(len(p), 2**14, p=p)
    values = [as_rows(x).take(chosen).plain, *(tf.constant(part[chosen]) for part in z)]
    for place in (1, 2):
        values[place] = sweep(factors, values, place, [7, place])
    after = state_numbers(np.concatenate(values[1:], 1))
    assert np.mean(after != chosen) > 0.2
    assert_frequencies(np.bincount(after, minlength=len(p)), p)


def softplus(x):
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


def forced_sweep(units, targets, scale, gaps, rows=4, seed=0):
    """An SBN of random weights, and a sweep of its latent layer in float64 in which each unit's value is given by
    chance where its log-odds are within ±4 and by their sign elsewhere.

    The latent biases leave one row at least within ±3 for each unit.

    Returns:
      (weights, data biases, latent biases, x, z, observed, log-odds (units, rows), the units' new values)."""
    rng = np.random.default_rng(seed)
    weights = (rng.normal(size=(units, targets)) * scale).astype(np.float32)
    data_biases = (rng.normal(size=targets) * scale).astype(np.float32)
    x, z = (rng.integers(0, 2, (rows, width)).astype(np.float32) for width in (targets, units))
    observed = rng.random(x.shape) < (0.7 if gaps else 1.0)
    rises = weights.astype(np.float64)
    logits = z @ rises + data_biases
    biases = np.zeros(units, np.float32)
    log_odds, values = np.zeros([2, units, rows])
    for j, rise in enumerate(rises):
        at_zero = logits - z[:, j : j + 1] * rise
        log_odds[j] = np.sum(observed * (x * rise - softplus(at_zero + rise) + softplus(at_zero)), 1)
        biases[j] = rng.uniform(-3, 3) - log_odds[j, j % rows]
        log_odds[j] += biases[j]
        values[j] = np.where(np.abs(log_odds[j]) < 4, rng.integers(0, 2, rows), log_odds[j] > 0)
        logits = at_zero + values[j][:, np.newaxis] * rise
    return weights, data_biases, biases, x, z, observed, log_odds, values


@pytest.mark.parametrize(
    ("units", "targets", "scale", "gaps", "tolerance"),
    [
        (200, 784, 0.1, False, 1e-4),  # logits up to 5
        (20, 20_000, 0.05, False, 3e-4),
        (2000, 150, 0.3, True, 3e-4),  # up to 50
        (2000, 150, 10.0, False, 1e-2),  # up to 1,500
        (200, 784, 30.0, True, 1e-2),  # up to 1,400, weights and logits beyond what exp can take
    ],
)
@pytest.mark.parametrize("by_operations", [False, True])
def test_log_odds_stay_exact_along_a_sweep(monkeypatch, units, targets, scale, gaps, tolerance, by_operations):
    """Every log-odds of a sweep lies within the tolerance of the one in float64: the uniform draws are such that a unit
    takes its given value only then. No chance in it. Catches errors that add up from unit to unit, logits or weights
    that saturate, targets lost where they are split, and gaps that count."""
    weights, data_biases, biases, x, z, observed, log_odds, values = forced_sweep(units, targets, scale, gaps)
    undecided = np.abs(log_odds) < 4
    assert np.all(np.any(undecided, 1)) and 0.3 < values[undecided].mean() < 0.7
    limits = np.clip(log_odds, -4, 4) + np.where(values > 0, -tolerance, tolerance)
    uniform = np.where(undecided, 1 / (1 + np.exp(-limits)), 0.5).astype(np.float32)
    network = ds.GenerativeNetwork([SBN(units), SBN(targets)])
    network.sample(1, seed=0)
    top, bottom = network.layers
    for weight, value in ((top.bias, biases), (bottom.kernel, weights), (bottom.bias, data_biases)):
        weight.assign(value)
    monkeypatch.setattr(gibbs_sweeps.random, "open_uniform", lambda shape, seed: tf.constant(uniform))
    data = Rows(tf.constant(x), tf.constant(observed)) if gaps else tf.constant(x)
    factors = generative_factors(network)
    run = program if by_operations else (lambda function, _: tf.function(function))
    drawn = run(lambda: sweep(factors, [data, tf.constant(z)], 1, [0, 0]), False)()
    np.testing.assert_array_equal(drawn, values.T)


def test_wide_layers_sweep_as_narrow_ones():
    """Targets of several layers that are split into parts of which the last is not full: DARN 20 over DARN 30."""
    network = ds.GenerativeNetwork([DARN(20), DARN(30)])
    network.sample(1, seed=0)
    rng = np.random.default_rng(0)
    for weight in network.weights:
        weight.assign(rng.normal(size=weight.shape))
    values = [tf.constant(rng.integers(0, 2, (100, width)), tf.float32) for width in (30, 20)]
    for power in (1.0, tf.constant(0.4)):
        factors = generative_factors(network, data_power=power)
        for place in (0, 1):
            around = [factor for factor in factors if place in (factor.child, factor.parent)]
            fast, plain = (form(around, values, place, [5, 6])[0] for form in (sweep_logistic, sweep_any))
            assert np.mean(np.any(fast != plain, 1)) <= 0.02
            assert np.mean(fast != values[place]) > 0.1


def test_the_compiled_sweep_is_the_plain_one():
    """The form that users run, in which the row of weights of the next unit is carried along: but for ties at rounding,
    the same draws."""
    network = ds.GenerativeNetwork([DARN(5), SBN(20)])
    network.sample(1, seed=0)
    rng = np.random.default_rng(1)
    for weight in network.weights:
        weight.assign(rng.normal(size=weight.shape))
    data, z = (tf.constant(rng.integers(0, 2, (200, width)), tf.float32) for width in (20, 5))
    factors = generative_factors(network)
    compiled = tf.function(lambda: sweep_logistic(factors, [data, z], 1, [5, 6])[0], jit_compile=True)()
    assert np.mean(np.any(compiled != sweep_any(factors, [data, z], 1, [5, 6])[0], 1)) <= 0.01
    assert np.mean(compiled != z) > 0.1

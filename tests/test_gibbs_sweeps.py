"""One sweep over a layer's units: the fast form is the plain one, and both keep the law of the product of factors."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies
from tests.oracles import binary_states, randomize, state_numbers
from tfdsmcmc.gibbs_sweeps import generative_factors, recognition_factors, sweep, sweep_any, sweep_logistic
from tfdsmcmc.rows import Rows, as_rows

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
            term = factor.layer.observed_log_prob(*child, above)
        total += factor.power * term
    return total


@pytest.mark.parametrize("name", ["SBN", "DARN", "DARN below SBN"])
@pytest.mark.parametrize("scale", [1.0, 24.0])
def test_the_fast_sweep_is_the_plain_one(name, scale):
    """The same uniform draws give the same units, weights of up to 87, which saturate the units, included; with powers,
    missing targets and units that keep their values; every variable in turn, the data too."""
    rng = np.random.default_rng(0)
    values = [tf.constant(rng.integers(0, 2, (200, width)), tf.float32) for width in (4, 3, 2)]
    update = tf.constant(rng.integers(0, 2, (200, 4)), tf.bool)
    for product, factors in products(name, scale).items():
        for place in (0, 1, 2):
            if place == 0 and product == "missing":
                continue
            given = [seen_by(product, values[0]), *values[1:]]
            around = [factor for factor in factors if place in (factor.child, factor.parent)]
            kept = update[:, : values[place].shape[1]]
            for mask in (None, kept):
                fast, plain = (form(around, given, place, [5, 6], mask) for form in (sweep_logistic, sweep_any))
                # a log-odds within rounding of the uniform draw's may fall on the other side
                assert np.mean(np.any(fast != plain, 1)) <= 0.01, (product, place)
                assert np.mean(np.any(fast != values[place], 1)) > 0.1
                if mask is not None:
                    assert not np.any((fast != values[place]) & ~kept.numpy())


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

"""The sweep over units above a table's columns beside the plain one, draw for draw."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.oracles import randomize
from tfdsmcmc.columns import Binary, Categorical, Count, Ordinal, Real, Semicontinuous
from tfdsmcmc.rows import Rows
from tfdsmcmc.sweeps import columns
from tfdsmcmc.sweeps.gibbs import generative_factors, sweep, sweep_any

KINDS = [Real(0.1), Count(), Binary(), Categorical(3), Count("poisson", zero_inflated=True), Ordinal(4)]
KINDS += [Semicontinuous()]
SBN, DARN, ROWS = ds.layers.SBN, ds.layers.DARN, 300


def factors_of(above, **arguments):
    network = ds.GenerativeNetwork([*above, ds.layers.Mixed(KINDS, **arguments)])
    randomize(network, 3, 0.7)
    return network, generative_factors(network, 0.8, tf.constant(0.6))


def table(network, gaps):
    """(rows, z), with columns missing as a whole where there are gaps."""
    x = network.sample(ROWS, 1)[0]
    known = np.random.default_rng(2).random((ROWS, len(KINDS))) < 0.6
    rows = Rows(x, tf.constant(known[:, network.layers[-1].layout.owners])) if gaps else x
    rng = np.random.default_rng(3)
    return [rows, *(tf.constant(rng.integers(0, 2, (ROWS, w)), tf.float32) for w in network.latent_units)]


@pytest.mark.parametrize("above", [[SBN(5)], [SBN(2), SBN(5)], [DARN(2), SBN(5)]], ids=["one", "two", "a DARN above"])
@pytest.mark.parametrize("dependent, gaps", [(False, False), (False, True), (True, False)])
def test_units_are_drawn_as_in_the_plain_sweep(above, dependent, gaps):
    """The same units with the same probabilities; they differ by rounding, and few draws can by that."""
    network, factors = factors_of([type(layer).from_config(layer.get_config()) for layer in above], dependent=dependent)
    values, around = table(network, gaps), factors[:2]
    update = tf.constant(np.random.default_rng(4).integers(0, 2, (ROWS, 5)), tf.bool)
    assert columns.takes(around, 1)
    for some in (None, update):
        fast, chances = columns.sweep_columns(around, values, 1, [1, 2], some, True)
        plain, expected = sweep_any(around, values, 1, [1, 2], some, True)
        same = np.all(fast.numpy() == plain.numpy(), 1)
        assert same.mean() > 0.99 and np.any(fast != values[1])
        np.testing.assert_allclose(chances.numpy()[same], expected.numpy()[same], rtol=1e-3, atol=1e-5)
        assert 0.05 < np.mean(np.abs(expected - 0.5))  # the columns say something
    np.testing.assert_array_equal(
        sweep(factors, values, 1, [1, 2]), columns.sweep_columns(around, values, 1, [1, 2])[0]
    )


@pytest.mark.parametrize("above, arguments", [([DARN(5)], {}), ([SBN(5)], {"hidden_units": [3]})])
def test_other_layers_have_the_plain_sweep(above, arguments):
    network, factors = factors_of(above, **arguments)
    values = table(network, False)
    assert not columns.takes(factors, 1)
    np.testing.assert_array_equal(sweep(factors, values, 1, [1, 2]), sweep_any(factors, values, 1, [1, 2])[0])


def test_a_variable_without_children_is_not_taken():
    _, factors = factors_of([SBN(2), SBN(5)])
    assert not columns.takes(factors[1:], 2) and not columns.takes(factors[2:], 2)


def test_gaps_of_columns_that_depend_on_each_other_are_refused():
    network, factors = factors_of([SBN(5)], dependent=True)
    with pytest.raises(ValueError, match="independent columns alone.*Received: dependent"):
        columns.sweep_columns(factors, table(network, True), 1, [1, 2])

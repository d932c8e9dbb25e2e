"""One-hot codes found in rows of zeros and ones, and models of them."""

import itertools
import os

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.oracles import log_sum, randomize
from tfdsmcmc.columns import Binary, Categorical


def table(rows, seed=0):
    """Three states, a bit, four states of which one is seldom, a bit, two states or none."""
    rng = np.random.default_rng(seed)
    parts = [
        np.eye(3)[rng.integers(0, 3, rows)],
        rng.integers(0, 2, (rows, 1)),
        np.eye(4)[rng.choice(4, rows, p=[0.4, 0.005, 0.3, 0.295])],
        rng.integers(0, 2, (rows, 1)),
        np.eye(3)[rng.integers(0, 3, rows)][:, :2],
    ]
    return np.concatenate(parts, 1).astype(np.uint8)


WANT = [Categorical(3), Binary(), Categorical(4), Binary(), Categorical(2, none=True)]


def test_groups_are_found():
    assert ds.rows.groups(table(2000)) == WANT
    assert ds.rows.groups(table(2000)[:, :4]) == WANT[:2]
    assert ds.rows.groups(np.random.default_rng(0).integers(0, 2, (500, 5))) == [Binary()] * 5


def test_what_may_be_chance_is_no_group():
    """Ones that are rare seldom meet; columns that are constant say nothing."""
    rare = np.random.default_rng(0).random((400, 4)) < 0.01
    assert ds.rows.groups(rare) == [Binary()] * 4
    assert ds.rows.groups(np.tile([1, 0], (50, 1))) == [Binary()] * 2
    assert ds.rows.groups(np.zeros((5, 3))) == [Binary()] * 3


@pytest.mark.skipif("TFDSMCMC_DATA" not in os.environ, reason="$TFDSMCMC_DATA names no folder of packed files")
@pytest.mark.parametrize(("name", "exact"), [("adult", 14), ("dna", 60)])
def test_those_of_data_sets(name, exact):
    """Rows of all parts are of the form that was found in those of training."""
    data = ds.datasets.load(name)
    groups = ds.rows.groups(data.train)
    assert sum(kind.entries for kind in groups) == data.train.shape[1]
    assert sum(isinstance(kind, Categorical) for kind in groups) == exact
    support = ds.columns.Layout(groups).support
    for part in (data.train, data.valid, data.test):
        assert support.holds(np.asarray(part)).all()


def test_all_mass_is_on_rows_of_that_form():
    """Σ p(x) = 1 over them, of columns that depend on each other and latent variables summed out."""
    groups = [Categorical(2, none=True), Binary(), Categorical(3)]
    layers = [ds.layers.SBN(2), ds.layers.Mixed(groups, dependent=True)]
    model = ds.DeepGenerativeModel(ds.GenerativeNetwork(layers), ds.RecognitionNetwork([ds.layers.SBN(2)]))
    randomize(model, 1)
    every = np.array(list(itertools.product([0, 1], repeat=6)), np.float32)
    right = every[model.support.holds(every).all(1)]
    assert len(right) == 3 * 2 * 3
    total = log_sum(ds.likelihood.exact(model, right).value.astype(np.float64))
    np.testing.assert_allclose(total, 0.0, atol=1e-5)
    with pytest.raises(ValueError, match="Received: "):
        model.log_likelihood(np.ones((1, 6)))


@pytest.mark.parametrize("x", [[[0.5, 1]], [[2, 0]], 3, [[np.nan, 1]], np.zeros((0, 2))])
def test_other_data_are_refused(x):
    with pytest.raises(ValueError, match="Received: "):
        ds.rows.groups(x)

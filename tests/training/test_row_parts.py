"""Parts of a state with an entry for each row: started, read and replaced."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tfdsmcmc import random
from tfdsmcmc.rows import source_of
from tfdsmcmc.supports import Real
from tfdsmcmc.training.steps import doubly_stochastic, row_parts

ROWS = 2500  # two whole blocks and a half
X = np.arange(2 * ROWS, dtype=np.float32).reshape(ROWS, 2)


def started(rows=X):
    """What `started` makes of a start that gives x − w and one word of the seed, and each block's words of its seed."""
    seen = []

    def start(weights, x, seed):
        seen.append(tuple(seed.numpy()))
        return [x - weights[0], tf.fill([len(x)], seed[0])]

    no_rows = [np.zeros((0, 2), np.float32), np.zeros((0,), np.int32)]
    source = None if rows is None else source_of("x", rows, 2, Real())
    return row_parts.started(start, no_rows, source, [tf.constant(3.0)], random.as_seed(4)), seen


def test_every_row_is_started_from_its_own_values_and_each_block_with_a_seed_of_its_own():
    (values, words), seen = started()
    np.testing.assert_array_equal(values, X - 3)
    assert len(set(seen)) == len(seen) == 3
    np.testing.assert_array_equal(words, np.repeat([seed[0] for seed in seen], [1000, 500, 1000]))


def test_fewer_rows_than_a_block_and_none():
    (values, _), seen = started(X[:7])
    assert values.shape == (7, 2) and len(seen) == 1
    (values, words), seen = started(None)
    assert values.shape == (0, 2) and words.shape == (0,) and not seen


def test_entries_are_read_and_replaced_where_their_rows_are():
    rng = np.random.default_rng(0)
    part, entries, index = rng.normal(size=(9, 2)), rng.normal(size=(4, 2)), np.array([7, 0, 3, 8], np.int32)
    (found,) = row_parts.of_rows([tf.constant(part)], tf.constant(index))
    np.testing.assert_array_equal(found, part[index])
    (replaced,) = row_parts.with_rows([tf.constant(part)], tf.constant(index), [tf.constant(entries)])
    part[index] = entries
    np.testing.assert_array_equal(replaced, part)


@pytest.mark.parametrize(("limit", "program"), [(8, 0), (7, 1)])
def test_few_rows_start_without_xla(limit, program, monkeypatch):
    """Of 4 rows and a burn-in of one sweep, 8 draws; the programs are the plain one and that of the method."""
    monkeypatch.setattr(doubly_stochastic, "_COMPILED_FROM", limit)
    model = ds.models.from_name("SBN 2", units=3, seed=0)
    model.compile("sgnht", ds.latents.Gibbs(2, 1, persistent=True), None, jit_compile=False)
    called, starts = [], model.run.step._starts
    model.run.step._starts = [lambda *a, i=i: called.append(i) or starts[i](*a) for i in (0, 1)]
    model.fit(np.eye(4, 3), batch_size=2, epochs=1, verbose=0)
    assert called == [program]

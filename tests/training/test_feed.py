"""The rows that a run reads."""

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.rows import ArraySource, Rows, source_of
from tfdsmcmc.training.feed import feed_of

ROWS = ArraySource(Rows(np.arange(10)[:, None].astype(np.uint8)))
SEED = random.as_seed(5)


def epoch(feed, steps_taken):
    """The rows of an epoch's minibatches, (steps, B), as the blocks deliver them."""
    elements = [element.numpy() for element in feed.dataset]
    minibatches = []
    for start in range(0, len(elements), 2):
        for block in feed.blocks(elements[start : start + 2], steps_taken):
            assert block.places.shape[0] == 2
            minibatches += [np.asarray(block.rows.values)[row][:, 0] for row in block.places[: block.count]]
    return minibatches


def test_an_epoch_reads_each_row_and_fills_the_last_minibatch_with_the_first_rows():
    batches = epoch(feed_of(ROWS, 4, 2, SEED), 0)
    assert [len(batch) for batch in batches] == [4, 4, 4]
    order = np.concatenate(batches)
    assert sorted(order[:10]) == list(range(10))
    np.testing.assert_array_equal(order[10:], order[:2])


def test_the_order_is_a_function_of_seed_and_steps_taken():
    one = np.concatenate(epoch(feed_of(ROWS, 5, 2, SEED), 7))
    np.testing.assert_array_equal(one, np.concatenate(epoch(feed_of(ROWS, 5, 2, SEED), 7)))
    assert not np.array_equal(one, np.concatenate(epoch(feed_of(ROWS, 5, 2, SEED), 9)))
    assert not np.array_equal(one, np.concatenate(epoch(feed_of(ROWS, 5, 2, random.as_seed(6)), 7)))
    plain = np.concatenate(epoch(feed_of(ROWS, 5, 2, SEED, shuffle=False), 7))
    np.testing.assert_array_equal(plain, np.arange(10))


def test_a_chosen_number_of_steps_wraps_around_the_rows():
    batches = epoch(feed_of(ROWS, 4, 2, SEED, shuffle=False, steps=5), 0)
    np.testing.assert_array_equal(np.concatenate(batches), np.arange(20) % 10)


def test_batches_are_no_larger_than_the_data():
    assert [len(batch) for batch in epoch(feed_of(ROWS, 100, 2, SEED), 0)] == [10]


def test_a_dataset_gives_a_block_for_each_run_of_equal_batches():
    x = (np.arange(14).reshape(7, 2) % 2).astype(np.float32)
    source = source_of("x", tf.data.Dataset.from_tensor_slices(x).batch(2), 2, True)
    assert source.num_rows == 7
    feed = feed_of(source, 100, 3, SEED)
    blocks = list(feed.blocks([batch.numpy() for batch in feed.dataset], 0))
    assert [(block.places.shape, block.count) for block in blocks] == [((3, 2), 3), ((3, 1), 1)]
    rows = np.concatenate([block.rows.values[block.places[i]] for block in blocks for i in range(block.count)])
    np.testing.assert_array_equal(rows, x)


def test_batches_know_their_place_in_a_pass():
    """Rows by number; those that fill up the last minibatch do not count, and only it ends the pass."""
    feed = feed_of(ROWS, 4, 2, SEED)
    first, second = (block for numbers in ([0, 1], [2]) for block in feed.blocks(numbers, 0))
    assert first.counted.all() and not first.ends_pass.any()
    np.testing.assert_array_equal(second.counted[0], [True, True, False, False])
    np.testing.assert_array_equal(second.ends_pass, [True, False])
    batch = second.tensors().batch(0, 10.0)
    np.testing.assert_array_equal(batch.rows.values[:, 0], second.index[0])
    seen = np.concatenate([first.index.ravel(), second.index[0][second.counted[0]]])
    assert sorted(seen) == list(range(10)) and bool(batch.ends_pass)


@pytest.mark.parametrize("bad", [np.full((4, 2), 0.5), np.full((4, 2), np.inf), np.zeros((4, 3))])
def test_a_dataset_of_bad_batches_is_refused_at_once(bad):
    with pytest.raises(ValueError, match="x must .*Received: "):
        source_of("x", tf.data.Dataset.from_tensor_slices(bad).batch(2), 2, True).check()

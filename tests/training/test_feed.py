"""The rows that a run reads."""

import threading

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tfdsmcmc import random
from tfdsmcmc.rows import ArraySource, FileSource, Rows, source_of
from tfdsmcmc.supports import Binary
from tfdsmcmc.training.feeding.feed import DeviceFeed, GatheringFeed, StreamFeed, feed_of

SEED = random.as_seed(5)
PLACES = np.arange(10)
ROWS = (PLACES[:, np.newaxis] >> np.arange(4) & 1).astype(np.uint8)  # row i has the binary digits of i


@pytest.fixture(params=["device", "gathering"])
def make(request, tmp_path):
    """Makes the two feeds in order of the same rows; those that are made are closed at the end."""
    sources = {
        "device": (DeviceFeed, ArraySource(Rows(ROWS))),
        "gathering": (GatheringFeed, FileSource(ds.datasets.open(ds.datasets.pack(tmp_path / "rows.npy", ROWS)))),
    }
    kind, source = sources[request.param]
    made = []

    def make(batch_size, block, seed=SEED, **options):
        made.append(feed_of(source, batch_size, block, seed, **options))
        assert type(made[-1]) is kind
        return made[-1]

    yield make
    for feed in made:
        feed.close()


def blocks(feed, steps_taken, block):
    """The blocks of an epoch, as `fit` asks for them."""
    elements = [element.numpy() for element in feed.dataset]
    for start in range(0, len(elements), block):
        yield from feed.blocks(elements[start : start + block], steps_taken)


def epoch(feed, steps_taken, block=2):
    """The numbers of the rows of an epoch's minibatches, (B,) or (C, B) each, as the blocks deliver them."""
    minibatches = []
    for delivered in blocks(feed, steps_taken, block):
        assert len(delivered.places) == len(delivered.index) == len(delivered.counted) == block
        for i in range(int(delivered.count)):
            values = np.asarray(delivered.rows.values)[delivered.places[i]]
            numbers = values @ (1 << np.arange(4))
            np.testing.assert_array_equal(numbers, delivered.index[i])
            minibatches.append(numbers)
    return minibatches


def test_an_epoch_reads_each_row_and_fills_the_last_minibatch_with_the_first_rows(make):
    batches = epoch(make(4, 2), 0)
    assert [len(batch) for batch in batches] == [4, 4, 4]
    order = np.concatenate(batches)
    assert sorted(order[:10]) == list(range(10))
    np.testing.assert_array_equal(order[10:], order[:2])


def test_what_fills_up_is_not_counted_and_the_end_of_a_pass_is_marked(make):
    (first, second), (third, fourth) = blocks(make(4, 2), 0, 2), blocks(make(4, 2, steps=4), 0, 2)
    for block in (first, third):
        assert block.counted.all() and not block.ends_pass.any() and block.count == 2
    np.testing.assert_array_equal(second.counted[0], [True, True, False, False])
    np.testing.assert_array_equal(second.ends_pass, [True, False])
    assert second.count == 1
    assert fourth.counted.all(), "the epoch goes on behind what this minibatch has of the next pass"
    np.testing.assert_array_equal(fourth.ends_pass, [True, False])


@pytest.mark.parametrize(("size", "steps"), [(4, None), (4, 2), (4, 5), (3, 10), (7, 10)])
def test_rows_in_their_own_order_count_equally_often(make, size, steps):
    """After ten epochs, where each begins anew with row 0 for some sizes and steps, and with others for others."""
    feed, counts, taken = make(size, 2, shuffle=False, steps=steps), np.zeros(10), 0
    for _ in range(10):
        for block in blocks(feed, taken, 2):
            np.add.at(counts, block.index[: block.count], block.counted[: block.count])
            taken += int(block.count)
    assert np.ptp(counts) == 0 and counts.sum() == (100 if steps is None else 10 * size * steps)


def test_the_order_is_a_function_of_seed_and_steps_taken(make):
    one = np.concatenate(epoch(make(5, 2), 7))
    np.testing.assert_array_equal(one, random.permutation(10, random.fold(SEED, 7)))
    np.testing.assert_array_equal(one, np.concatenate(epoch(make(5, 3), 7, 3)))
    assert not np.array_equal(one, np.concatenate(epoch(make(5, 2), 9)))
    assert not np.array_equal(one, np.concatenate(epoch(make(5, 2, random.as_seed(6)), 7)))


@pytest.mark.parametrize("steps", [None, 2])
def test_rows_in_their_own_order_are_read_equally_often(make, steps):
    """Each epoch goes on where the last one ended, over the end of the rows: of 10 in minibatches of 3 or 4."""
    for size in (3, 4, 5):
        feed, places = make(size, 2, shuffle=False, steps=steps), []
        for _ in range(6):
            places.append(np.concatenate(epoch(feed, sum(map(len, places)) // size)))
        read = np.concatenate(places)
        np.testing.assert_array_equal(read, PLACES[np.arange(len(read)) % 10])


def test_one_feed_goes_through_several_epochs_even_after_one_that_was_cut_short(make):
    feed = make(3, 2)
    for steps_taken in (0, 4):
        np.testing.assert_array_equal(epoch(feed, steps_taken), epoch(make(3, 2), steps_taken))
    next(iter(blocks(feed, 8, 2)))  # the next block is gathered already, and nobody takes it
    np.testing.assert_array_equal(epoch(feed, 10), epoch(make(3, 2), 10))


def test_chains_have_orders_of_their_own(make):
    batches = epoch(make(5, 2, num_chains=3), 7)
    orders = np.concatenate(batches, axis=1)
    for c, order in enumerate(orders):
        np.testing.assert_array_equal(order, random.permutation(10, random.fold(random.fold(SEED, 7), c)))
    assert len(np.unique(orders, axis=0)) == 3


def test_a_chosen_number_of_steps_wraps_around_the_rows(make):
    batches = epoch(make(4, 2, shuffle=False, steps=5), 0)
    np.testing.assert_array_equal(np.concatenate(batches), np.arange(20) % 10)


def test_batches_are_no_larger_than_the_data(make):
    assert [len(batch) for batch in epoch(make(100, 2), 0)] == [10]


# ---- the thread


def gatherers():
    return [thread for thread in threading.enumerate() if thread.name.startswith("rows")]


class Watched(ArraySource):
    """Rows that are gathered on the host; `take` says that it was called, and fails from the call `fails` on."""

    on_device = False

    def __init__(self, fails=10**6):
        super().__init__(Rows(ROWS))
        self.fails, self.calls, self.taken = fails, [], threading.Semaphore(0)

    def take(self, index):
        self.calls.append(threading.current_thread())
        self.taken.release()
        if len(self.calls) >= self.fails:
            raise OSError("the disk is gone")
        return super().take(index)


def test_the_next_block_is_gathered_while_this_one_is_worked_off():
    source = Watched()
    feed = GatheringFeed(source, 2, 1, SEED)
    stream = blocks(feed, 0, 1)
    next(stream)
    assert all(source.taken.acquire(timeout=60) for _ in range(2)), "the second block is taken unasked"
    assert source.calls[0] is threading.main_thread() and source.calls[1] in gatherers()
    for _ in stream:
        pass
    assert len(source.calls) == feed.steps == 5, "nothing is gathered twice, or beyond the end"
    feed.close()
    assert not gatherers()


@pytest.mark.parametrize("fails", [1, 2, 4, 5])
def test_an_error_of_the_thread_is_raised_where_its_block_is_asked_for(fails):
    feed = GatheringFeed(Watched(fails), 2, 1, SEED)
    stream = blocks(feed, 0, 1)
    for _ in range(fails - 1):
        next(stream)
    with pytest.raises(OSError, match="the disk is gone"):
        next(stream)
    feed.close()
    feed.close()
    assert not gatherers()


# ---- streams


def stream_feed(x, block, num_chains=1):
    source = source_of("x", tf.data.Dataset.from_tensor_slices(x).batch(2), x.shape[1], Binary())
    return feed_of(source, 100, block, SEED, num_chains=num_chains)


@pytest.mark.parametrize("num_chains", [1, 2])
def test_a_dataset_gives_a_block_for_each_run_of_equal_batches(num_chains):
    x = (np.arange(14).reshape(7, 2) % 3 == 0).astype(np.float32)
    feed = stream_feed(x, 3, num_chains)
    assert isinstance(feed, StreamFeed)
    delivered = list(feed.blocks([batch.numpy() for batch in feed.dataset], 0))
    assert [(block.places.shape[-1], int(block.count)) for block in delivered] == [(2, 3), (1, 1)]
    for c in range(num_chains):  # the chains share the minibatches
        read = [
            block.rows.values[block.places[i] if num_chains == 1 else block.places[i, c]]
            for block in delivered
            for i in range(block.count)
        ]
        np.testing.assert_array_equal(np.concatenate(read), x)
    assert all(block.index is None and not block.ends_pass.any() for block in delivered)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (np.full((4, 2), 0.5), "must be binary"),
        (np.full((4, 2), np.inf), "must be finite"),
        (np.zeros((4, 3)), r"must have the shape \(rows, 2\)"),
    ],
)
def test_bad_batches_of_a_dataset_are_refused(bad, reason):
    source = source_of("x", tf.data.Dataset.from_tensor_slices(bad).batch(2), 2, Binary())
    with pytest.raises(ValueError, match=f"^x {reason}.*Received: "):
        source.check()


def test_batches_of_a_dataset_that_may_have_gaps_are_of_one_kind():
    """A batch without a gap beside one with, or the program would be traced for both."""
    x = np.array([[1, 0], [0, 1], [1, np.nan], [0, 0]], np.float32)
    feed = stream_feed(x, 1)
    delivered = [block for batch in feed.dataset for block in feed.blocks([batch.numpy()], 0)]
    assert [block.rows.complete for block in delivered] == [False, False]
    np.testing.assert_array_equal(np.concatenate([block.rows.with_nan() for block in delivered]), x)

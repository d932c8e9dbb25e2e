"""Rows of zeros and ones that are drawn anew each epoch."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.chance import assert_means
from tests.conformance.sources import run_source_test
from tests.oracles import tiny_model
from tfdsmcmc.rows import RedrawnSource, source_of
from tfdsmcmc.supports import Binary, Real
from tfdsmcmc.training.feeding.feed import feed_of

GREY = np.random.default_rng(0).integers(0, 256, (11, 3)).astype(np.uint8)


def redrawn(values):
    return source_of("x", ds.datasets.GreyRows(values), values.shape[1], Binary())


def test_a_source():
    """Of black and white, whose draws are what they are."""
    run_source_test(lambda x, support: redrawn((255 * x).astype(np.uint8)), ["binary", "one row"])


def test_draws_have_the_probabilities():
    """Means over 20,000 epochs' worth of draws; a black or a white pixel never differs."""
    values = np.repeat(np.array([[0, 1, 128, 254, 255]], np.uint8), 20_000, 0)
    drawn = redrawn(values).of_epoch(3).all().values
    assert_means(drawn[:, 1:4], values[0, 1:4] / 255)
    assert (drawn[:, 0] == 0).all() and (drawn[:, 4] == 1).all()


def test_a_row_is_known_by_its_place_and_epoch():
    source = redrawn(np.full((50, 20), 128, np.uint8)).of_epoch(1)
    whole = source.all().values
    np.testing.assert_array_equal(source.take(np.array([7, 3])).values, whole[[7, 3]])
    np.testing.assert_array_equal(source.part(slice(10, 20)).take([2]).values, whole[[12]])
    np.testing.assert_array_equal(source.of_epoch(1).all().values, whole)
    assert 0.3 < (source.of_epoch(2).all().values != whole).mean() < 0.7
    assert source.checksum == source.of_epoch(2).checksum


def test_a_feed_draws_anew():
    feed = feed_of(redrawn(np.full((4, 30), 128, np.uint8)), 4, 1, [1, 2], shuffle=False)
    blocks = [next(feed.blocks([0], steps)).rows.values for steps in (0, 1, 0)]
    feed.close()
    assert np.any(blocks[0] != blocks[1])
    np.testing.assert_array_equal(blocks[0], blocks[2])


def test_a_model_learns_from_them():
    """In fit, validation and estimates; the part that a split holds out is read as it is."""
    model = tiny_model(seed=1)
    model.compile("sgnht", jit_compile=False)
    rows = ds.datasets.GreyRows(GREY)
    history = model.fit(rows, batch_size=4, epochs=1, validation_split=0.3, verbose=0)
    assert np.isfinite(history.history["val_log_likelihood"]).all()
    first, again = (model.log_likelihood(rows, 5).value for _ in range(2))
    np.testing.assert_array_equal(first, again)


def test_a_dataset_by_its_name():
    rows = ds.datasets.open("digits", "valid", binarization="each_epoch")
    assert rows.num_rows == 300 and rows.shape == (8, 8) and len(rows.labels) == 300 and len(rows[:10]) == 10
    np.testing.assert_array_equal(redrawn(rows.values).all().values, ds.datasets.load("digits").valid)


BAD = {
    "type": lambda: ds.datasets.GreyRows(GREY.astype(np.float32)),
    "axes": lambda: ds.datasets.GreyRows(GREY[0]),
    "shape": lambda: ds.datasets.GreyRows(GREY, (2, 2)),
    "labels": lambda: ds.datasets.GreyRows(GREY, labels=np.zeros(3)),
    "index": lambda: ds.datasets.GreyRows(GREY)[3],
    "nothing": lambda: ds.datasets.GreyRows(GREY)[:0],
    "real data": lambda: source_of("x", ds.datasets.GreyRows(GREY), 3, Real()),
    "width": lambda: source_of("x", ds.datasets.GreyRows(GREY), 4, Binary()),
    "split": lambda: ds.datasets.open("digits", "all", binarization="each_epoch"),
    "entries": lambda: RedrawnSource(ds.datasets.GreyRows(np.broadcast_to(np.uint8(1), (2**28, 8)))),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    with pytest.raises(ValueError, match=r"Received: "):
        BAD[name]()

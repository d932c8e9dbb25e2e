"""What sources have of their own, beside the contract."""

import warnings

import numpy as np
import pytest
import tensorflow as tf

from tests.conformance.sources import BINARY, CASES, assert_rows
from tests.oracles import binary_states
from tfdsmcmc.rows import ArraySource, Rows, Source, rows_of, source_of
from tfdsmcmc.rows import dataset_source as dataset_source_module
from tfdsmcmc.supports import Binary

NAN = np.nan
GAPPY = CASES["binary with gaps"][0]


def dataset_source(x, size=3, support=None, **arguments):
    dataset = tf.data.Dataset.from_tensor_slices(x).batch(size)
    return source_of("data", dataset, np.shape(x)[1], support or Binary(), **arguments)


# ---- arrays


def test_an_array_source_holds_its_rows():
    rows = rows_of("x", GAPPY, 3, Binary())
    source = ArraySource(rows)
    assert source.on_device and source.random_access and source.all() is rows


def test_the_same_rows_have_the_same_checksum():
    """Whatever form they came in; with more rows than are read at a time too."""
    mask = ~np.isnan(GAPPY)
    forms = [GAPPY, GAPPY.astype(np.float64), GAPPY.tolist(), np.ma.masked_invalid(GAPPY)]
    sums = {source_of("x", x, 3, Binary()).checksum for x in forms}
    sums.add(source_of("x", np.where(mask, GAPPY, 7), 3, Binary(), mask=mask).checksum)
    assert len(sums) == 1
    many = np.random.default_rng(0).integers(0, 2, (250_000, 2))
    first = source_of("x", many, 2, Binary()).checksum
    assert source_of("x", many.astype(np.float32), 2, Binary()).checksum == first
    many[-1] = 1 - many[-1]
    assert source_of("x", many, 2, Binary()).checksum != first


# ---- datasets


def test_a_dataset_is_no_random_access():
    source = dataset_source(BINARY)
    assert not source.random_access and not source.on_device
    assert not hasattr(source, "take") and not hasattr(source, "checksum")


def test_batches_of_unequal_sizes_are_cut_anew():
    def elements():
        yield from np.split(GAPPY, [1, 1, 5])  # of 1, 0, 4 and 2 rows

    dataset = tf.data.Dataset.from_generator(elements, output_signature=tf.TensorSpec([None, 3]))
    source = source_of("x", dataset.filter(lambda x: len(x) > 0), 3, Binary())
    for size in (1, 2, 5, 100):
        found = list(source.batches(size))
        assert [len(batch.values) for batch in found] == [min(size, 7 - first) for first in range(0, 7, size)]
        for number, batch in enumerate(found):
            assert_rows(batch, GAPPY[number * size : (number + 1) * size], Binary())


def test_a_dataset_of_tuples_of_one():
    dataset = tf.data.Dataset.from_tensor_slices((BINARY,)).batch(2)
    assert_rows(source_of("x", dataset, 3, Binary()).all(), BINARY, Binary())


def test_rows_are_counted_in_one_pass():
    passes = []

    def elements():
        passes.append(len(passes))
        yield from np.split(GAPPY, [3, 6])

    dataset = tf.data.Dataset.from_generator(elements, output_signature=tf.TensorSpec([None, 3]))
    source = source_of("x", dataset, 3, Binary())
    assert not passes, "nothing is read before it is asked for"
    assert (source.num_rows, source.complete) == (7, False)
    source.check()
    assert passes == [0]
    known = source_of("x", dataset, 3, Binary(), num_rows=7)
    assert known.num_rows == 7
    assert passes == [0]
    known.check()
    assert passes == [0, 1], "the first batch is looked at"


def test_a_dataset_that_is_not_read_beforehand_is_complete_by_its_type():
    assert not dataset_source(BINARY, num_rows=7).complete
    assert dataset_source(BINARY.astype(np.uint8), num_rows=7).complete
    assert dataset_source(BINARY, num_rows=7, missing=False).complete
    assert dataset_source(BINARY).complete and dataset_source(BINARY.astype(np.uint8)).complete
    assert not dataset_source(GAPPY).complete


def test_the_survey_finds_gaps_and_bad_rows_in_any_batch():
    for place in (0, 3, 6):
        x = BINARY.copy()
        x[place, 1] = NAN
        assert not dataset_source(x).complete
        x[place, 1] = 2.0
        source = dataset_source(x)
        for ask in (lambda: source.num_rows, lambda: source.complete, source.check, source.all):  # noqa: B023
            with pytest.raises(ValueError, match="^data must be binary.*Received: "):
                ask()
        known = dataset_source(x, num_rows=7)
        if place < 3:
            with pytest.raises(ValueError, match="^data must be binary.*Received: "):
                known.check()
        else:
            known.check()
        with pytest.raises(ValueError, match="^data must be binary.*Received: "):
            list(known.batches(2))


def test_a_dataset_of_unknown_length_that_may_have_no_end_is_told_of(monkeypatch):
    """Once, where it is read to be counted and takes long; not where its length is known, or said."""
    known = tf.data.Dataset.from_tensor_slices(BINARY).batch(1)
    unknown = known.filter(lambda row: True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert source_of("data", unknown, 3, Binary()).num_rows == len(BINARY)
        monkeypatch.setattr(dataset_source_module, "_LONG", -1.0)
        assert source_of("data", known, 3, Binary()).num_rows == len(BINARY)
        assert source_of("data", unknown, 3, Binary(), num_rows=7).num_rows == 7
    with pytest.warns(UserWarning, match="^data, a dataset of unknown length.* Received: 1 rows so far") as told:
        assert source_of("data", unknown, 3, Binary()).num_rows == len(BINARY)
    assert len(told) == 1


def test_datasets_that_cannot_be_read_are_refused():
    with pytest.raises(ValueError, match=r"^data, a dataset, yields batches of shape \(rows, 3\). Received: "):
        source_of("data", tf.data.Dataset.from_tensor_slices(BINARY), 3, Binary())
    with pytest.raises(ValueError, match=r"^data, a dataset, yields batches of shape \(rows, 3\). Received: "):
        source_of("data", tf.data.Dataset.from_tensor_slices((BINARY, BINARY)).batch(2), 3, Binary())
    endless = tf.data.Dataset.from_tensor_slices(BINARY).batch(2).repeat()
    with pytest.raises(ValueError, match="^data, an infinite dataset, must .* Received: num_rows=None"):
        source_of("data", endless, 3, Binary())
    assert source_of("data", endless, 3, Binary(), num_rows=7).num_rows == 7
    with pytest.raises(ValueError, match="^num_rows must be a positive integer. Received: num_rows=0"):
        source_of("data", endless, 3, Binary(), num_rows=0)
    empty = dataset_source(np.zeros((0, 3), np.float32))
    known = dataset_source(np.zeros((0, 3), np.float32), num_rows=7)
    for ask in (lambda: empty.num_rows, lambda: empty.complete, empty.check, empty.all, known.check, known.all):
        with pytest.raises(ValueError, match="^data must have at least one row. Received: an empty dataset"):
            ask()
    with pytest.raises(ValueError, match="^data must have the shape .*Received: "):
        source_of("data", tf.data.Dataset.from_tensor_slices(BINARY).batch(2), 4, Binary()).check()
    with pytest.raises(ValueError, match="^data must be finite.*Received: "):
        dataset_source(GAPPY, missing=False).check()


# ---- the base class


def test_what_a_source_must_define():
    class Nothing(Source):
        pass

    for ask in (lambda: Nothing().num_rows, lambda: Nothing().complete, lambda: Nothing().batches(1)):
        with pytest.raises(NotImplementedError, match="Nothing must define"):
            ask()


def test_rows_are_spread_evenly_over_a_stream_of_many_batches():
    """More rows than are read at a time: each of those wanted is found in its own batch."""
    x = (np.arange(25_000)[:, None] >> np.arange(15)) & 1
    wanted = np.linspace(0, 24_999, 7).round().astype(int)
    for source in (dataset_source(x, 999), source_of("x", x, 15, Binary())):
        found = source.evenly_spaced(7)
        assert isinstance(found, Rows) and found.complete
        np.testing.assert_array_equal(found.values @ (1 << np.arange(15)), wanted)


@pytest.mark.parametrize("size", [1, 3, 4, 100])
def test_small_batches_of_a_stream_are_joined(size):
    """In time that grows with their number alone: what has been read is not gone through again at each of them."""
    x = binary_states(5).astype(np.float32)
    source = source_of("x", tf.data.Dataset.from_tensor_slices(x).batch(1), 5, Binary())
    found = list(source.batches(size))
    np.testing.assert_array_equal(np.concatenate([rows.values for rows in found]), x)
    assert all(len(rows.values) == size for rows in found[:-1]) and len(found) == -(-len(x) // size)

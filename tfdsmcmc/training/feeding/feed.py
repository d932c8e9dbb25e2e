"""The rows that a run reads, in blocks of several minibatches.

A feed has a `dataset` for Keras to iterate, one element a minibatch, and turns the elements of a block, `at_once` of
them at most, into a `Block`.

Rows with random access are read in an order that depends on the seed and on the number of steps taken before the epoch,
and on nothing else: a resumed run reads what an uninterrupted one would. The last minibatch of an epoch is filled up
with the first rows of the epoch's order, so each has B rows, as the scale of the gradient noise assumes. Without
shuffling an epoch begins behind the last row that was read, so that all rows are read equally often. In an epoch that
is a pass, what fills up does not count for a step that counts rows; in one of another length nothing fills up.

Of C > 1 chains over the weights each reads such rows in an order of its own. A stream is read once, and the chains
share its minibatches.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.rows import Rows
from tfdsmcmc.rows.rows import concatenate
from tfdsmcmc.training.feeding.batch import Block

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.rows.dataset_source import DatasetSource
    from tfdsmcmc.rows.source import RandomAccessSource, Source

Feed: TypeAlias = "DeviceFeed | GatheringFeed | StreamFeed"


def feed_of(
    source: Source,
    batch_size: int,
    steps_per_execution: int,
    seed: Seed,
    shuffle: bool = True,
    steps: int | None = None,
    num_chains: int = 1,
) -> Feed:
    """The feed that suits a source.

    Args:
      source: of rows.
      batch_size: B, of rows with random access; at most N rows are taken.
      steps_per_execution: S, minibatches in a block.
      seed: stateless seed of the order.
      shuffle: whether each epoch has a new order, and not the order of the rows.
      steps: minibatches an epoch; by default a pass.
      num_chains: C.
    """
    if not source.random_access:
        return StreamFeed(source, steps_per_execution, num_chains, steps)
    kind = DeviceFeed if source.on_device else GatheringFeed
    return kind(source, batch_size, steps_per_execution, seed, shuffle, steps, num_chains)


class _OrderedFeed:
    """Minibatches of rows with random access; a subclass makes a block of some of their numbers."""

    source: RandomAccessSource
    dataset: tf.data.Dataset[Any]

    def __init__(
        self,
        source: RandomAccessSource,
        batch_size: int,
        steps_per_execution: int,
        seed: Seed,
        shuffle: bool = True,
        steps: int | None = None,
        num_chains: int = 1,
    ):
        self.source = source
        self._pass = -(-source.num_rows // batch_size)
        self.steps: int = steps or self._pass
        self.dataset = _numbers(self.steps)
        self._batch_size = min(batch_size, source.num_rows)
        self.at_once: int = steps_per_execution
        self._seed, self._shuffle, self._num_chains = seed, shuffle, num_chains

    def blocks(self, numbers: Sequence[Any] | np.ndarray, steps_taken: int) -> Iterator[Block]:
        """Yields the one block of minibatches `numbers`; number 0 begins a new epoch."""
        if numbers[0] == 0:
            self._begin_epoch(steps_taken)
        yield self._block_of(int(numbers[0]), len(numbers))

    def elements(self, iterator: Iterator[tf.Tensor]) -> list[Any]:
        """The next elements of the dataset, those of a block; raises what the iterator raises where there is none."""
        return _taken(iterator, self.at_once)

    def close(self) -> None:
        """Ends what runs beside the feed."""

    def _block_of(self, first, count):
        raise NotImplementedError(f"{type(self).__name__} must define _block_of(first, count).")

    def _begin_epoch(self, steps_taken):
        """Draws the orders of an epoch, (N,) of each chain."""
        seed = random.fold(self._seed, steps_taken)
        chains = range(self._num_chains)
        seeds = [seed] if self._num_chains == 1 else [random.fold(seed, c) for c in chains]
        self.source = self.source.of_epoch(random.stream(seed, "rows of the epoch"))
        rows = self.source.num_rows
        if self._shuffle:
            self._orders = [random.host_permutation(rows, s) for s in seeds]
        else:
            first = steps_taken * self._batch_size
            self._orders = [(first + np.arange(rows)) % rows] * self._num_chains

    def _layout(self, first, count):
        """(index, counted, begins_pass, ends_pass) of `count` minibatches from `first` on, padded to a whole block."""
        rows, size = self.source.num_rows, self._batch_size
        places = np.arange(first * size, (first + count) * size).reshape(count, size)
        index = np.stack([order[places % rows] for order in self._orders], 1).astype(np.int32)
        # beyond a pass the next minibatch goes on behind this one: what it has of the next pass is read nowhere else
        fills_up = (places >= rows) & (self.steps == self._pass)
        counted = np.repeat(~fills_up[:, np.newaxis], self._num_chains, 1)
        if self._num_chains == 1:
            index, counted = index[:, 0], counted[:, 0]
        begins, ends = np.zeros((2, self.at_once), bool)
        numbers = np.arange(first, first + count)
        begins[:count], ends[:count] = numbers % self._pass == 0, (numbers + 1) % self._pass == 0
        room = [(0, self.at_once - count)] + [(0, 0)] * (index.ndim - 1)
        return np.pad(index, room), np.pad(counted, room), begins, ends


class DeviceFeed(_OrderedFeed):
    """All rows stay on the device, and blocks hold their numbers alone."""

    def __init__(self, source: RandomAccessSource, *arguments: Any, **options: Any):
        super().__init__(source, *arguments, **options)
        self._rows = source.all().map(tf.convert_to_tensor)

    def _block_of(self, first, count):
        index, *others = self._layout(first, count)
        return Block(self._rows, index, index, *others, np.int32(count))


class GatheringFeed(_OrderedFeed):
    """The rows of each block are gathered on the host, by a thread that works ahead while the program runs."""

    def __init__(self, source: RandomAccessSource, *arguments: Any, **options: Any):
        super().__init__(source, *arguments, **options)
        self._thread = ThreadPoolExecutor(1, "rows")
        self._ahead = None

    def close(self) -> None:
        self._thread.shutdown(wait=True, cancel_futures=True)

    def _begin_epoch(self, steps_taken):
        self._ahead = None
        super()._begin_epoch(steps_taken)

    def _block_of(self, first, count):
        expected, ahead = self._ahead or (None, None)
        block = ahead.result() if expected == (first, count) else self._gathered(first, count)
        following = first + count, min(self.at_once, self.steps - first - count)
        self._ahead = (following, self._thread.submit(self._gathered, *following)) if following[1] > 0 else None
        return block

    def _gathered(self, first, count):
        index, *others = self._layout(first, count)
        rows = self.source.take(index.reshape(-1))
        places = np.arange(index.size, dtype=np.int32).reshape(index.shape)
        return Block(rows, places, index, *others, np.int32(count))


class StreamFeed:
    """Minibatches of a `tf.data.Dataset`, as they come; shared by the chains.

    The rows are known by no number, and an epoch is a pass if the stream ends: which minibatch is the last of one
    cannot be told. Where an epoch has so many steps the next one goes on behind it, from the end of the stream at its
    beginning.
    """

    source: DatasetSource
    dataset: tf.data.Dataset[Any]
    steps: int | None

    def __init__(
        self, source: DatasetSource, steps_per_execution: int, num_chains: int = 1, steps: int | None = None
    ):  # fmt: skip
        self.source, self.dataset, self.steps = source, source.dataset, steps
        if steps is not None:
            # as rows with random access are read; of a dataset that ends Keras counts whole blocks, and loses the last
            self.dataset = source.dataset.repeat()
        self.at_once: int = steps_per_execution
        self._num_chains, self._read = num_chains, 0  # in this epoch, where it has so many steps

    def blocks(self, batches: Sequence[Any], steps_taken: int) -> Iterator[Block]:
        """Yields a block for each run of batches of one size."""
        del steps_taken
        batches = [self._rows(batch) for batch in batches]
        while batches:
            size = len(batches[0].values)
            count = next((i for i, rows in enumerate(batches) if len(rows.values) != size), len(batches))
            rows = concatenate(batches[:count]).padded(self.at_once * size)
            places = np.arange(self.at_once * size, dtype=np.int32).reshape(self.at_once, size)
            if self._num_chains > 1:
                places = np.repeat(places[:, np.newaxis], self._num_chains, 1)
            counted, unknown = np.ones(places.shape, bool), np.zeros(self.at_once, bool)
            yield Block(rows, places, None, counted, unknown, unknown, np.int32(count))
            batches = batches[count:]

    def elements(self, iterator: Iterator[tf.Tensor]) -> list[Any]:
        """The next elements of the dataset, those of a block, none of the next epoch; raises what the iterator raises
        where there is none."""
        most = self.at_once if self.steps is None else min(self.at_once, self.steps - self._read)
        try:
            found = _taken(iterator, most)
        except tf.errors.OpError:
            self.source.raise_failure()
            raise
        if self.steps is not None:
            self._read = (self._read + len(found)) % self.steps if len(found) == most else 0
        return found

    def close(self) -> None:
        """There is nothing to end."""

    def _rows(self, batch):
        """The batch as rows, all of one kind: where some may have gaps, all are taken to."""
        rows = self.source.rows_of(batch)
        if self.source.complete or not rows.complete:
            return rows
        return Rows(rows.values.astype(np.float32), np.ones(rows.values.shape, bool))


def _taken(iterator, most):
    """Up to `most` elements; raises what the iterator raises where there is not even one."""
    elements = [next(iterator).numpy()]
    try:
        while len(elements) < most:
            elements.append(next(iterator).numpy())
    except StopIteration:
        pass
    return elements


def _numbers(count):
    """0, …, count − 1 as a dataset without tf.data's autotuner, whose thread can hold up the end of an epoch."""
    options = tf.data.Options()
    options.autotune.enabled = False
    options.experimental_optimization.apply_default_optimizations = False
    return tf.data.Dataset.range(count).with_options(options)

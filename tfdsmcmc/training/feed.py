"""The rows that a run reads, in blocks of several minibatches.

A feed has a `dataset` for Keras to iterate, one element a minibatch, and turns the elements of a block into
(data, index, count): minibatch i < count of the block is data[index[i]]. Every block of a run has the same shapes, so
that nothing is compiled twice.

Rows of an array are read in an order that depends on the seed and on the number of steps taken before the epoch, and
on nothing else: a resumed run reads what an uninterrupted one would. The last minibatch of an epoch is filled up with
the first rows of the epoch's order, so each has B rows, as the scale of the gradient noise assumes.

Of C > 1 chains over θ each reads an array in an order of its own: minibatch i of chain c is data[index[i, c]]. A
`tf.data.Dataset` is read once, and the chains share its minibatches.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tfdsmcmc import checks, incomplete, random


class ArrayFeed:
    """Minibatches of an array that stays on the device.

    Args:
      rows: array (n, D).
      batch_size: B; at most n rows are taken.
      steps_per_execution: S, minibatches in a block.
      seed: stateless seed of the order.
      shuffle: whether each epoch has a new order.
      steps: minibatches an epoch; by default ⌈n/B⌉.
      num_chains: C.
    """

    def __init__(self, rows, batch_size, steps_per_execution, seed, shuffle=True, steps=None, num_chains=1):
        self.num_rows = len(rows)
        self.with_gaps = incomplete.has_gaps(rows)
        self.steps = steps or -(-len(rows) // batch_size)
        self.dataset = _numbers(self.steps)
        self._data = tf.convert_to_tensor(rows)
        self._batch_size = min(batch_size, len(rows))
        self._block = steps_per_execution
        self._seed = seed
        self._shuffle = shuffle
        self._num_chains = num_chains
        self._index = None

    def blocks(self, numbers, steps_taken):
        """Yields the one block (data, index, count) of minibatches `numbers`; number 0 begins a new epoch."""
        if numbers[0] == 0:
            self._index = self._epoch(steps_taken)
        index = np.zeros((self._block, *self._index.shape[1:]), np.int32)
        index[: len(numbers)] = self._index[numbers]
        yield self._data, index, len(numbers)

    def _epoch(self, steps_taken):
        """The rows of the minibatches of an epoch, (steps, B) or (steps, C, B)."""
        seed = random.fold(self._seed, steps_taken)
        if self._num_chains == 1:
            return self._order(seed)
        return np.stack([self._order(random.fold(seed, c)) for c in range(self._num_chains)], 1)

    def _order(self, seed):
        n = self.num_rows
        order = random.permutation(n, seed).numpy() if self._shuffle else np.arange(n)
        return np.resize(order.astype(np.int32), (self.steps, self._batch_size))


class DatasetFeed:
    """Minibatches of a `tf.data.Dataset` of batches (B, D).

    Args:
      dataset: its elements are arrays (B, D), or tuples of one.
      units: D.
      binary: whether entries must be 0 or 1.
      steps_per_execution: S.
      num_rows: N; by default the rows are counted, and checked, in one pass.
      num_chains: C.
      missing: whether entries may be NaN.

    Raises:
      ValueError: for elements of another kind, or an infinite dataset without `num_rows`.
    """

    steps = None

    def __init__(self, dataset, units, binary, steps_per_execution, num_rows=None, num_chains=1, missing=False):
        spec = dataset.element_spec
        if isinstance(spec, tuple) and len(spec) == 1:
            dataset, spec = dataset.map(lambda x: x), spec[0]
        if not isinstance(spec, tf.TensorSpec) or spec.shape.rank != 2:
            raise ValueError(f"A dataset yields batches of shape (rows, {units}). Received: {dataset.element_spec}")
        if num_rows is None:
            if int(dataset.cardinality()) == tf.data.INFINITE_CARDINALITY:
                raise ValueError(
                    "An infinite dataset needs fit(num_rows=…, steps_per_epoch=…). Received: num_rows=None"
                )
        self.dataset = dataset
        self._units, self._binary, self._block = units, binary, steps_per_execution
        self._num_chains = num_chains
        # where not all batches are seen beforehand, later ones may have gaps
        unseen = missing and num_rows is not None and spec.dtype.is_floating
        self._missing, self.with_gaps, counted = missing, unseen, 0
        # the pass that counts the rows checks them as well
        for batch in dataset if num_rows is None else dataset.take(1):
            rows = self._rows(batch)
            counted += len(rows)
            self.with_gaps |= incomplete.has_gaps(rows)
        num_rows = counted if num_rows is None else num_rows
        self._missing = self.with_gaps
        self.num_rows = checks.positive_integer("num_rows", num_rows)

    def blocks(self, batches, steps_taken):
        """Yields (data, index, count), one block for each run of batches of one size."""
        del steps_taken
        batches = [self._rows(batch) for batch in batches]
        while batches:
            size = len(batches[0])
            count = next((i for i, batch in enumerate(batches) if len(batch) != size), len(batches))
            data = np.zeros((self._block * size, self._units), batches[0].dtype)
            data[: count * size] = np.concatenate(batches[:count])
            index = np.arange(len(data), dtype=np.int32).reshape(self._block, size)
            if self._num_chains > 1:
                index = np.repeat(index[:, np.newaxis], self._num_chains, 1)
            yield data, index, count
            batches = batches[count:]

    def _rows(self, batch):
        rows = checks.rows("x", batch, self._units, self._binary, self._missing)
        return rows.astype(np.float32) if self.with_gaps else rows


def is_dataset(x):
    """Whether x is a `tf.data.Dataset`."""
    return isinstance(x, tf.data.Dataset)


def in_memory(x):
    """A dataset of batches as one array; anything else as it is."""
    if not is_dataset(x):
        return x
    if int(x.cardinality()) == tf.data.INFINITE_CARDINALITY or (
        isinstance(x.element_spec, tuple) and len(x.element_spec) != 1
    ):
        raise ValueError(f"A dataset to evaluate is finite and has data x alone. Received: {x.element_spec}")
    batches = [element[0] if isinstance(element, tuple) else element for element in x]
    return np.concatenate([np.asarray(batch) for batch in batches]) if batches else np.zeros((0, 0))


def split_last(x, fraction):
    """(x without its last rows, the last `fraction` of the rows)."""
    valid = isinstance(fraction, (int, float)) and not isinstance(fraction, bool)
    held_out = int(len(x) * fraction) if valid else 0
    if not 0 < held_out < len(x):
        raise ValueError(f"validation_split must leave rows on both sides. Received: validation_split={fraction!r}")
    return x[:-held_out], x[-held_out:]


def take(iterator, most):
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

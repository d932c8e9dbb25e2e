"""What every step must honour, under a run: `run_step_test` checks it in one call."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.training.feeding.feed import feed_of
from tfdsmcmc.training.run import Run

SEED = random.as_seed(7)
BLOCK = 3


def run_step_test(make, source, batch_size=4, beside=lambda step: []):
    """Runs every check of the contract.

    Args:
      make: function of nothing → a new `Step` on new variables, always with the same values.
      source: rows with random access; their number is no multiple of the batch size.
      batch_size: B.
      beside: function of a step → the variables that learn beside its state and that Keras saves.
    """
    assert source.num_rows % batch_size
    _keeps_structure(make(), source)
    _metrics_are_announced(make(), source, batch_size)
    _a_run_goes_on_where_another_stood(make, source, batch_size, beside)
    _blocks_do_not_matter(make, source, batch_size)
    _jitted_is_not_jitted(make, source, batch_size)


def advanced(run, source, batch_size, epochs=1, block=BLOCK):
    """The run after some epochs over the rows, from where it stands."""
    feed = feed_of(source, batch_size, block, SEED, num_chains=run.num_chains)
    for _ in range(epochs):
        taken, numbers = int(run.steps), np.arange(feed.steps)
        for first in range(0, feed.steps, block):
            for part in feed.blocks(numbers[first : first + block], taken + first):
                run.advance(part)
    feed.close()
    return run


def begun(step, source, jit_compile=False):
    run = Run(step, SEED, jit_compile)
    run.begin(source, source.num_rows)
    return run


def values_of(run):
    """All that a run is made of, by name, the model's variables among them."""
    named = {name: variable.numpy() for name, variable in run.saved.items() if name != "identity"}
    return {**named, **{f"variable {i}": variable.numpy() for i, variable in enumerate(run.step.variables)}}


def assert_same(one, other, **tolerance):
    assert set(one) == set(other)
    for name, value in one.items():
        np.testing.assert_allclose(value, other[name], err_msg=name, **(tolerance or {"rtol": 0, "atol": 0}))


def _keeps_structure(step, source):
    """A state before any row is of the same structure as one with rows; parts for each row have N entries then."""
    weights = [tf.convert_to_tensor(variable) for variable in step.variables]
    weights = weights if step.num_chains == 1 else [tf.stack([part] * step.num_chains) for part in weights]
    before = step.init(None, SEED, weights)
    state = step.init(source, SEED, weights, float(source.num_rows), before)
    tf.nest.assert_same_structure(before, state)
    assert state._fields[0] == "weights" and set(step.per_row) <= set(state._fields[1:])
    axis = 0 if step.num_chains == 1 else 1
    for name in step.per_row:
        for none, all_rows in zip(tf.nest.flatten(getattr(before, name)), tf.nest.flatten(getattr(state, name))):
            assert none.shape[axis] == 0 and all_rows.shape[axis] == source.num_rows


def _metrics_are_announced(step, source, batch_size):
    run = advanced(begun(step, source), source, batch_size)
    assert [mean.name for mean in run.means] == list(step.metric_names)
    assert all(np.isfinite(float(mean.result())) for mean in run.means)
    assert int(run.steps) == -(-source.num_rows // batch_size)


def _a_run_goes_on_where_another_stood(make, source, batch_size, beside):
    """What `saved` and Keras hold is all there is: a new run that is given it takes the same way."""
    run = advanced(begun(make(), source), source, batch_size)
    start = values_of(run)
    twin = begun(make(), source)
    for name, variable in twin.saved.items():
        variable.assign(run.saved[name])
    ours, theirs = ([*each.step.variables, *beside(each.step)] for each in (twin, run))
    for variable, other in zip(ours, theirs, strict=True):
        variable.assign(other)
    twin.begin(source, source.num_rows)
    assert_same(start, values_of(twin))
    for each in (run, twin):
        advanced(each, source, batch_size)
    moved = values_of(run)
    assert_same(moved, values_of(twin))
    assert any(np.any(moved[name] != value) for name, value in start.items() if name != "steps")


def _blocks_do_not_matter(make, source, batch_size):
    runs = [advanced(begun(make(), source), source, batch_size, block=block) for block in (1, BLOCK)]
    assert_same(*(values_of(run) for run in runs), rtol=1e-5, atol=1e-6)


def _jitted_is_not_jitted(make, source, batch_size):
    runs = [advanced(begun(make(), source, jit_compile), source, batch_size) for jit_compile in (False, True)]
    assert_same(*(values_of(run) for run in runs), rtol=1e-3, atol=1e-5)

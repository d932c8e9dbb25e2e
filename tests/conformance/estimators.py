"""What every gradient estimator must honour: `run_estimator_test` checks it in one call.

That the gradient is right is another matter: each estimator meets its exact answer in a test of its own.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tests.oracles import flat

SEED = tf.constant([3, 4])
NUM_ROWS = tf.constant(10.0)


def run_estimator_test(estimator, weights, x, auxiliary=()):
    """Runs every check of the contract.

    Args:
      estimator: `GradientEstimator`.
      weights: list of tensors.
      x: (B, D), float32.
      auxiliary: as the estimator's prior needs it.
    """
    assert estimator.carries in (None, "row", "run")
    carry = None
    if estimator.carries:
        carry = estimator.start(weights, x if estimator.carries == "row" else None, SEED)
    if estimator.carries == "row":
        for part, none in zip(carry, estimator.no_rows(), strict=True):
            assert part.shape == (len(x), *none.shape[1:]) and none.shape[0] == 0 and part.dtype == none.dtype

    def gradient(seed=SEED, carry=carry, num_rows=NUM_ROWS):
        return estimator.gradient(weights, x, num_rows, auxiliary, carry, seed)

    found, draws, moved = gradient()
    for part, weight in zip(found, weights, strict=True):
        assert part.shape == weight.shape and part.dtype == weight.dtype and np.isfinite(part).all()
    if carry is None:
        assert moved is None
    else:
        _assert_like(moved, tf.nest.map_structure(lambda part: tf.TensorSpec(part.shape, part.dtype), carry))

    # the seed decides all; another one draws otherwise
    again = gradient()
    for a, b in zip(tf.nest.flatten((found, draws)), tf.nest.flatten(again[:2]), strict=True):
        np.testing.assert_array_equal(a, b)
    seeds = [tf.constant([5, i]) for i in range(8)]
    assert any(np.any(flat(gradient(seed)[0]) != flat(found)) for seed in seeds)

    # the carry goes on: what a second call gives depends on where the first one left it
    if carry is not None:
        for seed in seeds:
            moved = gradient(seed, moved)[2]
        pairs = list(zip(tf.nest.flatten(carry), tf.nest.flatten(moved), strict=True))
        assert any(np.any(np.asarray(a) != np.asarray(b)) for a, b in pairs)

    # metrics are scalars under the names that are announced
    metrics = estimator.metrics(draws)
    assert set(metrics) == set(estimator.metric_names)
    assert all(value.shape == () and value.dtype == tf.float32 for value in metrics.values())

    # the same in a program
    compiled = tf.function(lambda: gradient()[0], jit_compile=True, autograph=False)()
    np.testing.assert_allclose(flat(compiled), flat(found), rtol=1e-4, atol=1e-5)


def _assert_like(values, like):
    tf.nest.assert_same_structure(values, like)
    for value, spec in zip(tf.nest.flatten(values), tf.nest.flatten(like), strict=True):
        assert value.shape == spec.shape and value.dtype == spec.dtype

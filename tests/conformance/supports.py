"""What every support must honour: `run_support_test` checks it in one call."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc.rows import rows_of, source_of


def run_support_test(support, good, bad):
    """Runs every check of the contract.

    Args:
      support: `supports.Support`.
      good: rows of its values, (n, D).
      bad: rows each with another value, (n, D), finite ones.
    """
    good, bad = np.asarray(good, np.float32), np.asarray(bad, np.float32)
    units = good.shape[1]
    _check_value(support)
    _check_holds(support, good, bad)
    _check_rows(support, good, bad, units)
    _check_noise(support, units)
    assert support.holds(support.mode(good)).all()
    np.testing.assert_array_equal(support.mode(good), good)
    support.check_width("units", units)
    mask = np.random.default_rng(2).random((50, units)) < 0.6
    assert support.holds(np.repeat(good[:1], 50, 0), support.whole(mask)).all()
    assert (support.whole(mask) <= mask).all()


def _check_value(support):
    other = copy.deepcopy(support)
    assert support == other and hash(support) == hash(other) and support != object() and support != "binary"
    assert isinstance(support.described, str)
    assert np.shape(support.filling) in ((), (np.size(support.filling),))


def _check_holds(support, good, bad):
    """The same of arrays and of tensors; what is missing is right whatever stands there."""
    for all_of in (lambda x: None, lambda x: np.ones(x.shape, bool)):
        assert support.holds(good, all_of(good)).all()
        assert not support.holds(bad, all_of(bad)).all(1).any()
    nothing = np.zeros(bad.shape, bool)
    assert support.holds(np.full_like(bad, np.nan), nothing).all()
    for x, observed in ((good, None), (bad, None), (bad, nothing), (bad, np.ones(bad.shape, bool))):
        tensors = [None if part is None else tf.constant(part) for part in (x, observed)]
        np.testing.assert_array_equal(support.holds(*tensors), support.holds(x, observed))


def _check_rows(support, good, bad, units):
    rows = rows_of("x", good, units, support)
    assert rows.complete and rows.values.dtype == (np.uint8 if support.bits else np.float32)
    gappy = rows_of("x", np.concatenate([good, np.full((1, units), np.nan)]), units, support)
    np.testing.assert_array_equal(gappy.values[-1], np.broadcast_to(np.float32(support.filling), units))
    for row in bad:
        for make in (rows_of, source_of):
            with pytest.raises(ValueError, match="^x must be .*Received: "):
                make("x", np.concatenate([good, row[np.newaxis]]), units, support)
        # a source that was made for another data layer is looked at too
        known = source_of("x", good, units, support)
        assert source_of("y", known, units, support) is known


def _check_noise(support, units):
    noise = support.noise([500, units], 3).numpy()
    assert noise.dtype == np.float32 and support.holds(noise).all()
    assert (noise.std(0) > 0).all() and len(np.unique(noise, axis=0)) > 1
    np.testing.assert_array_equal(noise, support.noise([500, units], 3))

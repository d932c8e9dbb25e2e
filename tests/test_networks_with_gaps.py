"""Networks and rows with gaps: p(x_observed, z), and what a recognition network sees."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.gaps import ROWS, log_joint, rows_with_gaps
from tests.oracles import Oracle, tiny_model
from tfdsmcmc.rows import ArraySource, Rows


def test_the_joint_of_observed_entries_is_the_sum_over_the_others():
    model = tiny_model((2, 1), seed=3)
    oracle = Oracle(model)
    z = [tf.constant(part[:, None], tf.float32) for part in oracle.z]
    found = model.generative.log_joint(rows_with_gaps(), z).numpy()
    for i, row in enumerate(ROWS):
        np.testing.assert_allclose(found[:, i], log_joint(oracle, row), rtol=1e-5, atol=1e-5)


def test_the_values_in_the_gaps_have_no_part_in_the_joint():
    model = tiny_model((2,), seed=3)
    z = [np.array([[1, 0]] * 4, np.float32)]
    rows = rows_with_gaps()
    others = rows._replace(values=np.where(rows.observed, rows.values, np.float32(7)))
    np.testing.assert_array_equal(model.generative.log_joint(rows, z), model.generative.log_joint(others, z))


def test_complete_rows_are_a_tensor():
    """The joint of rows, of their values, and of rows all of whose entries are stated to be observed."""
    model = tiny_model((2,), seed=3)
    x, z = np.array([[1, 0, 1], [0, 0, 1]], np.float32), [np.array([[1, 0], [0, 1]], np.float32)]
    want = model.generative.log_joint(x, z)
    np.testing.assert_array_equal(model.generative.log_joint(Rows(x), z), want)
    np.testing.assert_allclose(model.generative.log_joint(Rows(x, np.ones_like(x, bool)), z), want, rtol=1e-5)


def test_a_recognition_network_sees_a_constant_in_the_gaps():
    model, rows = tiny_model((2, 1), seed=3), rows_with_gaps()
    seen = np.where(np.isnan(ROWS), np.float32(0.5), ROWS)
    np.testing.assert_array_equal(model.recognition.seen(rows), seen)
    for one, other in zip(*(tf.nest.flatten(model.recognition.sample_and_log_prob(x, 3, 1)) for x in (rows, seen))):
        np.testing.assert_array_equal(one, other)
    z = model.recognition.sample(rows, 3, 1)
    np.testing.assert_array_equal(model.recognition.log_prob(z, rows), model.recognition.log_prob(z, seen))


def test_dependent_units_are_refused_by_name():
    rows = Rows(np.full((1, 3), 0.5, np.float32), np.array([[True, False, True]]))
    for layer in (ds.layers.DARN(3), ds.layers.NADE(3, hidden_units=2)):
        network = ds.GenerativeNetwork([ds.layers.SBN(2), layer])
        for refused in (rows, ArraySource(rows)):
            with pytest.raises(ValueError, match=f"MLPGaussian or Mixed. Received: {type(layer).__name__}"):
                network.check_gaps(refused)
        with pytest.raises(ValueError, match=f"MLPGaussian and Mixed. Received: {type(layer).__name__}"):
            network.log_joint(rows, [np.ones((1, 2))])
        network.check_gaps(Rows(rows.values))

"""NADE against its definition, and the derivation of its gradients against complex steps of the definition."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.distributions.nade_by_definition import (
    NADE,
    ORDER,
    SHAPES,
    exact,
    exact_gradients,
    random_operands,
    value_and_gradients,
)
from tests.distributions.support import random_upstream, tensors
from tests.oracles import binary_states
from tfdsmcmc._common import compiling


@pytest.mark.parametrize("ordering", [None, ORDER])
def test_the_derivation_is_that_of_the_definition(ordering):
    operands = random_operands((2, 1, 6), (3, 6), (3, 5))
    upstream = random_upstream(operands[:3])
    for part, gradient in zip(operands, exact_gradients(*operands, upstream, ordering)):
        for place in np.ndindex(part.shape):
            moved = [other.astype(complex) if other is part else other for other in operands]
            next(m for m in moved if m.dtype == complex)[place] += 1e-20j
            slope = (upstream * exact(*moved, ordering)[0].imag).sum() / 1e-20
            np.testing.assert_allclose(gradient[place], slope, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("ordering", [None, ORDER])
@pytest.mark.parametrize("shapes", SHAPES)
def test_log_prob_and_gradients(shapes, ordering):
    """In float64, for each way in which x and the parameters broadcast."""
    operands = random_operands(*shapes)
    upstream = random_upstream(operands[:3])
    value, gradients = value_and_gradients(tensors(operands), upstream, ordering)
    assert value.shape == upstream.shape and value.dtype == tf.float64
    np.testing.assert_allclose(value, exact(*operands, ordering)[0], rtol=1e-12)
    for got, want, part in zip(gradients, exact_gradients(*operands, upstream, ordering), operands):
        assert got.shape == part.shape
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("units", [1, 2, 7])
def test_any_number_of_units(units):
    """One, and some more: the backward loop hands parts on to the unit before."""
    operands = random_operands((4, units), (units,), (3, 1, 5))
    upstream, order = random_upstream(operands[:3]), list(np.random.default_rng(1).permutation(units))
    value, gradients = value_and_gradients(tensors(operands), upstream, order)
    np.testing.assert_allclose(value, exact(*operands, order)[0], rtol=1e-12)
    for got, want in zip(gradients, exact_gradients(*operands, upstream, order)):
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)
    draws, log_p = NADE(*tensors(operands[1:]), ordering=order).experimental_sample_and_log_prob(5, seed=[1, 2])
    np.testing.assert_allclose(log_p, exact(draws.numpy(), *operands[1:], order)[0], rtol=1e-12)


def test_float32_and_data_of_other_types():
    operands = random_operands()
    want = exact(*operands, ORDER)[0]
    distribution = NADE(*tensors(operands[1:], tf.float32), ordering=ORDER)
    for x in (operands[0], operands[0].astype(np.uint8), operands[0].astype(int).tolist()):
        value = distribution.log_prob(x)
        assert value.dtype == tf.float32
        np.testing.assert_allclose(value, want, rtol=1e-5)


def test_jit_changes_nothing():
    """The XLA program of value, gradients and draws, at a batch where all three leading shapes differ."""
    operands = tensors(random_operands((4, 6), (3, 1, 6), (3, 4, 5)), tf.float32)
    upstream = random_upstream(operands[:3]).astype(np.float32)

    def compute(*operands):
        draws = NADE(*operands[1:], ordering=ORDER).experimental_sample_and_log_prob(2, seed=tf.constant([1, 2]))
        return *value_and_gradients(list(operands), upstream, ORDER), draws

    for a, b in zip(
        tf.nest.flatten(compiling.program(compute, True)(*operands)), tf.nest.flatten(compute(*operands))
    ):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_a_permuted_problem_is_the_natural_one():
    x, b, c, w, v = operands = random_operands()
    upstream = random_upstream(operands[:3])
    value, gradients = value_and_gradients(tensors(operands), upstream, ORDER)
    want, in_order = value_and_gradients(tensors([x[:, ORDER], b[ORDER], c, w[ORDER], v[ORDER]]), upstream)
    np.testing.assert_allclose(value, want, rtol=1e-12)
    for got, wanted, axis in zip(gradients, in_order, (1, 0, None, 0, 0)):
        got = got if axis is None else np.take(got, ORDER, axis)
        np.testing.assert_allclose(got, wanted, rtol=1e-10, atol=1e-12)
    assert np.abs(value - exact(*operands)[0]).min() > 1e-3, "the order makes no difference"


@pytest.mark.parametrize("ordering", [None, ORDER])
def test_the_law_sums_to_one(ordering):
    _, *parameters = random_operands(scale=2.0)
    log_p = NADE(*tensors(parameters), ordering=ordering).log_prob(binary_states(6))
    np.testing.assert_allclose(np.exp(log_p).sum(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("ordering", [None, ORDER])
@pytest.mark.parametrize("shapes", [SHAPES[1], SHAPES[5]])
def test_conditional_logits(shapes, ordering):
    operands = random_operands(*shapes)
    got = NADE(*tensors(operands[1:]), ordering=ordering).conditional_logits(operands[0])
    want = exact(*operands, ordering)[1]
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_conditional_logits_ignore_the_units_that_come_later():
    operands = random_operands((6,))
    distribution = NADE(*tensors(operands[1:]), ordering=ORDER)
    logits = distribution.conditional_logits(operands[0]).numpy()
    for place, unit in enumerate(ORDER):
        flipped = np.where(np.arange(6) == unit, 1 - operands[0], operands[0])
        changed = distribution.conditional_logits(flipped).numpy() != logits
        assert not changed[ORDER[: place + 1]].any() and changed[ORDER[place + 1 :]].all()


@pytest.mark.parametrize("ordering", [[0, 1], [0, 1, 2, 3, 4, 4], "natural"])
def test_the_order_is_checked(ordering):
    with pytest.raises(ValueError, match="Received: ordering="):
        NADE(*random_operands()[1:], ordering=ordering)


def test_shapes_must_fit():
    with pytest.raises(ValueError, match="^encoder and decoder are of the shape.*Received: "):
        ds.distributions.NADE(tf.zeros([4]), tf.zeros([2]), tf.zeros([3, 2]), tf.zeros([3, 2]))

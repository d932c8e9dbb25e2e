"""AutoregressiveBernoulli against its definition, unit by unit in NumPy and float64, with its gradients."""

import functools

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies
from tests.distributions import support
from tests.distributions.support import random_upstream, summed_to, tensors
from tests.oracles import binary_states, log_bernoulli, sigmoid, state_numbers

Autoregressive = ds.distributions.AutoregressiveBernoulli
ORDER = [3, 0, 5, 1, 4, 2]
SHAPES = [  # of y and of the logits, for six units
    ((6,), (6,)),
    ((4, 6), (6,)),
    ((4, 6), (4, 6)),
    ((4, 6), (3, 4, 6)),
    ((3, 4, 6), (4, 6)),
    ((6, 1, 6), (3, 6)),
    ((3, 6), (6, 1, 6)),
    ((6,), (3, 1, 6)),
    ((0, 6), (6,)),
]


def random_operands(y_shape=(4, 6), logits_shape=(6,), scale=1.2, seed=0):
    """(y, b, U), float64; no entry of U is zero, those that do not count included."""
    rng = np.random.default_rng(seed)
    units = y_shape[-1]
    y = rng.integers(0, 2, y_shape).astype(np.float64)
    return [y, rng.normal(0.3, 0.8, logits_shape), rng.normal(0.2, scale, (units, units))]


def exact(y, b, lateral, ordering=None):
    """log p(y) and the logits of the units, by definition."""
    order = list(range(y.shape[-1])) if ordering is None else ordering
    y, logits = (np.array(part) for part in np.broadcast_arrays(y, b))
    for place, j in enumerate(order):
        for i in order[:place]:
            logits[..., j] += y[..., i] * lateral[i, j]
    return log_bernoulli(y, logits), logits


def exact_gradients(y, b, lateral, upstream, ordering=None):
    """Gradients of Σ upstream · log p(y) in y, b and U, with d_j = upstream (y_j − σ(l_j))."""
    order = list(range(y.shape[-1])) if ordering is None else ordering
    _, logits = exact(y, b, lateral, ordering)
    d = upstream[..., None] * (y - sigmoid(logits))
    in_y, in_lateral, y_everywhere = upstream[..., None] * logits, np.zeros_like(lateral), np.broadcast_to(y, d.shape)
    for place, j in enumerate(order):
        for i in order[:place]:
            in_y[..., i] += d[..., j] * lateral[i, j]
            in_lateral[i, j] = (y_everywhere[..., i] * d[..., j]).sum()
    return summed_to(in_y, y.shape), summed_to(d, b.shape), in_lateral


def value_and_gradients(operands, upstream, ordering=None):
    """What the package has to say, from operands that are tensors."""
    return support.value_and_gradients(functools.partial(Autoregressive, ordering=ordering), operands, upstream)


# ---- the log-probability and its gradients


@pytest.mark.parametrize("ordering", [None, ORDER])
@pytest.mark.parametrize("shapes", SHAPES)
def test_log_prob_and_gradients(shapes, ordering):
    """In float64, for each way in which y and the logits broadcast."""
    operands = random_operands(*shapes)
    upstream = random_upstream(operands[:2])
    value, gradients = value_and_gradients(tensors(operands), upstream, ordering)
    assert value.shape == upstream.shape and value.dtype == tf.float64
    np.testing.assert_allclose(value, exact(*operands, ordering)[0], rtol=1e-12)
    for got, want, part in zip(gradients, exact_gradients(*operands, upstream, ordering), operands):
        assert got.shape == part.shape
        np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("ordering", [None, ORDER])
def test_the_exact_gradients_are_finite_differences(ordering):
    operands = random_operands((2, 1, 6), (3, 6))
    upstream, h = random_upstream(operands[:2]), 1e-5
    (_, *parameters), (_, *gradients) = operands, exact_gradients(*operands, upstream, ordering)
    for part, gradient in zip(parameters, gradients):
        for place in np.ndindex(part.shape):
            centre, values = part[place], []
            for part[place] in (centre + h, centre - h):
                values.append((upstream * exact(*operands, ordering)[0]).sum())
            part[place] = centre
            np.testing.assert_allclose(gradient[place], (values[0] - values[1]) / (2 * h), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("ordering", [None, ORDER])
def test_entries_that_do_not_count(ordering):
    """Those of U on the diagonal and from later to earlier units: whatever they are, and without a gradient."""
    y, b, lateral = operands = random_operands()
    place = np.arange(6) if ordering is None else np.argsort(ordering)
    counts = place[:, None] < place
    other = np.where(counts, lateral, 1e3)
    upstream = random_upstream(operands[:2])
    value, (in_y, in_b, in_lateral) = value_and_gradients(tensors(operands), upstream, ordering)
    same_value, (same_in_y, same_in_b, same_in_lateral) = value_and_gradients(
        tensors([y, b, other]), upstream, ordering
    )
    for a, same in ((value, same_value), (in_y, same_in_y), (in_b, same_in_b), (in_lateral, same_in_lateral)):
        np.testing.assert_array_equal(a, same)
    assert (in_lateral.numpy()[~counts] == 0).all() and (in_lateral.numpy()[counts] != 0).all()
    draws, twins = (
        Autoregressive(*tensors([b, part], tf.float32), ordering).experimental_sample_and_log_prob(50, seed=3)
        for part in (lateral, other)
    )
    for a, same in zip(draws, twins):
        np.testing.assert_array_equal(a, same)


def test_float32_and_data_of_other_types():
    operands = random_operands()
    want = exact(*operands, ORDER)[0]
    distribution = Autoregressive(*tensors(operands[1:], tf.float32), ordering=ORDER)
    for y in (operands[0], operands[0].astype(np.uint8), operands[0].astype(int).tolist()):
        value = distribution.log_prob(y)
        assert value.dtype == tf.float32
        np.testing.assert_allclose(value, want, rtol=1e-5)


def test_jit_changes_nothing():
    operands = tensors(random_operands((4, 6), (3, 1, 6)), tf.float32)
    upstream = random_upstream(operands[:2]).astype(np.float32)

    def compute(*operands):
        distribution = Autoregressive(*operands[1:], ordering=ORDER)
        draws = distribution.experimental_sample_and_log_prob(2, seed=tf.constant([1, 2]))
        return *value_and_gradients(list(operands), upstream, ORDER), draws

    for a, b in zip(
        tf.nest.flatten(tf.function(compute, jit_compile=True)(*operands)), tf.nest.flatten(compute(*operands))
    ):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5)


def test_a_permuted_problem_is_the_natural_one():
    y, b, lateral = operands = random_operands()
    value = Autoregressive(*tensors([b, lateral]), ordering=ORDER).log_prob(y)
    natural = Autoregressive(*tensors([b[ORDER], lateral[ORDER][:, ORDER]])).log_prob(y[:, ORDER])
    np.testing.assert_allclose(value, natural, rtol=1e-12)
    assert np.abs(value - exact(*operands)[0]).min() > 1e-3, "the order makes no difference"


@pytest.mark.parametrize("ordering", [None, ORDER])
def test_the_law_sums_to_one(ordering):
    _, b, lateral = random_operands(scale=2.0)
    log_p = Autoregressive(*tensors([b, lateral]), ordering=ordering).log_prob(binary_states(6))
    np.testing.assert_allclose(np.exp(log_p).sum(), 1.0, rtol=1e-12)


@pytest.mark.parametrize("ordering", [None, ORDER])
@pytest.mark.parametrize("shapes", [SHAPES[1], SHAPES[5]])
def test_conditional_logits(shapes, ordering):
    operands = random_operands(*shapes)
    got = Autoregressive(*tensors(operands[1:]), ordering=ordering).conditional_logits(operands[0])
    want = exact(*operands, ordering)[1]
    assert got.shape == want.shape
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-14)


def test_many_units():
    """300 units in float32: the value to 1e-5, each gradient to 1e-5 of its largest entry."""
    operands = random_operands((4, 300), (300,), scale=0.1)
    upstream = random_upstream(operands[:2])
    value, gradients = value_and_gradients(tensors(operands, tf.float32), upstream.astype(np.float32))
    np.testing.assert_allclose(value, exact(*operands)[0], rtol=1e-5)
    for got, want in zip(gradients, exact_gradients(*operands, upstream)):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-5 * np.abs(want).max())


# ---- draws


@pytest.mark.parametrize("ordering", [None, [2, 0, 3, 1]])
def test_draws_follow_the_law(ordering):
    """Chi-square over all values of two laws, false failures at most 1e-6."""
    _, b, lateral = random_operands((4,), (2, 4), scale=1.5)
    distribution = Autoregressive(*tensors([b, lateral], tf.float32), ordering=ordering)
    draws, log_prob = distribution.experimental_sample_and_log_prob(2**15, seed=5)
    values = binary_states(4)
    for row, logits in enumerate(b):
        p = np.exp(exact(values, logits, lateral, ordering)[0])
        assert_frequencies(np.bincount(state_numbers(draws[:, row]), minlength=16), p)
    np.testing.assert_allclose(log_prob, distribution.log_prob(draws), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_draws_and_their_log_probabilities_have_their_shapes(dtype):
    _, *parameters = random_operands((6,), (3, 2, 6))
    distribution = Autoregressive(*tensors(parameters, dtype), ordering=ORDER)
    assert distribution.batch_shape == (3, 2) and distribution.event_shape == (6,)
    for sample_shape in ((), (4,), (2, 0), (4, 2)):
        draws = distribution.sample(sample_shape, seed=tf.constant([1, 2]))
        twins, log_prob = distribution.experimental_sample_and_log_prob(sample_shape, seed=tf.constant([1, 2]))
        assert draws.shape == (*sample_shape, 3, 2, 6) and draws.dtype == dtype
        np.testing.assert_array_equal(draws, twins)
        np.testing.assert_allclose(log_prob, distribution.log_prob(draws), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("ordering", [[0, 1], [0, 1, 2, 3, 4, 4], "natural"])
def test_the_order_is_checked(ordering):
    with pytest.raises(ValueError, match="Received: ordering="):
        Autoregressive(*random_operands()[1:], ordering=ordering)


def test_shapes_must_fit():
    with pytest.raises(ValueError, match="^lateral is of the shape.*Received: "):
        ds.distributions.AutoregressiveBernoulli(tf.zeros([4]), tf.zeros([3, 3]))

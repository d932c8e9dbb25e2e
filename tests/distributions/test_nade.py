"""NADE against its definition, unit by unit in NumPy and float64, and its gradients against a derivation that holds all
hidden layers at once, which complex steps of the definition confirm."""

import functools
import os
import re
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_frequencies
from tests.distributions import support
from tests.distributions.support import random_upstream, summed_to, tensors
from tests.oracles import binary_states, state_numbers
from tfdsmcmc._common import compiling
from tfdsmcmc.distributions import nade

NADE = ds.distributions.NADE
ORDER = [3, 0, 5, 1, 4, 2]
SHAPES = [  # of x, b and c, for six units and five hidden units
    ((6,), (6,), (5,)),
    ((4, 6), (6,), (5,)),
    ((4, 6), (4, 6), (4, 5)),
    ((4, 6), (3, 4, 6), (3, 4, 5)),
    ((3, 4, 6), (4, 6), (4, 5)),
    ((3, 4, 6), (6,), (4, 5)),
    ((6, 1, 6), (3, 6), (3, 5)),
    ((6,), (2, 6), (3, 1, 5)),
    ((4, 6), (1, 6), (4, 5)),
    ((0, 6), (6,), (5,)),
]


def blocks_of(monkeypatch, rows, forward_rows=3, hidden_units=5):
    """Rows are worked off so many at a time."""
    monkeypatch.setattr(nade, "_BLOCK", rows * hidden_units)
    monkeypatch.setattr(nade, "_FORWARD_BLOCK", forward_rows * hidden_units)


def sigmoid(logits):
    """That of complex numbers too."""
    return 1 / (1 + np.exp(-logits))


def random_operands(x_shape=(4, 6), b_shape=(6,), c_shape=(5,), scale=0.8):
    """(x, b, c, W, V), float64, asymmetric; the last two of the scale times a standard normal."""
    rng = np.random.default_rng(0)
    units, hidden = x_shape[-1], c_shape[-1]
    x = rng.integers(0, 2, x_shape).astype(np.float64)
    b, c = rng.normal(0.3, 0.8, b_shape), rng.normal(-0.2, 0.8, c_shape)
    return [x, b, c, *rng.normal(0.1, scale, (2, units, hidden))]


def exact(x, b, c, w, v, ordering=None):
    """log p(x) and the logits of the units, by definition."""
    order = range(x.shape[-1]) if ordering is None else ordering
    total, hidden, logits = 0.0, c, {}
    for i in order:
        logits[i] = b[..., i] + sigmoid(hidden) @ v[i]
        total = total + x[..., i] * logits[i] - np.log(1 + np.exp(logits[i]))
        hidden = hidden + x[..., i, None] * w[i]
    return total, np.stack(np.broadcast_arrays(*(logits[i] for i in sorted(order))), -1)


def exact_gradients(x, b, c, w, v, upstream, ordering=None):
    """Gradients of Σ upstream · log p(x) in x, b, c, W and V, from all a_i side by side."""
    shapes = [part.shape for part in (x, b, c)]
    order = np.arange(x.shape[-1]) if ordering is None else np.array(ordering)
    x, b = (np.broadcast_to(part, (*upstream.shape, len(order)))[..., order] for part in (x, b))
    w, v, upstream = w[order], v[order], upstream[..., None]
    terms = x[..., None] * w
    hidden = sigmoid(c[..., None, :] + np.cumsum(terms, -2) - terms)
    logits = b + (hidden * v).sum(-1)
    residual = (upstream * (x - sigmoid(logits)))[..., None]
    below = residual * v * hidden * (1 - hidden)  # of the a_i one by one
    later = np.cumsum(below[..., ::-1, :], -2)[..., ::-1, :] - below
    in_x = upstream * logits + (later * w).sum(-1)
    rows = tuple(range(x.ndim - 1))
    in_w, in_v = (x[..., None] * later).sum(rows), (residual * hidden).sum(rows)
    place = np.argsort(order)
    in_x, in_b = in_x[..., place], residual[..., place, 0]
    leading = [summed_to(part, shape) for part, shape in zip((in_x, in_b, below.sum(-2)), shapes)]
    return [*leading, in_w[place], in_v[place]]


def value_and_gradients(operands, upstream, ordering=None):
    """What the package has to say, from operands that are tensors."""
    return support.value_and_gradients(functools.partial(NADE, ordering=ordering), operands, upstream)


# ---- the log-probability and its gradients


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


@pytest.mark.parametrize("rows", [1, 8, 9, 13])
def test_blocks_of_rows_change_nothing(rows, monkeypatch):
    """Blocks of four of the 2 · rows at most, fewer, whole and not, beside one of all; x and the parameters broadcast,
    and the number of rows may be unknown when the program is made."""
    operands = random_operands((rows, 6), (2, 1, 6), (2, rows, 5))
    upstream = random_upstream(operands[:3])
    want = value_and_gradients(tensors(operands), upstream)
    blocks_of(monkeypatch, 4)
    late = [tf.TensorSpec([None] * (part.ndim - 1) + [part.shape[-1]], tf.float64) for part in operands[:3]]
    known = [tf.TensorSpec(part.shape, tf.float64) for part in operands[3:]]
    whole = tf.TensorSpec([None, None], tf.float64)
    unknown = tf.function(lambda u, *parts: value_and_gradients(list(parts), u), input_signature=[whole, *late, *known])
    for got in (value_and_gradients(tensors(operands), upstream), unknown(upstream, *tensors(operands))):
        for a, b in zip(tf.nest.flatten(got), tf.nest.flatten(want)):
            assert a.shape == b.shape
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("devices", "jit_compile", "forward", "backward"),
    [([], True, 1, 2), ([], False, 2, 2), ([], None, 2, 2), (["GPU:0"], True, 4, 4), (["GPU:0"], None, 4, 4)],
)
def test_each_pass_has_its_blocks_and_none_on_a_gpu(devices, jit_compile, forward, backward, monkeypatch):
    """Small ones only where XLA compiles the forward pass; by operations one after the other, each of them runs."""
    operands, sizes = tensors(random_operands()), {}  # four rows

    def counted(name):
        function = getattr(nade, name)

        def counting(x, *parts):
            sizes.setdefault(name, []).append(x.shape[0])
            return function(x, *parts)

        monkeypatch.setattr(nade, name, counting)

    counted("_forward_rows")
    counted("_backward_rows")
    blocks_of(monkeypatch, 2, forward_rows=1)
    monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind: devices)
    upstream = random_upstream(operands[:3])
    if jit_compile is None:
        value_and_gradients(operands, upstream)
        assert sizes == {"_forward_rows": [forward] * (4 // forward), "_backward_rows": [backward] * (4 // backward)}
    else:
        compiling.program(lambda *parts: value_and_gradients(list(parts), upstream), jit_compile)(*operands)
        found = {name: set(of_pass) for name, of_pass in sizes.items()}
        assert found == {"_forward_rows": {forward}, "_backward_rows": {backward}}


@pytest.mark.compiled
def test_compiled_blocks_change_nothing(monkeypatch):
    operands = tensors(random_operands((9, 6), (2, 1, 6), (2, 9, 5)), tf.float32)
    upstream = random_upstream(operands[:3]).astype(np.float32)
    want = value_and_gradients(operands, upstream)
    blocks_of(monkeypatch, 4)
    compiled = compiling.program(lambda *parts: value_and_gradients(list(parts), upstream), True)
    for a, b in zip(tf.nest.flatten(compiled(*operands)), tf.nest.flatten(want)):
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


def test_a_long_chain():
    """D = 300 in float32. The backward pass takes the 300 terms of a_i off again; what that leaves of rounding is at
    most 3e-5 of the largest entry of each gradient, and of the value 1e-5."""
    operands = random_operands((4, 300), (300,), (20,), scale=0.3)
    upstream = random_upstream(operands[:3])
    value, gradients = value_and_gradients(tensors(operands, tf.float32), upstream.astype(np.float32))
    np.testing.assert_allclose(value, exact(*operands)[0], rtol=1e-5)
    for got, want in zip(gradients, exact_gradients(*operands, upstream)):
        np.testing.assert_allclose(got, want, rtol=0, atol=3e-5 * np.abs(want).max())


@pytest.mark.parametrize("far", [20.0, 66.0, 100.0, 330.0])
def test_single_weights_of_any_size(far):
    """One that takes a hidden unit from −far to ½, in float32: log p is that of σ(½), and a gradient is one."""
    c, w, v = np.array([0.5 - far]), np.array([[far], [0.1], [0.1]]), np.array([[0.3], [-1.0], [2.0]])
    operands = [np.ones((1, 3)), np.zeros(3), c, w, v]
    value, gradients = value_and_gradients(tensors(operands, tf.float32), np.ones(1, np.float32))
    np.testing.assert_allclose(value, exact(*operands)[0], rtol=3e-5)
    for got, want in zip(gradients, exact_gradients(*operands, np.ones(1))):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-4 * max(1, np.abs(want).max()))


def test_no_weight_makes_an_undefined_number():
    operands = random_operands((4, 6), (6,), (5,), scale=600.0)
    value, gradients = value_and_gradients(tensors(operands, tf.float32), np.ones(4, np.float32))
    assert np.isfinite(value).all() and all(np.isfinite(part).all() for part in gradients)


def test_hidden_units_come_back_from_far_away():
    """Float32. The first half of the units takes each a_i to ±150, where its sigmoid is 0 or 1, the others back."""
    x, b, c, w, v = random_operands((3, 60), (60,), (20,), scale=0.3)
    far = np.where(np.arange(20) % 2, 5.0, -5.0) * np.where(np.arange(60) < 30, 1.0, -1.0)[:, None]
    x = np.concatenate([x, np.ones((1, 60))])
    operands = [x, b, c, w + far, v]
    hidden = np.cumsum(x[..., None] * operands[3], -2)
    assert np.abs(hidden).max() > 140 and np.abs(hidden[-1, -1]).max() < 20
    upstream = random_upstream(operands[:3])
    value, gradients = value_and_gradients(tensors(operands, tf.float32), upstream.astype(np.float32))
    np.testing.assert_allclose(value, exact(*operands)[0], rtol=1e-5)
    for got, want in zip(gradients, exact_gradients(*operands, upstream)):
        np.testing.assert_allclose(got, want, rtol=0, atol=3e-5 * np.abs(want).max())


# ---- draws


def test_draws_are_the_same_in_blocks(monkeypatch):
    """Three of each of 2 · 9 rows, four at a time."""
    _, *parameters = tensors(random_operands((9, 6), (2, 1, 6), (2, 9, 5)))
    whole = NADE(*parameters).experimental_sample_and_log_prob(3, seed=tf.constant([1, 2]))
    blocks_of(monkeypatch, 4)
    blocks = NADE(*parameters).experimental_sample_and_log_prob(3, seed=tf.constant([1, 2]))
    np.testing.assert_array_equal(blocks[0], whole[0])
    np.testing.assert_allclose(blocks[1], whole[1], rtol=1e-12)


@pytest.mark.parametrize("ordering", [None, [2, 0, 3, 1]])
def test_draws_follow_the_law(ordering):
    """Chi-square over all values of two laws, false failures at most 1e-6."""
    _, *parameters = random_operands((4,), (2, 4), (2, 3), scale=1.5)
    distribution = NADE(*tensors(parameters, tf.float32), ordering=ordering)
    draws, log_prob = distribution.experimental_sample_and_log_prob(2**15, seed=5)
    values = binary_states(4)
    for row, (b, c) in enumerate(zip(*parameters[:2])):
        p = np.exp(exact(values, b, c, *parameters[2:], ordering)[0])
        assert_frequencies(np.bincount(state_numbers(draws[:, row]), minlength=16), p)
    np.testing.assert_allclose(log_prob, distribution.log_prob(draws), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("dtype", [tf.float32, tf.float64])
def test_draws_and_their_log_probabilities_have_their_shapes(dtype):
    _, *parameters = random_operands((6,), (2, 6), (3, 1, 5))
    distribution = NADE(*tensors(parameters, dtype), ordering=ORDER)
    assert distribution.batch_shape == (3, 2) and distribution.event_shape == (6,)
    for sample_shape in ((), (4,), (2, 0), (4, 2)):
        draws = distribution.sample(sample_shape, seed=tf.constant([1, 2]))
        twins, log_prob = distribution.experimental_sample_and_log_prob(sample_shape, seed=tf.constant([1, 2]))
        assert draws.shape == (*sample_shape, 3, 2, 6) and draws.dtype == dtype
        np.testing.assert_array_equal(draws, twins)
        np.testing.assert_allclose(log_prob, distribution.log_prob(draws), rtol=1e-5)


@pytest.mark.parametrize("ordering", [[0, 1], [0, 1, 2, 3, 4, 4], "natural"])
def test_the_order_is_checked(ordering):
    with pytest.raises(ValueError, match="Received: ordering="):
        NADE(*random_operands()[1:], ordering=ordering)


# ---- memory

PROGRAM = """
import tensorflow as tf
import tfdsmcmc as ds
from tfdsmcmc._common import compiling

def gradients(*operands):
    with tf.GradientTape() as tape:
        tape.watch(operands)
        total = tf.reduce_sum(ds.distributions.NADE(*operands[1:]).log_prob(operands[0]))
    return tape.gradient(total, operands)

shapes = [500, 784], [784], [200], [784, 200], [784, 200]
compiling.program(gradients, True)(*map(tf.zeros, shapes))
"""


@pytest.mark.slow
def test_the_compiled_gradient_holds_one_hidden_layer_at_a_time(tmp_path):
    """XLA's own account of the buffers, operands and results included, at 784 units of 200 hidden ones and 500 rows:
    all hidden layers together would be 314 MB."""
    environment = {**os.environ, "XLA_FLAGS": f"--xla_dump_to={tmp_path} --xla_dump_hlo_as_text"}
    subprocess.run([sys.executable, "-c", PROGRAM], env=environment, check=True)
    reports = [path.read_text() for path in tmp_path.glob("*memory-usage-report.txt")]
    used = [int(re.search(r"Total bytes used: (\d+)", report)[1]) for report in reports]
    assert max(used) > 4 * 2 * (500 * 784 + 2 * 784 * 200), "XLA has left something out"
    assert max(used) < 100e6, used


def test_shapes_must_fit():
    with pytest.raises(ValueError, match="^encoder and decoder are of the shape.*Received: "):
        ds.distributions.NADE(tf.zeros([4]), tf.zeros([2]), tf.zeros([3, 2]), tf.zeros([3, 2]))

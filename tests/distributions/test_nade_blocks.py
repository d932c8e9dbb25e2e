"""NADE in blocks of rows: the same numbers, in less memory."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
import tensorflow as tf

from tests.distributions.nade_by_definition import NADE, random_operands, value_and_gradients
from tests.distributions.support import random_upstream, tensors
from tfdsmcmc._common import compiling
from tfdsmcmc.distributions import nade


def blocks_of(monkeypatch, rows, forward_rows=3, hidden_units=5):
    """Rows are worked off so many at a time."""
    monkeypatch.setattr(nade, "_BLOCK", rows * hidden_units)
    monkeypatch.setattr(nade, "_FORWARD_BLOCK", forward_rows * hidden_units)


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


def test_draws_are_the_same_in_blocks(monkeypatch):
    """Three of each of 2 · 9 rows, four at a time."""
    _, *parameters = tensors(random_operands((9, 6), (2, 1, 6), (2, 9, 5)))
    whole = NADE(*parameters).experimental_sample_and_log_prob(3, seed=tf.constant([1, 2]))
    blocks_of(monkeypatch, 4)
    blocks = NADE(*parameters).experimental_sample_and_log_prob(3, seed=tf.constant([1, 2]))
    np.testing.assert_array_equal(blocks[0], whole[0])
    np.testing.assert_allclose(blocks[1], whole[1], rtol=1e-12)


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

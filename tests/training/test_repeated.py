"""Several turns of a function in a loop are those turns one after the other."""

import collections

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc.training.steps.repeated import repeated

Pair = collections.namedtuple("Pair", "total other")


@pytest.mark.parametrize("count", [1, 2, 5])
@pytest.mark.parametrize("jit_compile", [None, False, True])  # eagerly, traced, compiled
def test_turns_are_taken_in_order(count, jit_compile):
    variable = tf.Variable(1.0)

    def turn(i, so_far):
        (total, _), _ = so_far
        variable.assign(variable * 2.0 + tf.cast(i, tf.float32))
        return Pair(total * 10 + tf.cast(i, tf.int64), None), [variable + 0.0]

    def program(start):
        return repeated(turn, count, (Pair(start, None), None))

    program = program if jit_compile is None else tf.function(program, jit_compile=jit_compile)
    (total, other), (value,) = program(tf.constant(7, tf.int64))
    digits, expected = 7, 1.0
    for i in range(count):
        digits, expected = digits * 10 + i, expected * 2 + i
    assert int(total) == digits and other is None
    assert float(value) == float(variable) == expected


def test_a_program_does_not_grow_with_the_turns():
    def operations(count):
        traced = tf.function(lambda x: repeated(lambda i, x: tf.sin(x), count, x)).get_concrete_function(np.float32(1))
        return len(traced.graph.as_graph_def().node)

    assert operations(3) == operations(30)

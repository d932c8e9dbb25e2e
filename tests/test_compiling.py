"""Who is told, while it is traced, whether XLA compiles it or operation after operation runs."""

import functools

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc._common import compiling

ONE = tf.TensorSpec([])


@pytest.fixture
def told():
    """What `by_xla` and `by_operations` told wherever a computation asked."""
    return {}


@pytest.fixture
def computation(told):
    """The derivative of (2x)² by a gradient of its own, within a loop of one turn; each part asks."""

    def ask(part):
        told.setdefault(part, set()).add((compiling.by_xla(), compiling.by_operations()))

    @tf.custom_gradient
    def square(x):
        def gradient(upstream):
            ask("gradient")
            return upstream * 2.0 * x

        ask("value")
        return x * x, gradient

    def turn(i, x):
        ask("loop")
        return i + 1, square(2.0 * x)

    def derivative(x):
        ask("function")
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda i, _: i < 1, turn, (0, x), maximum_iterations=1)[1]
        return tape.gradient(y, x)

    return derivative


@pytest.mark.parametrize(
    ("made", "by_xla", "by_operations"),
    [
        (lambda f: f, False, True),
        (tf.function, False, False),  # of what users trace nothing is known
        (functools.partial(tf.function, jit_compile=True), False, False),
        (lambda f: compiling.program(f, False), False, True),
        (lambda f: compiling.program(f, True), True, False),
        (lambda f: compiling.program(compiling.program(f, True), False), True, False),
        (lambda f: compiling.program(compiling.program(f, False), True), True, False),
        (lambda f: compiling.program(tf.function(f), True), True, False),
        (lambda f: tf.function(compiling.program(f, True)), True, False),
        (lambda f: compiling.program(f, True).get_concrete_function(ONE), True, False),
        (lambda f: compiling.program(f, False).get_concrete_function(ONE), False, True),
        (lambda f: tf.function(compiling.telling(f, False)), False, True),
        (lambda f: compiling.program(compiling.telling(f, False), True), True, False),
    ],
)
def test_every_part_is_told(made, by_xla, by_operations, computation, told):
    assert float(made(computation)(tf.constant(3.0))) == 24.0  # 8x
    assert told == dict.fromkeys(("function", "loop", "value", "gradient"), {(by_xla, by_operations)})


def test_afterwards_nobody_is_told():
    def fails(x):
        raise RuntimeError("while traced")

    compiling.program(lambda x: x + 1.0, True)(tf.constant(1.0))
    assert not compiling.by_xla()
    with pytest.raises(RuntimeError, match="while traced"):
        compiling.program(fails, True)(tf.constant(1.0))
    assert not compiling.by_xla()


def test_a_program_takes_what_its_function_takes():
    class Line:
        def at(self, x, slope=2.0, *, shift):
            return slope * x + shift

    x = tf.range(3.0)
    for function in (Line().at, functools.partial(Line().at, slope=2.0)):
        for jit_compile in (False, True):
            program = compiling.program(function, jit_compile)
            np.testing.assert_array_equal(program(x, shift=tf.constant(1.0)), [1.0, 3.0, 5.0])
    with pytest.raises(TypeError):
        program(x)


def test_one_call_written_in_two_ways_is_one_trace():
    """TensorFlow sees the signature of the function, not that of what stands around it."""
    program = compiling.program(lambda x, n=2: n * x, False)
    for _ in range(2):
        assert float(program(tf.constant(2.0), 3)) == float(program(tf.constant(2.0), n=3)) == 6.0
    assert program.experimental_get_tracing_count() == 1

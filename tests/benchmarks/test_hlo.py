"""What a program does, counted from its text, against programs whose products and arrays are counted by hand."""

import tensorflow as tf

from benchmarks.hlo import Program

ROWS, WIDTH, UNITS, TIMES = 100, 50, 20, 10


def program_of(function, *arguments):
    compiled = tf.function(function, jit_compile=True).experimental_get_compiler_ir(*arguments)
    return Program(compiled("optimized_hlo"))


def test_products_in_a_loop_count_as_often_as_it_runs():
    def looped(x, w):
        def body(i, w):
            return i + 1, w + 1e-3 * tf.matmul(x, tf.tanh(tf.matmul(x, w)), transpose_a=True)

        return tf.while_loop(lambda i, _: i < TIMES, body, (0, w))[1]

    found = program_of(looped, tf.zeros([ROWS, WIDTH]), tf.zeros([WIDTH, UNITS]))
    assert found.costs().operations == TIMES * 2 * (2 * ROWS * WIDTH * UNITS)
    # x and w, and the product; tanh of it; x and that, and the gradient; w, the gradient and the new w
    x, w, h = 4 * ROWS * WIDTH, 4 * WIDTH * UNITS, 4 * ROWS * UNITS
    once = (x + w + h) + 2 * h + (x + h + w) + 3 * w
    assert TIMES * once <= found.costs().bytes <= 1.02 * TIMES * once
    assert found.transfers() == 0


def test_of_what_is_sliced_the_slice_counts():
    data, start = tf.zeros([1000, 64]), tf.constant(3)
    found = program_of(lambda x, i: tf.reduce_sum(tf.nn.relu(x[i : i + 10]), 1), data, start)
    assert found.costs().bytes < 4 * 64 * 10 * 4 < 4 * 1000 * 64


def test_of_what_is_updated_the_update_counts():
    def written(x, i):
        def body(j, x):
            return j + 1, tf.tensor_scatter_nd_update(x, [[i]], [x[j] + 1.0])

        return tf.while_loop(lambda j, _: j < TIMES, body, (0, x))[1]

    x = tf.zeros([4096])
    once_and_out = 2 * 4 * 4096  # the argument is copied
    assert program_of(written, x, tf.constant(3)).costs().bytes < once_and_out + 1000 * TIMES


def test_of_branches_the_dearer_counts():
    def chosen(flag, x):
        return tf.cond(flag, lambda: tf.matmul(x, x), lambda: tf.matmul(x, tf.matmul(x, x)))

    found = program_of(chosen, tf.constant(True), tf.ones([32, 32]))
    assert found.costs().operations == 2 * 2 * 32**3


def test_a_transfer_is_seen():
    text = """HloModule m
ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %t = token[] after-all()
  %sent = token[] outfeed(%x, %t), outfeed_shape=f32[4]{0}
  ROOT %y = f32[4]{0} add(%x, %x)
}
"""
    assert Program(text).transfers() == 1


def test_a_product_that_a_library_makes_counts():
    text = """HloModule m
ENTRY %main (a: f32[100,50], b: f32[50,20]) -> f32[100,20] {
  %a = f32[100,50]{1,0} parameter(0)
  %b = f32[50,20]{1,0} parameter(1)
  %c = (f32[100,20]{1,0}, s8[64]{0}) custom-call(%a, %b), custom_call_target="__cublas$gemm", backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["1"],"rhs_contracting_dimensions":["0"]}}}
  ROOT %d = f32[100,20]{1,0} get-tuple-element(%c), index=0
}
"""  # noqa: E501
    assert Program(text).costs().operations == 2 * 100 * 20 * 50


def test_known_numbers_of_passes_are_told():
    def looped(x):
        return tf.while_loop(lambda i, _: i < 7, lambda i, x: (i + 1, tf.sin(x)), (0, x))[1]

    found = program_of(looped, tf.ones([9]))
    assert found.trips() == {7}

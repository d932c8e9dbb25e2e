"""Programs written down for another machine."""

import json
import re

import numpy as np
import pytest
import tensorflow as tf

from benchmarks import portable


def _written(folder):
    count, weights = tf.Variable(0), tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=True)
    def step(x, times, nothing=None):
        for _ in range(times):
            weights.assign_add(x)
        count.assign_add(1)
        return tf.reduce_sum(weights)

    arguments, named = [tf.constant([3.0, 5.0])], {"times": 2, "nothing": None}
    heading = step.experimental_get_compiler_ir(*arguments, **named)("hlo").splitlines()[0]
    (folder / "outputs.txt").write_text(re.search(r"->\((.*?)\)\}", heading)[1])
    portable.save(step, arguments, folder, named, title="a step", passes=2)
    with np.load(folder / "inputs.npz") as stored:
        return json.loads((folder / "program.json").read_text()), [stored[name] for name in sorted(stored)]


def test_variables_travel_as_arguments_and_come_back_as_those_of_the_next_call(tmp_path):
    told, inputs = _written(tmp_path)
    assert told["title"] == "a step" and told["passes"] == 2
    by_place = {argument: output for output, argument in told["handed_on"]}
    variables = [place for place, name in enumerate(told["names"]) if name]
    assert sorted(by_place) == variables == [1, 2]
    kinds = re.findall(r"[a-z]+\d+\[\d*\]", (tmp_path / "outputs.txt").read_text())
    assert kinds[0] == "f32[]" and len(kinds) == 3
    for place, output in by_place.items():
        assert kinds[output] == ("f32[2]" if inputs[place].shape else "s32[]")
    np.testing.assert_array_equal(inputs[0], [3.0, 5.0])
    assert {tuple(np.ravel(inputs[place])) for place in variables} == {(0,), (1.0, 2.0)}


def test_the_program_is_written_as_it_is_before_a_device_is_known(tmp_path):
    _written(tmp_path)
    program = (tmp_path / "program.hlo").read_bytes()
    assert b"fusion" not in program and b"add" in program


def test_what_is_no_variable_cannot_travel(tmp_path):
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([1, 2], [3, 4]), 0)
    with pytest.raises(ValueError, match="tensors and variables alone. Received: "):
        portable.save(tf.function(lambda x: table.lookup(x)), [tf.constant([1])], tmp_path / "program")
    assert not (tmp_path / "program").exists()


def test_every_program_is_one_of_the_roofline():
    from benchmarks.roofline import PROGRAMS

    assert {title for title, _ in portable.SIZES.values()} == set(PROGRAMS)

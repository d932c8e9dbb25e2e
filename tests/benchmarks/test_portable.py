"""Programs written down for another machine, and the page of what was measured there."""

import json
import pathlib
import re

import numpy as np
import tensorflow as tf

from benchmarks import gpu_page, portable
from experiments.common.marked_page import markers

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "how_to" / "gpu.md"


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
    portable.save(step, [tf.constant([3.0, 5.0])], folder, {"times": 2, "nothing": None}, title="a step", passes=2)
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


def test_every_program_is_one_of_the_roofline():
    from benchmarks.roofline import PROGRAMS

    assert {title for title, _ in portable.SIZES.values()} == set(PROGRAMS)


def test_the_page_says_what_is_on_record():
    begin, end = markers("benchmarks.gpu_page")
    lines = [json.loads(line) for line in gpu_page.RECORD.read_text(encoding="utf-8").splitlines()]
    shown = PAGE.read_text(encoding="utf-8").split(begin)[1].split(end)[0]
    assert shown.strip() == gpu_page.page(lines).strip()


def test_ratios_are_of_programs_of_one_turn():
    cpu = [("hand_written", 1, 2.0), ("hand_written", 2, 4.0), ("step_100", 2, 2.0), ("step_100", 1, 3.0)]
    lines = [{"kind": "cpu", "name": name, "turn": turn, "ms": ms, "rows": 100} for name, turn, ms in cpu]
    gpu = {"kind": "gpu", "title": "a step", "share": 0.5, "transfers": 0}
    lines += [{**gpu, "name": f"step_{rows}", "rows": rows, "ms": ms} for rows, ms in ((100, 0.5), (10_000, 4.0))]
    made = gpu_page.page([{"kind": "device", "device": "D", "bytes": 1e12}, *lines])
    assert re.search(r"takes 0\.50 ms, 5 times less", made) and "take 8 times as long" in made
    assert "In turn the ratios on processors were 1.50, 0.50." in made

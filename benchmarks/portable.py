"""Programs of `roofline` written down, for a machine that has JAX and no TensorFlow.

    python -m benchmarks.portable FOLDER [NAME …]   here
    python benchmarks/under_jax.py FOLDER           there, from a folder that holds `benchmarks`
    python -m experiments.gpu                       docs/gpu.jsonl, where its lines are kept, as a page

What is written is the program that TensorFlow hands to XLA, before XLA optimizes it for a device, with the arguments
of a call. Variables travel as arguments; what the program assigns to them is handed to the next call. So figures from
there are those of our programs on that device, without TensorFlow's share of a call.

    FOLDER/NAME/program.hlo     the program, serialized
    FOLDER/NAME/inputs.npz      its arguments, in order
    FOLDER/NAME/program.json    its title and rows, its passes a call, (output, input) pairs that are handed on
"""

import json
import pathlib
import re
import subprocess
import sys

ROWS = (100, 1_000, 10_000)
SIZES = {
    **{f"step_{rows}": ("a step of learning", {"rows": rows}) for rows in ROWS},
    "step_4_chains": ("a step of learning", {"chains": 4}),
    **{f"sweep_{rows}": ("a Gibbs sweep", {"rows": rows}) for rows in ROWS},
    **{f"evaluation_{rows}": ("a chunk of evaluation", {"rows": rows}) for rows in ROWS[:2]},
    "evaluation_100_precise": ("a chunk of evaluation", {"precise": True}),
    **{f"annealing_{rows}": ("a step of annealing", {"rows": rows}) for rows in ROWS[:2]},
    "annealing_100_precise": ("a step of annealing", {"precise": True}),
    **{f"divergence_{rows}": ("a step of CD-1", {"rows": rows}) for rows in ROWS},
}


def save(function, arguments, folder, named=None, **told):
    """Writes a program and its arguments.

    Args:
      function: a `tf.function(jit_compile=True)`, which may read and assign variables.
      arguments: of a call, a list of structures of tensors and arrays.
      folder: where to; made if missing.
      named: arguments by name, such as counts, which are no tensors and part of the program.
      **told: what `program.json` is to say beside the pairs.

    Raises:
      ValueError: for a function that reads resources that are no variables.
    """
    import numpy as np
    import tensorflow as tf

    named = named or {}
    traced = function.get_concrete_function(*arguments, **named)
    variables = {id(variable.handle): variable for variable in traced.graph.variables}
    captured = [variables.get(id(tensor), tensor) for tensor in traced.captured_inputs]
    if unread := [one for one in captured if one.dtype == tf.resource]:
        raise ValueError(f"A program must read tensors and variables alone. Received: {unread}")
    compiled = function.experimental_get_compiler_ir(*arguments, **named)
    heading = compiled(stage="hlo").split("\n", 1)[0]
    alias = re.search(r"input_output_alias=\{(.*?\))\s*\}", heading)
    pairs = re.findall(r"\{(\d*)\}: \((\d+),", alias[1]) if alias else []
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    given = [one for one in tf.nest.flatten(arguments) if one is not None]
    inputs = [one for one in (*given, *captured) if isinstance(one, tf.Variable) or np.size(one)]  # no constants
    np.savez_compressed(folder / "inputs.npz", **{f"{i:05d}": np.asarray(one) for i, one in enumerate(inputs)})
    (folder / "program.hlo").write_bytes(compiled(stage="hlo_serialized"))
    handed_on = [[int(output or 0), int(argument)] for output, argument in pairs]
    names = [one.name if isinstance(one, tf.Variable) else "" for one in inputs]
    (folder / "program.json").write_text(json.dumps({**told, "handed_on": handed_on, "names": names}))


def write(name, folder):
    """Writes one of the programs, from this process."""
    import tensorflow as tf

    from benchmarks.roofline import PROGRAMS, hot_program

    title, sizes = SIZES[name]
    sizes = dict(sizes)
    if sizes.pop("precise", False):
        tf.config.experimental.enable_tensor_float_32_execution(False)
    hot, passes, _ = hot_program(PROGRAMS[title], **sizes)
    arguments, named = hot.arguments
    save(hot.function, arguments, folder, named, title=title, rows=sizes.get("rows", 100), passes=passes)


def main():
    folder, names = pathlib.Path(sys.argv[1]), sys.argv[2:]
    if len(names) == 1:
        return write(names[0], folder / names[0])
    for name in names or SIZES:  # each in a process of its own: what was traced before would be known
        subprocess.run([sys.executable, "-m", "benchmarks.portable", str(folder), name], check=True)
        print(name, flush=True)


if __name__ == "__main__":
    main()

"""A SavedModel beside what it was made from, before anybody can load it."""

from __future__ import annotations

import pathlib
import time

import numpy as np
import tensorflow as tf

from tfdsmcmc.serving.saved_model.examples import example


def round_trip(path, live, specs, units):
    """Loads a SavedModel, compares each signature with the live functions, and times it.

    Args:
      path: folder of the SavedModel.
      live: the functions before they were saved, by name of the plain signatures.
      specs: dictionary of the inputs' `tf.TensorSpec` by name of signature.
      units: D.

    Returns:
      Seconds of a call with two rows, by name; the first call is not timed.

    Raises:
      RuntimeError: where an answer differs.
    """
    loaded, seconds = tf.saved_model.load(str(path)), {}
    for name in specs:
        inputs = {key: tf.constant(value) for key, value in example(specs[name], units).items()}
        served = loaded.signatures[name]
        _compare(name, _expected(name, live, inputs, units), served(**inputs))
        start = time.perf_counter()
        served(**inputs)
        seconds[name] = time.perf_counter() - start
    return seconds


def megabytes(path):
    """The size of a folder in 10⁶ bytes."""
    return sum(file.stat().st_size for file in pathlib.Path(path).rglob("*") if file.is_file()) / 1e6


def _expected(name, live, inputs, units):
    """The answer of the plain live function: to unpacked data, and to each row by itself for a row-wise twin."""
    base = name.removesuffix("_packed").removesuffix("_rows")
    plain = {key: value.numpy() for key, value in inputs.items()}
    if name.endswith("_packed"):
        types = {"x": np.float32, "mask": bool}
        packed = {key: plain[key] for key in types if key in plain}
        plain |= {key: np.unpackbits(v, axis=1, count=units).astype(types[key]) for key, v in packed.items()}
    if "_rows" not in name:
        return live[base](**plain)
    one = {"sample": {"num_samples": 1}, "impute": {"num_imputations": 1}}.get(base, {})
    answers = []
    for i in range(len(plain["seed"])):
        row = {key: value[i : i + 1] if key in ("x", "mask") else value[i] for key, value in plain.items()}
        answers.append(live[base](**row, **one))
    axis = 1 if base == "impute" else 0
    joined = {key: tf.concat([answer[key] for answer in answers], axis) for key in answers[0]}
    return {key: value[0] for key, value in joined.items()} if base == "impute" else joined


def _compare(name, expected, received):
    if set(expected) != set(received):
        raise RuntimeError(f"{name} has the outputs {sorted(expected)}. Received: {sorted(received)}")
    for output, value in expected.items():
        # rounding may differ with the order of sums; draws are zeros and ones, or differ in no more than that
        if not np.allclose(value, received[output], rtol=1e-4, atol=1e-5, equal_nan=True):
            raise RuntimeError(f"{name} gives another {output} when it is loaded. Received: {received[output]}")

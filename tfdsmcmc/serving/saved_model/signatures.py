"""The signatures of a SavedModel.

    log_likelihood    x, num_samples, seed                → value, standard_error, effective_sample_size, each (n,)
    sample            num_samples, seed                   → x (num_samples, D)
    impute            x, mask, num_imputations, seed      → x (num_imputations, n, D)
    encode            x, num_samples, seed                → z_1 (n, H_1), …, z_L (n, H_L), effective_sample_size (n,)
    reconstruct       x, num_samples, seed                → x (n, D)

`NAME_rows` are row-wise twins of the first three, with the rows leading in every input and output: one seed for each
row, one draw for each seed of `sample_rows`, one imputation for each row of `impute_rows`. A row of theirs is computed
by itself, by what the plain signature does with that one row and that seed, so it does not matter what else is in the
batch. `NAME_packed`, for data of zeros and ones, take x and mask as bits. Of a model of rows given a context, all take
`context` besides, (n, C), a row for each of x, or for each draw of `sample`. `serving_default` is `log_likelihood`.
The standard error of one sample is not known: NaN. Of Boltzmann machines, belief networks and mixtures `log_likelihood`
gives shared_standard_error (n,) besides, the part of the standard error that is one error of all rows, that of log Z.

The inputs of signatures, of which in row-wise ones the numbers are (n,) and the seeds (n, 2):

    x                  float32 (n, D), or packed: uint8 (n, ⌈D/8⌉), eight entries a byte as `numpy.packbits` has them
    context            float32 (n, C), what the rows are given
    mask               bool (n, D), True where an entry is observed; or packed likewise
    num_samples        int32
    num_imputations    int32
    seed               int32 (2,), an input, so that a server that reloads repeats no draws unless it is asked to

A graph checks them before it works, and a server answers a bad one with the error of the check, which begins with its
name.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc._common import loops
from tfdsmcmc._common.compiling import telling
from tfdsmcmc.serving.arrays import has_rows

if TYPE_CHECKING:
    from tfdsmcmc.serving.saved_model.functions import Functions

INPUTS: dict[str, list[str]] = {
    "log_likelihood": ["x", "num_samples", "seed"],
    "sample": ["num_samples", "seed"],
    "impute": ["x", "mask", "num_imputations", "seed"],
    "encode": ["x", "num_samples", "seed"],
    "reconstruct": ["x", "num_samples", "seed"],
}
# the row-wise twins, and the input of which each of their rows has one
_ONE = {"log_likelihood": {}, "sample": {"num_samples": 1}, "impute": {"num_imputations": 1}}
ROWS, COUNT = 2, 3  # of an example: its rows, and its counts
_ENTRIES = 2**27  # floats of the largest array that an answer may need at once: 512 MiB


def names(functions: Functions) -> list[str]:
    """The names of the signatures that there can be, `serving_default` apart."""
    found = [*functions.names, *[f"{name}_rows" for name in _ONE]]
    bits = functions.support.bits
    return [*found, *[f"{name}_packed" for name in found if bits and "x" in INPUTS[name.removesuffix("_rows")]]]


def signatures(functions: Functions, chosen: Iterable[str], max_draws: int) -> dict[str, Any]:
    """The chosen signatures as concrete functions, of requests of at most `max_draws` draws of the latents.

    Raises:
      ValueError: for a `max_draws` that small requests would pass.
    """
    inputs = {name: Inputs(name, functions) for name in chosen}
    budgets = {name: (max_draws, *functions.costs(one.plain, one.rowwise)) for name, one in inputs.items()}
    least = max(ROWS * (row + -(-COUNT // chunk) * chunk * each) for _, row, each, chunk in budgets.values())
    if least > max_draws:
        raise ValueError(f"max_draws must be at least {least} for these signatures. Received: max_draws={max_draws}")
    traced = {}  # once for all signatures that call it
    for name in functions.names:
        specs = list(Inputs(name, functions).specs.values())
        traced[name] = tf.function(telling(getattr(functions, name), False), input_signature=specs, autograph=False)
    return {name: _concrete(one, traced[one.plain], budgets[name]) for name, one in inputs.items()}


def _concrete(inputs, function, budget):
    def one_row(row):
        row = {key: value[tf.newaxis] if key in ("x", "mask", "context") else value for key, value in row.items()}
        found = function(**row, **_ONE[inputs.plain])
        return {key: value[0, 0] if inputs.plain == "impute" else value[0] for key, value in found.items()}

    def run(**values):
        values = inputs.checked(values, budget)
        if not inputs.rowwise:
            return function(**values)
        outputs = function.get_concrete_function().structured_outputs
        return loops.map_fn(one_row, values, fn_output_signature=dict.fromkeys(outputs, tf.float32))

    return tf.function(run, autograph=False).get_concrete_function(**inputs.specs)


class Inputs(NamedTuple):
    """What the signature of a name takes, where it calls one of these functions."""

    name: str
    functions: Functions

    @property
    def plain(self) -> str:
        """The name of the function that it calls."""
        return self.name.removesuffix("_packed").removesuffix("_rows")

    @property
    def rowwise(self) -> bool:
        """Whether rows lead in each input."""
        return "_rows" in self.name

    @property
    def packed(self) -> bool:
        """Whether data are bits."""
        return self.name.endswith("_packed")

    @property
    def specs(self) -> dict[str, tf.TensorSpec]:
        """Types and shapes by name."""
        rows = [None] if self.rowwise else []
        width = (self.functions.units + 7) // 8 if self.packed else self.functions.units
        known = {
            "x": ([None, width], tf.uint8 if self.packed else tf.float32),
            "mask": ([None, width], tf.uint8 if self.packed else tf.bool),
            "num_samples": (rows, tf.int32),
            "num_imputations": (rows, tf.int32),
            "seed": ([*rows, 2], tf.int32),
        }
        taken = [name for name in INPUTS[self.plain] if not (self.rowwise and name in _ONE[self.plain])]
        if self.functions.context is not None:
            known["context"] = [None, self.functions.context.units], tf.float32
            taken.append("context")
        return {name: tf.TensorSpec(*known[name], name=name) for name in taken}

    def example(self) -> dict[str, np.ndarray]:
        """Arrays that fit, to try a SavedModel with; packed data are the same data, packed."""
        made = {}
        for name, spec in self._replace(name=self.name.removesuffix("_packed")).specs.items():
            several = COUNT if (self.name, name) == ("sample", "context") else ROWS
            shape = [several if size is None else size for size in spec.shape]
            places = np.arange(np.prod(shape, dtype=int)).reshape(shape)
            value = places + 1 if name == "seed" else np.full(shape, COUNT)
            if name in ("x", "context"):
                support = self.functions.support if name == "x" else self.functions.context.support
                value = support.mode(np.float32(places % 3 == 0))
            if name == "mask":
                value = self.functions.support.whole(places % 2 == 0)
            bits = self.packed and name in ("x", "mask")
            made[name] = np.packbits(value > 0, axis=1) if bits else value.astype(spec.dtype.as_numpy_dtype)
        return made

    def checked(self, values: Mapping[str, tf.Tensor], budget: tuple[int, int, int, int]) -> dict[str, tf.Tensor]:
        """The tensors, each behind its checks; packed data come out as float32 and bool.

        Of a budget (draws, row, each, chunk) of draws of the latents, rows · (row + count · each) is at most `draws`,
        with the count rounded up to a multiple of `chunk`. Where `each` is 0 no count is too large.
        """
        (draws, row, each, chunk), model, specs = budget, self.functions, self.specs
        values = {name: tf.ensure_shape(values[name], spec.shape, name=name) for name, spec in specs.items()}
        bytes_of_x = values.get("x")
        if self.packed:
            types = {name: spec.dtype for name, spec in Inputs(self.plain, model).specs.items()}
            bits = {name: _unpacked(values[name], model.units) for name in ("x", "mask") if name in values}
            values |= {name: tf.cast(unpacked, types[name]) for name, unpacked in bits.items()}
        first, led = next(iter(specs)), self.rowwise or "x" in values
        rows = tf.cast(tf.shape(values[first])[0] if led else 1, tf.int64)
        most = draws // (row + chunk * each)
        if "mask" in values:  # the answer has a row for each
            most = min(most, _ENTRIES // model.units)
        checks = [_require(rows <= most, f"{first} must have at most {most} rows. Received: ", rows)]
        of, count = (first, rows) if led else ("num_samples", tf.cast(values["num_samples"], tf.int64))
        checks += [_same_rows(name, values[name], of, count) for name, spec in specs.items() if has_rows(spec)]
        if "context" in values:
            checks.append(_entries("context", values["context"], None, model.context.support))
        with tf.control_dependencies(checks):
            rows, most = tf.maximum(rows, 1), tf.constant(tf.int32.max, tf.int64)
            if each:
                most = (draws // rows - row) // (chunk * each) * chunk
            if "mask" in values or "x" not in values:  # all that is drawn of a block is held at once, and the answer
                most = tf.minimum(most, _ENTRIES // model.widest // tf.minimum(rows, model.block))
                most = tf.minimum(most, _ENTRIES // model.units // rows)
            those = " for so many rows" if led else ""
            checks = [_counts(name, values[name], most, those) for name in values if name[:4] == "num_"]
            if self.packed:  # of longer rows the rest would go unseen
                checks.append(_none_beyond(bytes_of_x, model.units))
            if "x" in values and not (self.packed and model.support.takes_bits):
                checks.append(_entries("x", values["x"], values.get("mask"), model.support))
        with tf.control_dependencies(checks):
            return {name: tf.identity(value) for name, value in values.items()}


def _same_rows(name, value, first, rows):
    found = tf.cast(tf.shape(value)[0], rows.dtype)
    return _require(found == rows, f"{name} must have as many rows as {first}, ", rows, ". Received: ", found)


def _counts(name, value, most, those):
    fits = (value >= 1) & (tf.cast(value, most.dtype) <= most)
    parts = f"{name} must be between 1 and ", most, f"{those}. Received: ", _first(value, ~fits)
    return _require(tf.reduce_all(fits), *parts)


def _entries(name, x, mask, support):
    good = support.holds(x, mask)
    where = "" if mask is None else " where it is observed"
    return _require(tf.reduce_all(good), f"{name} must be {support.described}{where}. Received: ", _first(x, ~good))


def _none_beyond(packed, units):
    """Refuses rows of bits of which there are some beyond the last unit; `numpy.packbits` leaves zeros there."""
    beyond = packed[:, -1] & tf.constant((1 << -units % 8) - 1, tf.uint8)
    parts = f"x must have {units} units a row, and zeros for bits beyond them. Received: ", _first(beyond, beyond > 0)
    return _require(tf.reduce_all(beyond == 0), *parts)


def _first(values, where):
    """The first of the values at a True; 0 where there is none."""
    here = tf.concat([tf.reshape(tf.cast(where, tf.int32), [-1]), [1]], 0)
    return tf.concat([tf.reshape(values, [-1]), tf.zeros([1], values.dtype)], 0)[tf.argmax(here)]


def _require(condition, *parts):
    """An operation that fails with the parts as its message unless the condition holds."""
    text = tf.strings.join([part if isinstance(part, str) else tf.strings.as_string(part) for part in parts])
    return tf.debugging.Assert(condition, [text])


def _unpacked(packed, units):
    """uint8 (n, ⌈units/8⌉) to uint8 (n, units), the highest bit of a byte first."""
    bits = tf.bitwise.right_shift(packed[..., tf.newaxis], tf.constant([7, 6, 5, 4, 3, 2, 1, 0], tf.uint8)) & 1
    return tf.reshape(bits, [tf.shape(packed)[0], packed.shape[1] * 8])[:, :units]

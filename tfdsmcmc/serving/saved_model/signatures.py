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
The standard error of one sample is not known: NaN.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdsmcmc.serving.saved_model import inputs
from tfdsmcmc.serving.saved_model.functions import ESTIMATE

if TYPE_CHECKING:
    from tfdsmcmc.serving.saved_model.content import Content

INPUTS: dict[str, list[str]] = {
    "log_likelihood": ["x", "num_samples", "seed"],
    "sample": ["num_samples", "seed"],
    "impute": ["x", "mask", "num_imputations", "seed"],
    "encode": ["x", "num_samples", "seed"],
    "reconstruct": ["x", "num_samples", "seed"],
    "log_likelihood_rows": ["x", "num_samples", "seed"],
    "sample_rows": ["seed"],
    "impute_rows": ["x", "mask", "seed"],
}


def names(content: Content) -> list[str]:
    """The names of the signatures that there can be, `serving_default` apart."""
    found = [name for name in INPUTS if _plain(name) in content.names]
    return [*found, *[f"{name}_packed" for name in found if "x" in INPUTS[name] and content.data.support.bits]]


def signatures(content: Content, chosen: Iterable[str], max_draws: int) -> dict[str, Any]:
    """The chosen signatures as concrete functions, of requests of at most `max_draws` draws of the latents.

    Raises:
      ValueError: for a `max_draws` that small requests would pass.
    """
    data = content.data
    budgets = {name: (max_draws, *content.functions.costs(_plain(name))) for name in chosen}
    least = max(inputs.ROWS * (row + inputs.COUNT * each) for _, row, each in budgets.values())
    if least > max_draws:
        raise ValueError(f"max_draws must be at least {least} for these signatures. Received: max_draws={max_draws}")
    functions = {}  # each traced once for all signatures that call it
    for name in content.names:
        specs = list(inputs.specs(_inputs(name, data), data, False, False).values())
        functions[name] = tf.function(getattr(content.functions, name), input_signature=specs, autograph=False)
    return {name: _concrete(name, functions, data, budgets[name]) for name in chosen}


def _plain(name):
    return name.removesuffix("_packed").removesuffix("_rows")


def _inputs(name, data):
    return [*INPUTS[name.removesuffix("_packed")], *(["context"] if data.context is not None else [])]


def _concrete(name, functions, data, budget):
    kind = "_rows" in name, name.endswith("_packed")

    def run(**values):
        values = inputs.checked(values, data, budget, *kind)
        return _row_by_row(_plain(name), functions, values) if kind[0] else functions[_plain(name)](**values)

    return tf.function(run, autograph=False).get_concrete_function(**inputs.specs(_inputs(name, data), data, *kind))


def _row_by_row(name, functions, values):
    """Each row by itself."""

    def one_row(row):
        row = {key: value[tf.newaxis] if key in ("x", "mask", "context") else value for key, value in row.items()}
        row |= {"sample": {"num_samples": 1}, "impute": {"num_imputations": 1}}.get(name, {})
        return {key: value[0, 0] if name == "impute" else value[0] for key, value in functions[name](**row).items()}

    outputs = ESTIMATE if name == "log_likelihood" else ["x"]
    return tf.map_fn(one_row, values, fn_output_signature=dict.fromkeys(outputs, tf.float32))

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
from tfdsmcmc.serving.saved_model.examples import COUNT, ROWS
from tfdsmcmc.serving.saved_model.inputs import Budget

if TYPE_CHECKING:
    from tfdsmcmc.serving.saved_model.content import Content

INPUTS: dict[str, list[str]] = {
    "log_likelihood": ["x", "num_samples", "seed"],
    "sample": ["num_samples", "seed"],
    "impute": ["x", "mask", "num_imputations", "seed"],
    "encode": ["x", "num_samples", "seed"],
    "reconstruct": ["x", "num_samples", "seed"],
}
INPUTS_OF_ROWS: dict[str, list[str]] = {
    "log_likelihood_rows": ["x", "num_samples", "seed"],
    "sample_rows": ["seed"],
    "impute_rows": ["x", "mask", "seed"],
}


def names(plain: Iterable[str], binary: bool) -> list[str]:
    """The names of the signatures that there can be, `serving_default` apart.

    Args:
      plain: names of the plain ones.
      binary: whether data are zeros and ones.
    """
    found = [*plain, *INPUTS_OF_ROWS]
    takes_data = [name for name in found if "x" in {**INPUTS, **INPUTS_OF_ROWS}[name]]
    return [*found, *[f"{name}_packed" for name in takes_data if binary]]


def signatures(content: Content, chosen: Iterable[str], max_draws: int) -> dict[str, Any]:
    """The chosen signatures as concrete functions, a dictionary by name.

    Args:
      content: `Content`.
      chosen: names of them, without `serving_default`.
      max_draws: draws of the latents that a request may ask for.

    Raises:
      ValueError: for a `max_draws` that small requests would pass.
    """
    data = content.data
    budgets = {name: Budget(max_draws, *content.functions.costs(_plain(name))) for name in chosen}
    least = max(ROWS * (budget.row + COUNT * budget.each) for budget in budgets.values())
    if least > max_draws:
        raise ValueError(f"max_draws must be at least {least} for these signatures. Received: max_draws={max_draws}")
    functions = _inner(content, data)
    return {name: _concrete(name, functions, data, budgets[name]) for name in chosen}


def _plain(name):
    return name.removesuffix("_packed").removesuffix("_rows")


def _inputs(name, data):
    found = {**INPUTS, **INPUTS_OF_ROWS}[name.removesuffix("_packed")]
    return found if data.context is None else [*found, "context"]


def _inner(content, data):
    """The plain functions, each traced once for all signatures that call it."""
    found = {}
    for name in content.names:
        signature = list(inputs.specs(_inputs(name, data), data, False, False).values())
        found[name] = tf.function(getattr(content.functions, name), input_signature=signature, autograph=False)
    return found


def _concrete(name, functions, data, budget):
    base, packed = name.removesuffix("_packed"), name.endswith("_packed")
    rowwise = base in INPUTS_OF_ROWS
    specs = inputs.specs(_inputs(name, data), data, rowwise, packed)

    def run(**values):
        values = inputs.checked(values, data, budget, rowwise, packed)
        return _row_by_row(base, functions, values) if rowwise else functions[base](**values)

    return tf.function(run, autograph=False).get_concrete_function(**specs)


def _row_by_row(name, functions, values):
    """Each row by itself."""
    name = _plain(name)

    def one_row(row):
        arguments = {key: value[tf.newaxis] if key in ("x", "mask", "context") else value for key, value in row.items()}
        if name == "sample":
            return {"x": functions[name](num_samples=1, **arguments)["x"][0]}
        if name == "impute":
            return {"x": functions[name](num_imputations=1, **arguments)["x"][0, 0]}
        return {key: value[0] for key, value in functions[name](**arguments).items()}

    outputs = ["value", "standard_error", "effective_sample_size"] if name == "log_likelihood" else ["x"]
    return tf.map_fn(one_row, values, fn_output_signature=dict.fromkeys(outputs, tf.float32))

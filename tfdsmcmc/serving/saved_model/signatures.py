"""The signatures of a SavedModel.

    log_likelihood    x, num_samples, seed                → value, standard_error, effective_sample_size, each (n,)
    sample            num_samples, seed                   → x (num_samples, D)
    impute            x, mask, num_imputations, seed      → x (num_imputations, n, D)
    encode            x, num_samples, seed                → z_1 (n, H_1), …, z_L (n, H_L), effective_sample_size (n,)
    reconstruct       x, num_samples, seed                → x (n, D)

`NAME_rows` are row-wise twins of the first three, with the rows leading in every input and output: one seed for each
row, one draw for each seed of `sample_rows`, one imputation for each row of `impute_rows`. A row of theirs is computed
by itself, by what the plain signature does with that one row and that seed, so it does not matter what else is in the
batch. `NAME_packed`, for binary data, take x and mask as bits. `serving_default` is `log_likelihood`. The standard
error of one sample is not known: NaN.
"""

from __future__ import annotations

import tensorflow as tf

from tfdsmcmc.serving.saved_model import inputs
from tfdsmcmc.serving.saved_model.examples import COUNT, ROWS
from tfdsmcmc.serving.saved_model.functions import Functions
from tfdsmcmc.serving.saved_model.inputs import Budget, Data

INPUTS = {
    "log_likelihood": ["x", "num_samples", "seed"],
    "sample": ["num_samples", "seed"],
    "impute": ["x", "mask", "num_imputations", "seed"],
    "encode": ["x", "num_samples", "seed"],
    "reconstruct": ["x", "num_samples", "seed"],
}
INPUTS_OF_ROWS = {
    "log_likelihood_rows": ["x", "num_samples", "seed"],
    "sample_rows": ["seed"],
    "impute_rows": ["x", "mask", "seed"],
}


def names(generative):
    """The names of the signatures that a generative network can have, `serving_default` apart."""
    plain = [name for name in INPUTS if name != "encode" or generative.latent_units]
    found = [*plain, *INPUTS_OF_ROWS]
    takes_data = [name for name in found if "x" in _inputs(name)]
    return [*found, *[f"{name}_packed" for name in takes_data if generative.binary_data]]


def signatures(model, weights, chosen, sweeps, max_draws, jit):
    """The chosen signatures as concrete functions, a dictionary by name.

    Args:
      model: `DeepGenerativeModel`.
      weights: `Weights`.
      chosen: names of them, without `serving_default`.
      sweeps: of each chain of an imputation.
      max_draws: draws of the latents that a request may ask for.
      jit: whether parts are compiled by XLA.

    Raises:
      ValueError: for a `max_draws` that small requests would pass.
    """
    layers = model.generative.layers
    data = Data(model.generative.units, model.generative.binary_data, max(layer.widest for layer in layers))
    mathematics = Functions(model, weights, sweeps, jit)
    budgets = {name: Budget(max_draws, *mathematics.costs(_plain(name))) for name in chosen}
    least = max(ROWS * (budget.row + COUNT * budget.each) for budget in budgets.values())
    if least > max_draws:
        raise ValueError(f"max_draws must be at least {least} for these signatures. Received: max_draws={max_draws}")
    functions = _inner(mathematics, data)
    return {name: _concrete(name, functions, data, budgets[name]) for name in chosen}


def _plain(name):
    return name.removesuffix("_packed").removesuffix("_rows")


def _inputs(name):
    return {**INPUTS, **INPUTS_OF_ROWS}[name.removesuffix("_packed")]


def _inner(functions, data):
    """The plain functions, each traced once for all signatures that call it."""
    found = {}
    for name, arguments in INPUTS.items():
        signature = list(inputs.specs(arguments, data, False, False).values())
        found[name] = tf.function(getattr(functions, name), input_signature=signature, autograph=False)
    return found


def _concrete(name, functions, data, budget):
    base, packed = name.removesuffix("_packed"), name.endswith("_packed")
    rowwise = base in INPUTS_OF_ROWS
    specs = inputs.specs(_inputs(name), data, rowwise, packed)

    def run(**values):
        values = inputs.checked(values, data, budget, rowwise, packed)
        return _row_by_row(base, functions, values) if rowwise else functions[base](**values)

    return tf.function(run, autograph=False).get_concrete_function(**specs)


def _row_by_row(name, functions, values):
    """Each row by itself."""
    name = _plain(name)

    def one_row(row):
        arguments = {key: value[tf.newaxis] if key in ("x", "mask") else value for key, value in row.items()}
        if name == "sample":
            return {"x": functions[name](num_samples=1, **arguments)["x"][0]}
        if name == "impute":
            return {"x": functions[name](num_imputations=1, **arguments)["x"][0, 0]}
        return {key: value[0] for key, value in functions[name](**arguments).items()}

    outputs = ["value", "standard_error", "effective_sample_size"] if name == "log_likelihood" else ["x"]
    return tf.map_fn(one_row, values, fn_output_signature=dict.fromkeys(outputs, tf.float32))

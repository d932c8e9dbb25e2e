"""Export of Boltzmann machines and deep belief networks to SavedModels, by the conventions of `export`."""

from __future__ import annotations

import math

import tensorflow as tf

from tfdsmcmc import checks
from tfdsmcmc.boltzmann import DBN, RBM
from tfdsmcmc.boltzmann.deep_sweeps import widths_of
from tfdsmcmc.boltzmann.estimates import known_partition
from tfdsmcmc.serving.saved_model import inputs, manifest
from tfdsmcmc.serving.saved_model.examples import COUNT, ROWS
from tfdsmcmc.serving.saved_model.machine_functions import NAMES, MachineFunctions
from tfdsmcmc.serving.saved_model.signatures import INPUTS
from tfdsmcmc.serving.saved_model.writing import free_target, write_version


def export_machines(
    model,
    path,
    version=1,
    log_partition=None,
    overwrite=False,
    data_shape=None,
    figures=None,
    steps=1000,
    max_draws=10_000_000,
    verbose=True,
):
    """Writes PATH/VERSION with the signatures `log_likelihood`, `sample` and `impute` (see `machine_functions`).

    Args:
      model: `boltzmann.RBM` or `boltzmann.DBN`.
      path: the served model's folder.
      version: positive integer.
      log_partition: `LogPartition` of the topmost machine, or log Z as a number; by default exact, where one of its
        layers has at most 25 units. It is stored with its error, in the manifest too.
      overwrite: whether to replace an existing version.
      data_shape: of a row, such as (28, 28); by default (D,).
      figures: dictionary of numbers and words for the manifest.
      steps: Gibbs steps of each chain of `sample` and `impute`.
      max_draws: draws that a request may ask for, of a row or of a chain's states; others are refused.
      verbose: whether to print the size and the time of a call of each signature.

    Returns:
      The version's path, a string.

    Raises:
      ValueError: for an existing version without `overwrite`, an argument out of range, weights that are not finite,
        or where log Z is needed and not given; nothing is written then.
      RuntimeError: where the graph holds what a server refuses, or the loaded model answers otherwise than the live
        one; the version is not put in place then.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds, tempfile
    >>> rbm = ds.boltzmann.RBM(4, 2)
    >>> path = ds.serving.export_machines(rbm, tempfile.mkdtemp() + "/rbm", steps=5, verbose=False)
    >>> served = tf.saved_model.load(path)
    >>> served.signatures["sample"](num_samples=tf.constant(3), seed=tf.constant([0, 1]))["x"].shape
    TensorShape([3, 4])
    """
    if not isinstance(model, (RBM, DBN)):
        raise ValueError(f"model must be an RBM or a DBN. Received: {type(model).__name__}")
    version, steps = checks.positive_integer("version", version), checks.positive_integer("steps", steps)
    max_draws = checks.positive_integer("max_draws", max_draws)
    if ROWS * COUNT * steps > max_draws:
        raise ValueError(f"max_draws must be at least {ROWS * COUNT * steps}. Received: max_draws={max_draws}")
    data_shape = manifest.checked_shape(data_shape, model.units)
    figures = manifest.checked_figures(figures)
    stack = model.stack
    known = known_partition(model.rbms[-1] if isinstance(model, DBN) else model, log_partition)
    target = free_target(path, version, overwrite)
    module = MachineFunctions(stack, known, steps)
    functions = _signatures(module, inputs.Data(model.units, True, max(widths_of(stack.machines))), max_draws)
    contents = manifest.manifest(
        model,
        {"class": type(model).__name__, "machines": [list(machine.kernel.shape) for machine in stack.machines]},
        target.parent.name,
        {"kind": "weights of the model", "samples": 1},
        data_shape,
        functions,
        {"steps": steps, "max_draws": max_draws},
        {
            "log_partition": known.value,
            "log_partition_standard_error": known.standard_error if math.isfinite(known.standard_error) else None,
            "log_partition_direction": known.direction,
            **figures,
        },
    )
    return write_version(target, module, functions, contents, overwrite=overwrite, verbose=verbose)


def _signatures(module, data, max_draws):
    """The signatures as concrete functions, by name."""
    served, live = {}, {}
    for name in NAMES:
        specs = inputs.specs(INPUTS[name], data, False, False)
        live[name] = tf.function(getattr(module, name), input_signature=list(specs.values()), autograph=False)
        budget = inputs.Budget(max_draws, *module.costs(name))

        def run(name=name, budget=budget, **values):
            return live[name](**inputs.checked(values, data, budget, False, False))

        served[name] = tf.function(run, autograph=False).get_concrete_function(**specs)
    return served

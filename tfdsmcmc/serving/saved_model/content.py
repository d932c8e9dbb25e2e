"""What goes into a SavedModel: functions of a model's weights, or of those of a posterior's average, and its manifest.

`assets/manifest.json` says what a SavedModel holds, for people and for programs that show it.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import contract
from tfdsmcmc.posterior.averages import DESCRIBED, parts_of
from tfdsmcmc.serving.saved_model.machines import MachineFunctions, MachineWeights
from tfdsmcmc.serving.saved_model.networks import NetworkFunctions, Weights

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Average
    from tfdsmcmc.boltzmann.partition.estimates import PartitionLike
    from tfdsmcmc.contract import Model
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.serving.saved_model.functions import Functions

_FORMAT = 1  # of the manifest
_STEPS = 1000  # of machines


def functions_of(
    model: Model,
    posterior: Posterior | None,
    average: Average | None,
    sweeps: int | None,
    jit: bool,
    log_partition: PartitionLike | None,
) -> Functions:
    """What is saved; arguments are those of `export`, checked.

    Raises:
      ValueError: for a posterior of another architecture, weights that are not finite, "units" of unequally many draws,
        an undirected model that is to be compiled, or where log Z is needed and not given.
    """
    components = None if posterior is None else posterior.components(model, average, log_partition)
    if components is not None and parts_of(average)[0] == "units" and len(set(components.draws)) > 1:
        words = "Units are averaged for export over equally many draws of each chain: cut them, as by posterior[-10:]"
        raise ValueError(f"{words}. Received: chains of {components.draws} draws")
    if hasattr(model, "generative"):
        model.density(log_partition=log_partition)  # which refuses one
        averaged = model if components is None else components[0].model
        weights = Weights(averaged, None if components is None else [component.weights for component in components])
        return NetworkFunctions(averaged, weights, sweeps, bool(jit))
    if jit:
        raise ValueError(f"jit is of a DeepGenerativeModel. Received: jit={jit!r}, {type(model).__name__}")
    densities = [model.density(None, log_partition)] if components is None else (c.density for c in components)
    return MachineFunctions(model, MachineWeights(densities), sweeps or _STEPS)


def manifest(
    name: str,
    model: Model,
    posterior: Posterior | None,
    average: Average | None,
    functions: Functions,
    signatures: Mapping[str, Any],
    settings: Mapping[str, Any],
    figures: Mapping[str, Any],
    data_shape: list[int],
) -> str:
    """The text, for a model of this name with the signatures, concrete functions; settings and figures are added."""

    def listed(tensors):
        return {key: {"type": t.dtype.name, "shape": t.shape.as_list()} for key, t in tensors.items()}

    found = {
        "format": _FORMAT,
        "name": name,
        "units": functions.units,
        "binary": functions.support.bits,
        "context": functions.context.units if functions.context else 0,
        "model": _parts(model),
        "posterior": _source(posterior, average),
        "settings": {**functions.settings, **settings},
        "figures": {**functions.figures, **figures},
        "signatures": {
            key: {"inputs": listed(f.structured_input_signature[1]), "outputs": listed(f.structured_outputs)}
            for key, f in signatures.items()
        },
        "versions": {part.__name__: part.__version__ for part in (sys.modules["tfdsmcmc"], keras, tf, tfp)},
        "data_shape": data_shape,
    }
    return json.dumps(found, indent=2) + "\n"


def _parts(model):
    """The layers of networks; the class and the shapes of the weights of machines."""
    if not hasattr(model, "generative"):
        weights = [list(variable.shape) for variable in contract.sampled_theta(model)]
        return {"class": type(model).__name__, "weights": weights}
    parts = {
        key: [{"class": type(layer).__name__, "name": layer.name, "units": layer.units} for layer in network.layers]
        for key, network in (("generative", model.generative), ("recognition", model.recognition))
    }
    return {**parts, "latent_units": list(model.generative.latent_units)}


def _source(posterior, average):
    """Where the weights come from."""
    if posterior is None:
        return {"kind": "weights of the model", "samples": 1}
    steps = [int(sample.step) for sample in (posterior.starts if average == "start" else posterior.samples)]
    found = {"kind": DESCRIBED[average], "average": average, "chains": posterior.num_chains, "samples": len(steps)}
    return {**found, "first_step": steps[0], "last_step": steps[-1]}

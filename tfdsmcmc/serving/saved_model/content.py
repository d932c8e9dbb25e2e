"""What goes into a SavedModel: functions of a model's weights, or of those of a posterior's average, and its manifest.

`assets/manifest.json` says what a SavedModel holds, for people and for programs that show it.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import keras
import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc.posterior.averages import DESCRIBED
from tfdsmcmc.serving.saved_model.machines import MachineFunctions, MachineWeights
from tfdsmcmc.serving.saved_model.networks import NetworkFunctions, Weights
from tfdsmcmc.serving.saved_model.signatures import Data

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Average
    from tfdsmcmc.boltzmann.partition.estimates import PartitionLike
    from tfdsmcmc.contract import Model
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.serving.saved_model.functions import Components

_FORMAT = 1  # of the manifest
_SWEEPS, _STEPS = 50, 1000  # of networks, of machines


class Content(NamedTuple):
    """What is saved, and what the manifest says of it."""

    module: Components
    functions: NetworkFunctions | MachineFunctions
    data: Data
    described: dict[str, Any]

    @property
    def names(self) -> list[str]:
        """Of the plain signatures."""
        return self.functions.names

    def manifest(self, name: str, functions: Mapping[str, Any], others: Mapping[str, Any]) -> str:
        """The text, for a model of this name with the signatures, concrete functions; others are of the caller."""
        context, versions = self.data.context, {"tfdsmcmc": sys.modules["tfdsmcmc"].__version__}
        versions |= {module.__name__: module.__version__ for module in (keras, tf, tfp)}

        def listed(tensors):
            return {key: {"type": t.dtype.name, "shape": t.shape.as_list()} for key, t in tensors.items()}

        signatures = {
            key: {"inputs": listed(f.structured_input_signature[1]), "outputs": listed(f.structured_outputs)}
            for key, f in functions.items()
        }
        data = {"units": self.data.units, "binary": self.data.support.bits, "context": context.units if context else 0}
        found = {"format": _FORMAT, "name": name, **data, **self.described}
        found |= {"signatures": signatures, "versions": versions}
        for key, value in others.items():
            found[key] = found[key] | value if key in found else value
        return json.dumps(found, indent=2) + "\n"


def content_of(
    model: Model,
    posterior: Posterior | None,
    average: Average | None,
    sweeps: int | None,
    jit: bool,
    log_partition: PartitionLike | None,
) -> Content:
    """The content; arguments are those of `export`, checked.

    Raises:
      ValueError: for weights that are not finite, an undirected model that is to be compiled, or where log Z is needed
        and not given.
    """
    if posterior is None:
        components, source = None, {"kind": "weights of the model", "samples": 1}
    else:
        components, steps = posterior.components(model, average, log_partition), [s.step for s in posterior.samples]
        source = {"kind": DESCRIBED[average], "average": average, "chains": posterior.num_chains, "samples": len(steps)}
        source |= {"first_step": int(steps[0]), "last_step": int(steps[-1])}
    if hasattr(model, "generative"):
        model.density(log_partition=log_partition)  # which refuses one
        return _of_networks(model, components, source, sweeps or _SWEEPS, bool(jit))
    if jit:
        raise ValueError(f"jit is of a DeepGenerativeModel. Received: jit={jit!r}, {type(model).__name__}")
    densities = [model.density(None, log_partition)] if components is None else (c.density for c in components)
    return _of_machines(model, densities, source, sweeps or _STEPS)


def _of_networks(model, components, source, sweeps, jit):
    averaged = model if components is None else components[0].model
    weights = Weights(averaged, None if components is None else [component.weights for component in components])
    widest = max(layer.widest for layer in averaged.generative.layers)
    data = Data(model.units, model.support, widest, model.generative.context)
    parts = {
        key: [{"class": type(layer).__name__, "name": layer.name, "units": layer.units} for layer in network.layers]
        for key, network in (("generative", model.generative), ("recognition", model.recognition))
    }
    parts["latent_units"] = list(model.generative.latent_units)
    described = {"model": parts, "posterior": source, "settings": {"sweeps": sweeps, "jit": jit}, "figures": {}}
    return Content(weights, NetworkFunctions(averaged, weights, sweeps, jit), data, described)


def _of_machines(model, densities, source, sweeps):
    weights, figures = MachineWeights(densities), {}
    shapes = [list(variable.shape) for variable in model.theta_variables]
    data = Data(model.units, model.support, max(max(shape, default=1) for shape in shapes))
    if weights.count == 1:  # of several components each has a log Z of its own
        known, error = weights.partition, weights.partition.standard_error
        figures = {"log_partition": known.value, "log_partition_direction": known.direction}
        figures["log_partition_standard_error"] = error if math.isfinite(error) else None
    parts = {"class": type(model).__name__, "weights": shapes}
    described = {"model": parts, "posterior": source, "settings": {"sweeps": sweeps}, "figures": figures}
    return Content(weights, MachineFunctions(weights, model.units, sweeps), data, described)

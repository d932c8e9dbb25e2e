"""What goes into a SavedModel: functions of a model's weights, or of those of a posterior's average."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from tfdsmcmc.serving.saved_model.inputs import Data
from tfdsmcmc.serving.saved_model.machines import MachineFunctions, MachineWeights
from tfdsmcmc.serving.saved_model.networks import NetworkFunctions, Weights

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Average
    from tfdsmcmc.boltzmann.partition.estimates import PartitionLike
    from tfdsmcmc.contract import Model
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.serving.saved_model.functions import Components

_KINDS = {
    "draws": "samples of the posterior",
    "weights": "mean of the posterior's samples",
    "units": "samples of the posterior, averaged unit by unit",
    "start": "weights at which the warm start ended",
}
_SWEEPS, _STEPS = 50, 1000  # of networks, of machines


class Content(NamedTuple):
    """What is saved, and what the manifest says of it."""

    module: Components
    functions: NetworkFunctions | MachineFunctions
    names: list[str]  # of the plain signatures
    data: Data
    described: dict[str, Any]


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
        components = posterior.components(model, average, log_partition)
        source = {
            "kind": _KINDS[average],
            "average": average,
            "chains": posterior.num_chains,
            "samples": len(posterior.samples),
            "first_step": int(posterior.samples[0].step),
            "last_step": int(posterior.samples[-1].step),
        }
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
    functions = NetworkFunctions(averaged, weights, sweeps, jit)
    latent, layers = averaged.generative.latent_units, averaged.generative.layers
    names = ["log_likelihood", "sample", "impute", *(["encode"] if latent else []), "reconstruct"]
    data = Data(model.units, model.support, max(layer.widest for layer in layers), model.generative.context)
    parts = {key: _layers(getattr(model, key)) for key in ("generative", "recognition")}
    parts["latent_units"] = list(model.generative.latent_units)
    settings = {"sweeps": sweeps, "jit": jit}
    return Content(weights, functions, names, data, _described(parts, source, settings, {}))


def _of_machines(model, densities, source, sweeps):
    weights = MachineWeights(densities)
    functions, figures = MachineFunctions(weights, model.units, sweeps), {}
    shapes = [list(variable.shape) for variable in model.theta_variables]
    data = Data(model.units, model.support, max(max(shape, default=1) for shape in shapes))
    if weights.count == 1:  # of several components each has a log Z of its own
        known, error = weights.partition, weights.partition.standard_error
        figures = {"log_partition": known.value, "log_partition_direction": known.direction}
        figures["log_partition_standard_error"] = error if math.isfinite(error) else None
    parts, names = {"class": type(model).__name__, "weights": shapes}, ["log_likelihood", "sample", "impute"]
    return Content(weights, functions, names, data, _described(parts, source, {"sweeps": sweeps}, figures))


def _described(parts, source, settings, figures):
    return {"model": parts, "posterior": source, "settings": settings, "figures": figures}


def _layers(network):
    return [{"class": type(layer).__name__, "name": layer.name, "units": layer.units} for layer in network.layers]

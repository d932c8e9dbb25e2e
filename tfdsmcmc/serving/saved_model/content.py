"""What goes into a SavedModel: functions of a model's weights, or of those of a posterior's average."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tfdsmcmc.serving.saved_model import machine_functions
from tfdsmcmc.serving.saved_model.functions import Functions
from tfdsmcmc.serving.saved_model.inputs import Data
from tfdsmcmc.serving.saved_model.machine_functions import MachineFunctions, MachineWeights
from tfdsmcmc.serving.saved_model.manifest import parts_of_networks
from tfdsmcmc.serving.saved_model.signatures import INPUTS
from tfdsmcmc.serving.saved_model.weights import Weights

if TYPE_CHECKING:
    import tensorflow as tf

    from tfdsmcmc._common.types import Average
    from tfdsmcmc.boltzmann.partition.estimates import PartitionLike
    from tfdsmcmc.contract import Model
    from tfdsmcmc.posterior.ensemble import Posterior

_KINDS = {
    "draws": "samples of the posterior",
    "weights": "mean of the posterior's samples",
    "units": "samples of the posterior, averaged unit by unit",
    "start": "weights at which the warm start ended",
}
_SWEEPS, _STEPS = 50, 1000  # of networks, of machines


class Content(NamedTuple):
    """What is saved and what is said of it.

    Attributes:
      module: `tf.Module` that holds the weights.
      functions: what computes the plain signatures, with `costs`.
      names: of the plain signatures.
      data: `Data`.
      parts: dictionary, what the model is made of.
      source: dictionary, where the weights come from.
      settings: dictionary.
      figures: dictionary.
    """

    module: tf.Module
    functions: Functions | MachineFunctions
    names: list[str]
    data: Data
    parts: dict[str, Any]
    source: dict[str, Any]
    settings: dict[str, Any]
    figures: dict[str, Any]


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
    directed = hasattr(model, "generative")
    if posterior is None:
        components, source = None, {"kind": "weights of the model", "samples": 1}
    else:
        components = posterior.components(model, average, log_partition)
        source = _source(posterior, average)
    if directed:
        return _of_networks(model, components, source, sweeps or _SWEEPS, jit, log_partition)
    if jit:
        raise ValueError(f"jit is of a DeepGenerativeModel. Received: jit={jit!r}, {type(model).__name__}")
    return _of_machines(model, components, source, sweeps or _STEPS, log_partition)


def _source(posterior, average):
    steps = [int(step) for step in (posterior.samples[0].step, posterior.samples[-1].step)]
    return {
        "kind": _KINDS[average],
        "average": average,
        "chains": posterior.num_chains,
        "samples": len(posterior.samples),
        "first_step": steps[0],
        "last_step": steps[1],
    }


def _of_networks(model, components, source, sweeps, jit, log_partition):
    model.density(log_partition=log_partition)  # which refuses one
    averaged = model if components is None else components[0].model
    weights = Weights(averaged, None if components is None else _Each(components, "weights"))
    layers = averaged.generative.layers
    return Content(
        module=weights,
        functions=Functions(averaged, weights, sweeps, jit),
        names=[name for name in INPUTS if name != "encode" or averaged.generative.latent_units],
        data=Data(model.units, model.support, max(layer.widest for layer in layers), model.generative.context),
        parts=parts_of_networks(model),
        source=source,
        settings={"sweeps": sweeps, "jit": bool(jit)},
        figures={},
    )


def _of_machines(model, components, source, sweeps, log_partition):
    densities = [model.density(None, log_partition)] if components is None else _Each(components, "density")
    weights = MachineWeights(densities)
    known, error = weights.partition, weights.partition.standard_error
    figures = {"log_partition": known.value, "log_partition_direction": known.direction}
    figures["log_partition_standard_error"] = error if math.isfinite(error) else None
    shapes = [list(variable.shape) for variable in model.theta_variables]
    return Content(
        module=weights,
        functions=MachineFunctions(weights, model.units, sweeps),
        names=list(machine_functions.NAMES),
        data=Data(model.units, model.support, max(max(shape, default=1) for shape in shapes)),
        parts={"class": type(model).__name__, "weights": shapes},
        source=source,
        settings={"sweeps": sweeps},
        # of several components each has a log Z of its own
        figures=figures if weights.count == 1 else {},
    )


class _Each(Sequence):
    """An attribute of each of the components of a posterior, which are made when they are asked for."""

    def __init__(self, components, name):
        self._components, self._name = components, name

    def __len__(self):
        return len(self._components)

    def __getitem__(self, m):
        return getattr(self._components[m], self._name)

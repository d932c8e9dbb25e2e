"""Machines and mixtures that are frozen: they learn all of their weights or none, and files keep which."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdsmcmc.boltzmann.machines.rbm import RBM
    from tfdsmcmc.boltzmann.mixture.mixture_of_bernoullis import MixtureOfBernoullis


def check_learns(model: RBM | MixtureOfBernoullis) -> None:
    """Raises a ValueError for a model with frozen weights, before it is compiled."""
    learnt = {id(variable) for variable in model.theta_variables}
    frozen = [name for name, variable in model.named_weights if id(variable) not in learnt]
    if frozen:
        raise ValueError(
            f"{type(model).__name__} learns all of its weights, and {'some' if learnt else 'none'} of them are "
            "trainable: set trainable = True, of the model and of these weights, before compile(). "
            f"Received: frozen weights {frozen}"
        )


@contextlib.contextmanager
def thawed(model: RBM | MixtureOfBernoullis) -> Iterator[None]:
    """A time in which all weights are trainable, so that a run is compiled as it was before they were frozen."""
    layer, trainable = model.layer, model.layer.trainable
    flags = [variable.trainable for variable in layer.weights]
    layer.trainable = True
    for variable in layer.weights:  # Keras leaves them as they are where the layer was trainable
        variable.trainable = True
    try:
        yield
    finally:
        layer.trainable = trainable
        for variable, flag in zip(layer.weights, flags, strict=True):
            variable.trainable = flag

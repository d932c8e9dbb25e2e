"""What generative and recognition networks share: a list of layers, built and saved as one, at any weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from tfdsmcmc.layers import StochasticLayer

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config, TensorLike


def evaluated_at(variables: Iterable[keras.Variable], values: Iterable[TensorLike]) -> keras.StatelessScope:
    """A context in which Keras variables read as the given tensors; the variables themselves stay as they are."""
    return keras.StatelessScope(state_mapping=list(zip(variables, values, strict=True)))


class Network(keras.layers.Layer):
    """A list of stochastic layers, each the parent of the next."""

    layers: list[StochasticLayer]
    _fewest = 1

    def __init__(self, layers: Sequence[StochasticLayer], name: str | None = None, **kwargs: Any):
        layers = list(layers) if isinstance(layers, (list, tuple)) else layers
        fits = isinstance(layers, list) and len(layers) >= self._fewest
        if not fits or not all(isinstance(layer, StochasticLayer) for layer in layers):
            raise ValueError(
                f"{type(self).__name__} takes a list of stochastic layers, at least {self._fewest}. "
                f"Received: layers={layers!r}"
            )
        if len({id(layer) for layer in layers}) < len(layers):
            raise ValueError(f"Each layer may stand in a network once. Received: layers={layers!r}")
        names = [layer.name for layer in layers]
        if len(set(names)) < len(names):  # weights are told apart by "layer/weight"
            raise ValueError(f"The layers of a network have different names; give them name=…. Received: {names}")
        super().__init__(name=name, **kwargs)
        self.layers = layers
        for i, layer in enumerate(layers):
            setattr(self, f"layer_{i}", layer)  # tf.train.Checkpoint does not look into Keras' lists

    @property
    def named_weights(self) -> list[tuple[str, keras.Variable]]:
        """Pairs (name, variable) of the trainable weights; a name is "layer/weight", as priors match them."""
        return [(f"{layer.name}/{v.name}", v) for layer in self.layers for v in layer.trainable_variables]

    def get_config(self) -> Config:
        layers = [keras.saving.serialize_keras_object(layer) for layer in self.layers]
        return {"name": self.name, "trainable": self.trainable, "dtype": self.dtype_policy.name, "layers": layers}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        layers = [keras.saving.deserialize_keras_object(layer) for layer in config["layers"]]
        return cls(**{**config, "layers": layers})

    def _build_layers(self, parent_units):
        for layer in self.layers:
            if not layer.built:
                layer.build((None, parent_units))
            elif layer.parent_units != parent_units:
                raise ValueError(
                    f"Layer {layer.name!r} follows a layer of {parent_units} units but was built for another width. "
                    f"Received: parents of width {layer.parent_units}"
                )
            parent_units = layer.units


def of_widths(names: str, values: Iterable[TensorLike], widths: Sequence[int]) -> list[tf.Tensor]:
    """The values as tensors; a ValueError for another number of them, or other widths."""
    values = [tf.convert_to_tensor(value) for value in values]
    shapes = [tuple(value.shape) for value in values]
    if [shape[-1:] for shape in shapes] != [(width,) for width in widths]:
        raise ValueError(f"{names} must have the widths {widths}. Received: shapes {shapes}")
    return values

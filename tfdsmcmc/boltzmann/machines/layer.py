"""The weights of a machine, of a network's recognition and of a mixture, as Keras layers, which make and keep them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import keras

from tfdsmcmc._common import checks
from tfdsmcmc.boltzmann.machines.machine import machine_type
from tfdsmcmc.boltzmann.units import kind_of

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config
    from tfdsmcmc.boltzmann.machines.machine import Machine
    from tfdsmcmc.boltzmann.units import UnitsLike
    from tfdsmcmc.boltzmann.units.base import Units

_KERNEL_DEVIATION = 0.01
_LOGITS_DEVIATION = 0.1  # enough for the components to part in the first pass


def _check_policy(layer):
    if layer.dtype_policy.name != "float32":
        raise ValueError(f"Machines and mixtures compute in float32. Received: dtype={layer.dtype_policy.name}")


@keras.saving.register_keras_serializable("tfdsmcmc")
class BoltzmannLayer(keras.layers.Layer):
    """W ~ N(0, 0.01²), both biases 0, and what else the units have to learn.

    Args:
      hidden_units: M.
      seed: of the initial weights.
      visible: what `units.kind_of` takes.
      hidden: what it takes.
      **kwargs: of `keras.layers.Layer`.
    """

    kernel: keras.Variable
    bias: keras.Variable
    hidden_bias: keras.Variable
    visible: Units
    hidden: Units

    def __init__(
        self,
        hidden_units: int,
        seed: int = 0,
        visible: UnitsLike = "binary",
        hidden: UnitsLike = "binary",
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        _check_policy(self)
        self.hidden_units: int = checks.positive_integer("hidden_units", hidden_units)
        self.seed: int = checks.nonnegative_integer("seed", seed)
        self.visible, self.hidden = kind_of("visible", visible), kind_of("hidden", hidden)
        self.hidden.support.check_width("hidden_units", self.hidden_units)

    def build(self, input_shape: Sequence[int | None]) -> None:
        self.parent_units = units = int(input_shape[-1])
        self.visible.support.check_width("units", units)
        normal = keras.initializers.RandomNormal(stddev=_KERNEL_DEVIATION, seed=self.seed)
        self.kernel = self.add_weight(name="kernel", shape=(units, self.hidden_units), initializer=normal)
        self.bias = self.add_weight(name="bias", shape=(units,), initializer="zeros")
        self.hidden_bias = self.add_weight(name="hidden_bias", shape=(self.hidden_units,), initializer="zeros")
        for prefix, kind, width in (("", self.visible, units), ("hidden_", self.hidden, self.hidden_units)):
            for name, value in zip(kind.parameters, kind.initial):
                constant = keras.initializers.Constant(value)
                self.add_weight(name=prefix + name, shape=(width,), initializer=constant)
        self.built = True

    @property
    def machine(self) -> Machine:
        """The present weights, a `Machine`."""
        return machine_type(self.visible, self.hidden)(*(variable.value for variable in self.weights))

    def get_config(self) -> Config:
        kinds = {name: keras.saving.serialize_keras_object(getattr(self, name)) for name in ("visible", "hidden")}
        return {**super().get_config(), "hidden_units": self.hidden_units, "seed": self.seed, **kinds}


@keras.saving.register_keras_serializable("tfdsmcmc")
class RecognitionKernels(keras.layers.Layer):
    """R^1, R^2, …, the recognition weights of a deep belief network that are its own.

    Args:
      widths: D, H_1, …, H_{L−1}.
      **kwargs: of `keras.layers.Layer`.
    """

    def __init__(self, widths: Iterable[int], **kwargs: Any):
        super().__init__(**kwargs)
        self.widths: list[int] = [checks.positive_integer("widths", width) for width in widths]

    def build(self, input_shape: Sequence[int | None] | None = None) -> None:
        pairs = enumerate(zip(self.widths, self.widths[1:]), 1)
        self.kernels = [self.add_weight(name=f"kernel_{n}", shape=pair, initializer="zeros") for n, pair in pairs]
        self.built = True

    def get_config(self) -> Config:
        return {**super().get_config(), "widths": self.widths}


@keras.saving.register_keras_serializable("tfdsmcmc")
class MixtureLayer(keras.layers.Layer):
    """C equal shares, as log π (C,), and logits (C, D) ~ N(0, 0.1²).

    Args:
      components: C.
      seed: of the initial weights.
      **kwargs: of `keras.layers.Layer`.
    """

    log_shares: keras.Variable
    logits: keras.Variable

    def __init__(self, components: int, seed: int = 0, **kwargs: Any):
        super().__init__(**kwargs)
        _check_policy(self)
        self.components: int = checks.positive_integer("components", components)
        self.seed: int = checks.nonnegative_integer("seed", seed)

    def build(self, input_shape: Sequence[int | None]) -> None:
        self.parent_units = units = int(input_shape[-1])
        equal = keras.initializers.Constant(-math.log(self.components))
        normal = keras.initializers.RandomNormal(stddev=_LOGITS_DEVIATION, seed=self.seed)
        self.log_shares = self.add_weight(name="log_shares", shape=(self.components,), initializer=equal)
        self.logits = self.add_weight(name="logits", shape=(self.components, units), initializer=normal)
        self.built = True

    def get_config(self) -> Config:
        return {**super().get_config(), "components": self.components, "seed": self.seed}

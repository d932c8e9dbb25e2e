"""The weights of a machine, of a network's recognition and of a mixture, as Keras layers, which make and keep them."""

from __future__ import annotations

import math

import keras

from tfdsmcmc import checks
from tfdsmcmc.boltzmann.machine import Machine

_KERNEL_DEVIATION = 0.01
_LOGITS_DEVIATION = 0.1  # enough for the components to part in the first pass


def _check_policy(layer):
    if layer.dtype_policy.name != "float32":
        raise ValueError(f"Machines and mixtures compute in float32. Received: dtype={layer.dtype_policy.name}")


@keras.saving.register_keras_serializable("tfdsmcmc")
class BoltzmannLayer(keras.layers.Layer):
    """W ~ N(0, 0.01²), both biases 0.

    Args:
      hidden_units: M.
      seed: of the initial weights.
      **kwargs: of `keras.layers.Layer`.
    """

    def __init__(self, hidden_units, seed=0, **kwargs):
        super().__init__(**kwargs)
        _check_policy(self)
        self.hidden_units = checks.positive_integer("hidden_units", hidden_units)
        self.seed = checks.nonnegative_integer("seed", seed)

    def build(self, input_shape):
        self.parent_units = units = int(input_shape[-1])
        normal = keras.initializers.RandomNormal(stddev=_KERNEL_DEVIATION, seed=self.seed)
        self.kernel = self.add_weight(name="kernel", shape=(units, self.hidden_units), initializer=normal)
        self.bias = self.add_weight(name="bias", shape=(units,), initializer="zeros")
        self.hidden_bias = self.add_weight(name="hidden_bias", shape=(self.hidden_units,), initializer="zeros")
        self.built = True

    @property
    def machine(self):
        """The present weights, a `Machine`."""
        return Machine(self.kernel.value, self.bias.value, self.hidden_bias.value)

    def get_config(self):
        return {**super().get_config(), "hidden_units": self.hidden_units, "seed": self.seed}


@keras.saving.register_keras_serializable("tfdsmcmc")
class RecognitionKernels(keras.layers.Layer):
    """R^1, R^2, …, the recognition weights of a deep belief network that are its own.

    Args:
      widths: D, H_1, …, H_{L−1}.
      **kwargs: of `keras.layers.Layer`.
    """

    def __init__(self, widths, **kwargs):
        super().__init__(**kwargs)
        self.widths = [checks.positive_integer("widths", width) for width in widths]

    def build(self, input_shape=None):
        pairs = enumerate(zip(self.widths, self.widths[1:]), 1)
        self.kernels = [self.add_weight(name=f"kernel_{n}", shape=pair, initializer="zeros") for n, pair in pairs]
        self.built = True

    def get_config(self):
        return {**super().get_config(), "widths": self.widths}


@keras.saving.register_keras_serializable("tfdsmcmc")
class MixtureLayer(keras.layers.Layer):
    """C equal shares, as log π (C,), and logits (C, D) ~ N(0, 0.1²).

    Args:
      components: C.
      seed: of the initial weights.
      **kwargs: of `keras.layers.Layer`.
    """

    def __init__(self, components, seed=0, **kwargs):
        super().__init__(**kwargs)
        _check_policy(self)
        self.components = checks.positive_integer("components", components)
        self.seed = checks.nonnegative_integer("seed", seed)

    def build(self, input_shape):
        self.parent_units = units = int(input_shape[-1])
        equal = keras.initializers.Constant(-math.log(self.components))
        normal = keras.initializers.RandomNormal(stddev=_LOGITS_DEVIATION, seed=self.seed)
        self.log_shares = self.add_weight(name="log_shares", shape=(self.components,), initializer=equal)
        self.logits = self.add_weight(name="logits", shape=(self.components, units), initializer=normal)
        self.built = True

    def get_config(self):
        return {**super().get_config(), "components": self.components, "seed": self.seed}

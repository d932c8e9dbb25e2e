"""Adam with lower rates for weights from many units."""

from __future__ import annotations

import keras

from tfdsmcmc import checks


@keras.saving.register_keras_serializable("tfdsmcmc")
class FanInAdam(keras.optimizers.Adam):
    """Adam of the rate ℓ min(1, c/n) for a matrix of weights that lead from n units, ℓ for all other weights.

    Adam moves each weight by about ℓ, whatever its gradient, and a logit, which has n of them, by up to nℓ: a rate that
    is right for rows of a hundred columns makes the logits of units above eight hundred restless.

    Args:
      learning_rate: ℓ, a number or a schedule.
      fan_in: c, the number of units up to which the rate is whole.
      **arguments: of `keras.optimizers.Adam`.

    Raises:
      ValueError: for a rate that is not positive, or a `fan_in` that is no positive integer.
    """

    def __init__(self, learning_rate=0.001, fan_in=128, **arguments):
        super().__init__(checks.learning_rate(learning_rate), **arguments)
        self.fan_in = checks.positive_integer("fan_in", fan_in)

    def update_step(self, gradient, variable, learning_rate):
        units = variable.shape[-2] if len(variable.shape) > 1 else 1
        super().update_step(gradient, variable, learning_rate * min(1.0, self.fan_in / max(1, units)))

    def get_config(self):
        return {**super().get_config(), "fan_in": self.fan_in}

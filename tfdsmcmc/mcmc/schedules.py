"""Learning-rate schedules of the SG-MCMC literature, as Keras schedules."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import keras
import tensorflow as tf

from tfdsmcmc._common import checks
from tfdsmcmc._common.known_values import plain

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, LearningRate, TensorLike

_MOST_STEPS = 2**63 - 1  # a count of steps is an int64


@keras.saving.register_keras_serializable("tfdsmcmc")
class PolynomialDecay(keras.optimizers.schedules.LearningRateSchedule):
    """ℓ_t = ℓ₀ (1 + max(0, t − c)/b)^(−γ): with γ in (½, 1] the sum of the rates diverges, that of their squares not.

    In the first w steps (t + 1)/w of it, for an optimizer whose first gradients are for the most part noise.

    Args:
      initial_learning_rate: ℓ₀.
      offset: b, in steps.
      power: γ.
      warmup_steps: w.
      constant_steps: c, the step from which on the rate falls.

    Raises:
      ValueError: for an argument out of range.

    Source: Welling and Teh, ICML 2011, below equation 2, with a = ℓ₀ bᵞ.
    """

    def __init__(
        self,
        initial_learning_rate: float,
        offset: float = 1000.0,
        power: float = 0.55,
        warmup_steps: int = 0,
        constant_steps: int = 0,
    ):
        self.initial_learning_rate: float = checks.positive_number("initial_learning_rate", initial_learning_rate)
        self.offset: float = checks.positive_number("offset", offset)
        self.power: float = checks.nonnegative_number("power", power)
        self.warmup_steps: int = _steps("warmup_steps", warmup_steps, checks.nonnegative_integer)
        self.constant_steps: int = _steps("constant_steps", constant_steps, checks.nonnegative_integer)

    def __call__(self, step: TensorLike) -> tf.Tensor:
        step = tf.cast(step, tf.float32)
        risen = tf.minimum(1.0, (step + 1.0) / max(1, self.warmup_steps))
        falling = tf.maximum(0.0, step - float(self.constant_steps))
        return self.initial_learning_rate * risen * (1.0 + falling / self.offset) ** -self.power

    def get_config(self) -> Config:
        return {
            "initial_learning_rate": plain(self.initial_learning_rate),
            "offset": plain(self.offset),
            "power": plain(self.power),
            "warmup_steps": self.warmup_steps,
            "constant_steps": self.constant_steps,
        }


@keras.saving.register_keras_serializable("tfdsmcmc")
class RiseAndFall(keras.optimizers.schedules.LearningRateSchedule):
    """ℓ_t = ℓ₀ min(1, (t + 1)/w) max(0, 1 − t/H)/(1 + t/b) of a climb that is planned to last H steps, w = min(r, sH).

    While most of a gradient is noise, which Adam scales up, the rate is low; then it is fast, and fine when the climb
    ends as planned. Called like any schedule, it is that of a climb without an end, H = ∞: what knows H, as
    `mcmc.WarmStart` does, multiplies the step by `share`.

    Args:
      learning_rate: ℓ₀.
      offset: b, in steps.
      rise: r, the most steps that the rate rises.
      rising: s, the share of the climb in which it rises, between 0 and 1.

    Raises:
      ValueError: for an argument out of range.

    Example:

    >>> import tfdsmcmc as ds
    >>> rate = ds.mcmc.schedules.RiseAndFall(0.03, offset=2000.0, rise=2000, rising=0.2)
    >>> [round(float(rate(t) * rate.share(t, 1000)), 4) for t in (0, 199, 500, 999)]
    [0.0001, 0.0219, 0.012, 0.0]
    """

    def __init__(
        self,
        learning_rate: float,
        offset: float = 2000.0,
        rise: int = 2000,
        rising: float = 0.2,
    ):
        self.learning_rate: float = checks.positive_number("learning_rate", learning_rate)
        self.offset: float = checks.positive_number("offset", offset)
        self.rise: int = _steps("rise", rise, checks.positive_integer)
        self.rising: float = checks.fraction("rising", rising)

    def __call__(self, step: TensorLike) -> tf.Tensor:
        step = tf.cast(step, tf.float32)
        return self.learning_rate * tf.minimum(1.0, (step + 1.0) / self.rise) / (1.0 + step / self.offset)

    def share(self, step: TensorLike, planned: TensorLike) -> tf.Tensor:
        """The rate of a climb of `planned` steps, divided by that of one without an end; scalars of integer type."""
        step, planned = tf.cast(step, tf.float32), tf.cast(planned, tf.float32)
        rise = tf.maximum(1.0, tf.minimum(float(self.rise), self.rising * planned))
        risen = tf.minimum(1.0, (step + 1.0) / rise) / tf.minimum(1.0, (step + 1.0) / self.rise)
        return risen * tf.maximum(0.0, 1.0 - step / tf.maximum(1.0, planned))

    def get_config(self) -> Config:
        return {
            "learning_rate": plain(self.learning_rate),
            "offset": plain(self.offset),
            "rise": self.rise,
            "rising": self.rising,
        }


@keras.saving.register_keras_serializable("tfdsmcmc")
class Cyclical(keras.optimizers.schedules.LearningRateSchedule):
    """ℓ_t = ½ ℓ₀ (cos(π (t mod c)/c) + 1): each cycle of c steps starts hot, to leave a mode, and cools to sample it.

    Args:
      initial_learning_rate: ℓ₀.
      cycle_steps: c.

    Raises:
      ValueError: for an argument out of range.

    Source: Zhang, Li, Zhang, Chen and Wilson, "Cyclical stochastic gradient MCMC for Bayesian deep learning", ICLR
    2020, equation 1.
    """

    def __init__(self, initial_learning_rate: float, cycle_steps: int):
        self.initial_learning_rate: float = checks.positive_number("initial_learning_rate", initial_learning_rate)
        self.cycle_steps: int = _steps("cycle_steps", cycle_steps, checks.positive_integer)

    def __call__(self, step: TensorLike) -> tf.Tensor:
        phase = tf.cast(tf.math.floormod(tf.cast(step, tf.int64), self.cycle_steps), tf.float32) / self.cycle_steps
        # ½ (cos 2x + 1) = cos² x, where no digits cancel: a rate of 0 would still the momentum
        return self.initial_learning_rate * tf.square(tf.cos(0.5 * math.pi * phase))

    def get_config(self) -> Config:
        return {"initial_learning_rate": plain(self.initial_learning_rate), "cycle_steps": self.cycle_steps}


@keras.saving.register_keras_serializable("tfdsmcmc")
class ByUnits(keras.optimizers.schedules.LearningRateSchedule):
    """ℓ_t min(1, (s/S) √(u/U)) of a recognition network; ℓ_t was found with u latent units, on rows of spread s.

    It is for U latent units and rows x of spread S = Σ_i min(1, E |x_i − E x_i|), which is 2 Σ_i p_i (1 − p_i) of
    binary columns; a column of large numbers counts for no more than 1. A step that moves the log-odds of binary units
    by Δ_j takes q(z | x) away from itself by

        KL = ½ Σ_j p_j (1 − p_j) Δ_j² + O(Δ³)

    Adam moves each weight by about ℓ_t, and so the Δ_j of the first layer, from row to row, by at most about S ℓ_t:
    steps go equally far where S ℓ_t √U is the same. What all rows share is left out, as a bias makes it good. So is
    what is not known of s, S and U; S = 0 is not known.

    `compile` tells U to the optimizer of φ. The first `fit` after it tells S, of up to 1,000 rows as the recognition
    network sees them, and the run keeps it, unless `row_spread` says it. Rows that are read in order alone, such as
    those of a `tf.data.Dataset`, are not read for that: S is not known then. Nothing tells a kernel.

    Args:
      learning_rate: ℓ_t, a number or a schedule.
      units: u.
      spread: s, or None for a rate that does not go by the rows.
      latent_units: U, of all layers together, or None.
      row_spread: S, a number or a variable, or None.

    Raises:
      ValueError: for an argument out of range, or a rate that goes by units itself.

    Example:

    >>> import tfdsmcmc as ds
    >>> rate = ds.mcmc.schedules.ByUnits(0.01, units=150, spread=150.0)
    >>> [round(float(rate.over(latent_units)(0)), 4) for latent_units in (50, 150, 600)]
    [0.01, 0.01, 0.005]
    >>> [round(float(rate.over(150, row_spread)(0)), 4) for row_spread in (20.0, 150.0, 600.0)]
    [0.01, 0.01, 0.0025]
    """

    def __init__(
        self,
        learning_rate: LearningRate,
        units: int,
        *,
        spread: float | None = None,
        latent_units: int | None = None,
        row_spread: float | tf.Variable | None = None,
    ):
        self.learning_rate: LearningRate = checks.learning_rate(learning_rate)
        if isinstance(self.learning_rate, ByUnits):
            raise ValueError(f"learning_rate must not go by units. Received: learning_rate={learning_rate!r}")
        self.units: int = checks.positive_integer("units", units)
        self.spread: float | None = _if_known(checks.positive_number, "spread", spread)
        self.latent_units: int | None = _if_known(checks.positive_integer, "latent_units", latent_units)
        if not isinstance(row_spread, tf.Variable):
            row_spread = _if_known(checks.nonnegative_number, "row_spread", row_spread)
        self.row_spread: float | tf.Variable | None = row_spread

    def __call__(self, step: TensorLike) -> tf.Tensor:
        rate = self.learning_rate(step) if callable(self.learning_rate) else self.learning_rate
        share = 1.0 if self.latent_units is None else math.sqrt(self.units / self.latent_units)
        if self.spread is not None and self.row_spread is not None:
            known = tf.cast(tf.convert_to_tensor(self.row_spread), tf.float32)
            share *= tf.where(known > 0.0, self.spread / known, 1.0)
        return tf.cast(rate, tf.float32) * tf.minimum(1.0, share)

    def over(self, latent_units: int, row_spread: float | tf.Variable | None = None) -> ByUnits:
        """The rate of a network of U latent units, for rows of spread S."""
        return ByUnits(
            self.learning_rate, self.units, spread=self.spread, latent_units=latent_units, row_spread=row_spread
        )

    def get_config(self) -> Config:
        rate = self.learning_rate
        return {
            "learning_rate": keras.saving.serialize_keras_object(rate) if callable(rate) else rate,
            "units": self.units,
            "spread": self.spread,
            "latent_units": self.latent_units,
            # what a run found is stored with it: a configuration is the same before and after a fit
            "row_spread": None if isinstance(self.row_spread, tf.Variable) else self.row_spread,
        }


def _if_known(check, name, value):
    """A value that passes `check`, or None."""
    return None if value is None else check(name, value)


def _steps(name, value, check):
    """A number of steps that passes `check`."""
    number = check(name, value)
    if number > _MOST_STEPS:
        raise ValueError(f"{name} must be at most 2**63 - 1. Received: {name}=an integer of {number.bit_length()} bits")
    return number

"""What kernels do with noise and with momentum, on flat lists of tensors: draws, units, and checks of the arguments.

η, in whose units a momentum v is N(0, η) at equilibrium, is that of `mcmc.base`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common.checks import numbers_known, one_of, positive_number

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Integrator, Number, Seed, TensorLike


def initial_momentum(parts: Sequence[tf.Tensor], eta: Number, seed: Seed) -> list[tf.Tensor]:
    """Draws v ~ N(0, η) for each part."""
    return [tf.sqrt(tf.cast(eta, p.dtype)) * n for p, n in zip(parts, normals(parts, seed))]


def rescaled(momentum: Sequence[TensorLike], eta: Number, previous_eta: Number) -> list[tf.Tensor]:
    """The momentum in the units of a new step size: v ~ N(0, η) is multiplied by √(η/η of the step before)."""
    known = previous_eta > 0
    factor = tf.sqrt(tf.where(known, eta / tf.where(known, previous_eta, 1.0), 1.0))
    return [tf.cast(factor, v.dtype) * v for v in momentum]


def check_friction(friction: Number, integrator: Integrator) -> None:
    """Raises a ValueError for a friction that is not positive, or that Euler's finite step cannot take."""
    positive_number("friction", friction)
    if integrator == "euler" and np.any(numbers_known(friction) >= 2):
        raise ValueError(f"The Euler scheme needs a friction below 2. Received: friction={friction!r}")


def friction_of_a_step(friction: Number, integrator: Integrator) -> Number:
    """b: noise of the variance 2hη in v adds h/b to the relative variance of θ. For Euler a, else 2 tanh(a/2)."""
    if integrator == "euler":
        return friction
    return 2.0 * (tf if tf.is_tensor(friction) else np).tanh(0.5 * friction)


def normals(parts: Sequence[tf.Tensor], seed: Seed) -> list[tf.Tensor]:
    """A standard normal draw for each part, of its shape and type.

    The parts of a type share one call, which is split: a program with a call for each part takes XLA far longer to
    compile.
    """
    dtypes = list(dict.fromkeys(part.dtype for part in parts))
    seeds = [seed] if len(dtypes) == 1 else tf.unstack(random.split(seed, len(dtypes)))
    drawn = [None] * len(parts)
    for dtype, dtype_seed in zip(dtypes, seeds):
        places = [place for place, part in enumerate(parts) if part.dtype == dtype]
        sizes = [tf.size(parts[place]) for place in places]
        flat = tf.split(random.normal([tf.add_n(sizes)], dtype_seed, dtype), sizes)
        for place, part in zip(places, flat):
            drawn[place] = tf.reshape(part, tf.shape(parts[place]))
    return drawn


def mean_square(parts: Sequence[tf.Tensor]) -> tf.Tensor:
    """The mean of the squares of all entries, a scalar of the type of the first part; 0 where there are none."""
    dtype = parts[0].dtype
    total = tf.add_n([tf.cast(tf.reduce_sum(tf.square(part)), dtype) for part in parts])
    return tf.math.divide_no_nan(total, tf.add_n([tf.cast(tf.size(part), dtype) for part in parts]))


def check_integrator(integrator: str, allowed: Sequence[str] = ("splitting", "euler")) -> str:
    """Returns the name of the integrator, or raises a ValueError."""
    return one_of("integrator", integrator, allowed)

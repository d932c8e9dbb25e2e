"""Learning rates of each entry's own, as the noise of its gradient permits: a mass matrix that is found on the way.

How long a step the kernel can make depends on the noise of the gradient, whose variance s² differs between the entries
of θ by orders of magnitude, and grows with N in the units of η: at one ℓ for all, some entries are far too hot or most
hardly move. So s² of each entry is estimated from the first step on, and the kernel samples φ = θ/D,

    D = min(1, √(2hT/(ℓs²)))                  ℓ of the step, h the kernel's `noise_tolerance`
    gradient of the log target of φ = D g     θ ← Dφ

which is the kernel with a learning rate ℓD² = min(ℓ, 2hT/s²) of each entry's own. The law of θ is the same, as with any
mass matrix. Noise of a model that fits, but for that of the latent variables, has the variance of the score, s² = λ/B
for B rows and the curvature λ: where D < 1, ℓD²λ = 2hB/N, and an entry that the data alone determine needs some 1/2h
epochs, with a constant friction a/2h, to forget where it was.

    ŝ² ← ŝ² + max(1/(1000 + k), 2/(m + 1)) (½(g_t − g_{t−1})² − ŝ²)         at the m-th difference, k steps of sampling

In the climb the latest differences weigh most. Features that only grow while the kernel samples are noisier than they
were: it goes on, ever more slowly, so that the chain keeps its law in the long run (diminishing adaptation, Roberts and
Rosenthal, "Coupling and ergodicity of adaptive Markov chain Monte Carlo algorithms", Journal of Applied Probability 44,
2007). It sees noise that is drawn anew at each step, not that of a minibatch which several share (`kernel_steps` above
1); and it follows slowly, within some thousands of steps, where the minibatches of a chain that has sampled for long
become smaller. A kernel that samples from its first step on has D = 1 there, and after a climb of fewer than ten
updates D is a guess: thousands of steps are too hot. θ's own motion counts as noise, which matters where ℓλ is near
2√h or above.

Gradients of all rows have no noise of the choice of rows, and where the latent variables add little of theirs D is 1,
however large λ is: of real columns that say each other nearly exactly, λ is the inverse of a small variance, and steps
with ℓλ above 4 are flung off. Take minibatches of at most half of the rows there. `fit` warns of those of all rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import keras
import tensorflow as tf

from tfdsmcmc._common.checks import positive_number

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Number

_REMEMBERED = 1000.0  # steps of the climb from which the noise is known when sampling begins


def checked_tolerance(value: Any, name: str, known: Number | None) -> float | Literal["auto"] | None:
    """Returns h of a kernel of this name, whose own is `known`: a number, "auto" or None; or raises a ValueError."""
    if value is None or isinstance(value, str) and value == "auto":
        return value
    if tf.is_tensor(value) or isinstance(value, keras.Variable):
        raise ValueError(f"noise_tolerance must be a number. Received: noise_tolerance={value!r}")
    value = float(positive_number("noise_tolerance", value))
    if known is None:
        raise ValueError(f"{name} has no noise_tolerance. Received: noise_tolerance={value!r}")
    return value


def noise_estimate(
    variances: Sequence[tf.Tensor], gradients: Sequence[tf.Tensor], previous: Sequence[tf.Tensor], weight: Number
) -> list[tf.Tensor]:
    """The running estimate ŝ² + w(½(g − g₋)² − ŝ²) of the variance of the noise in g, for each part.

    Args:
      variances: list of tensors, ŝ² so far.
      gradients: list of tensors, g of this step.
      previous: list of tensors, g₋ of the step before.
      weight: w, a scalar tensor.
    """
    return [
        variance + tf.cast(weight, g.dtype) * (0.5 * tf.square(g - g0) - variance)
        for variance, g, g0 in zip(variances, gradients, previous, strict=True)
    ]


def noise_after(
    variances: Sequence[tf.Tensor],
    gradients: Sequence[tf.Tensor],
    previous: Sequence[tf.Tensor],
    differences: tf.Tensor,
    sampled: tf.Tensor,
) -> list[tf.Tensor]:
    """ŝ² of each part after one more gradient.

    Args:
      variances: list of tensors, ŝ² so far.
      gradients: list of tensors, g of this step.
      previous: list of tensors, that of the step before.
      differences: m, an integer scalar; 0 for the first gradient, which tells nothing.
      sampled: k, an integer scalar.
    """
    differences, sampled = tf.cast(differences, tf.float32), tf.cast(sampled, tf.float32)
    weight = tf.maximum(1.0 / (_REMEMBERED + sampled), 2.0 / (differences + 1.0))
    return noise_estimate(variances, gradients, previous, tf.where(differences > 0, weight, 0.0))


def scales(variances: Sequence[tf.Tensor], tolerance: float, rate: tf.Tensor, eta: tf.Tensor) -> list[tf.Tensor]:
    """D of each part.

    Args:
      variances: list of tensors, ŝ².
      tolerance: h.
      rate: ℓ, a scalar.
      eta: η = ℓT, a scalar.
    """
    bearable = tf.math.divide_no_nan(2.0 * tf.cast(tolerance, eta.dtype) * eta, tf.square(rate))
    return [_scale(tf.cast(bearable, variance.dtype), variance) for variance in variances]


def product(parts: Sequence[tf.Tensor], others: Sequence[tf.Tensor]) -> list[tf.Tensor]:
    """The product of each part with its other."""
    return [part * other for part, other in zip(parts, others, strict=True)]


def _scale(bearable, variance):
    """The root of the smaller of 1 and b/s²; 1 where b is 0, as there is no temperature to keep."""
    scale = tf.sqrt(tf.math.divide_no_nan(bearable, tf.maximum(variance, bearable)))
    return tf.where(bearable > 0, scale, tf.ones_like(scale))

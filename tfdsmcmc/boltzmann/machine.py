"""A restricted Boltzmann machine as a value: its weights, its densities, its transitions.

    −E(v, h) = v'W h + b'v + a'h                                     v ∈ {0, 1}^D, h ∈ {0, 1}^M
    p(v, h) = exp(−E(v, h))/Z
    p(h_j = 1 given v) = σ(a_j + (v'W)_j)
    p(v_i = 1 given h) = σ(b_i + (W h)_i)
    log p*(v) = log Σ_h exp(−E(v, h)) = b'v + Σ_j log(1 + exp(a_j + (v'W)_j)),      p(v) = p*(v)/Z

−log p*(v) is called the free energy of v. With W transposed and the biases exchanged the same holds of h.

Source: Salakhutdinov and Murray, "On the quantitative analysis of deep belief networks", ICML 2008, section 2.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.distributions.sum_log import sum_log_of_mantissas

_UNROLLED = 3  # Gibbs steps that are written out: the first then shares a product with whoever needs it too


class Machine(NamedTuple):
    """The weights of a restricted Boltzmann machine, tensors of one type.

    Attributes:
      kernel: W, (D, M).
      bias: b, (D,), of the visible units.
      hidden_bias: a, (M,).
    """

    kernel: Any
    bias: Any
    hidden_bias: Any

    def transposed(self) -> Machine:
        """The machine whose visible units are the hidden ones of this."""
        return Machine(tf.transpose(self.kernel), self.hidden_bias, self.bias)

    def hidden_logits(self, v):
        """a + v'W, (n, M), of v (n, D)."""
        return tf.matmul(v, self.kernel) + self.hidden_bias

    def visible_logits(self, h):
        """b + W h, (n, D), of h (n, M)."""
        return tf.matmul(h, self.kernel, transpose_b=True) + self.bias

    def energy(self, v, h):
        """E(v, h), (n,), of v (n, D) and h (n, M)."""
        return -tf.reduce_sum(self.hidden_logits(v) * h, -1) - tf.linalg.matvec(v, self.bias)

    def unnormalized_log_prob(self, v):
        """log p*(v), (n,), of v (n, D)."""
        return tf.linalg.matvec(v, self.bias) + sum_softplus(self.hidden_logits(v))

    def gibbs(self, v, steps, seed):
        """States of Gibbs chains of full steps, h given v and then v given h, all of them bits.

        Args:
          v: (n, D), where the chains start.
          steps: T, an integer or an int32 scalar tensor.
          seed: int32 of shape (2,).

        Returns:
          (n, D).
        """
        if isinstance(steps, int) and steps <= _UNROLLED:
            for i in range(steps):
                v = self._full_step(v, random.fold(seed, i))
            return v

        def step(i, v):
            return i + 1, tf.ensure_shape(self._full_step(v, random.fold(seed, i)), v.shape)

        return tf.while_loop(lambda i, _: i < steps, step, (tf.constant(0), v))[1]

    def _full_step(self, v, seed):
        widths = [self.hidden_bias.shape[0], self.bias.shape[0]]
        hidden, visible = random.open_uniforms(tf.shape(v)[0], widths, seed)
        h = random.bernoulli_of(self.hidden_logits(v), hidden)
        return random.bernoulli_of(self.visible_logits(h), visible)


def sum_softplus(x):
    """Σ_j log(1 + exp x_j) over the last axis."""
    return tf.reduce_sum(tf.nn.relu(x), -1) + sum_log_of_mantissas(1.0 + tf.exp(-tf.abs(x)))


def softplus_increment(x, before, after):
    """Σ_j log(1 + exp(β' x_j)) − log(1 + exp(β x_j)) over the last axis, of neighbouring β and β'.

    With σ(βx) the probability of a one, the difference is log(1 + σ(βx) (exp(Δx) − 1)), Δ = β' − β. Written for |x|,

        Δ max(x, 0) + log(1 + σ(−β|x|) (exp(−Δ|x|) − 1)),

    it has an argument in (−½, 0] wherever Δ ≥ 0: nothing overflows, and no digits are lost however small Δ is. The
    difference of two sums of softplus in float32 errs by some 10⁻⁵ a step instead, which thousands of steps add up.

    Args:
      x: (n, M).
      before: β, at least 0.
      after: β', at least β.
    """
    delta, size = after - before, tf.abs(x)
    rest = tf.sigmoid(-before * size) * tf.math.expm1(-delta * size)
    return tf.reduce_sum(delta * tf.nn.relu(x) + tf.math.log1p(rest), -1)

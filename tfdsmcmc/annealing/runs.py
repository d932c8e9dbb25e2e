"""Annealed importance sampling along any `Path`: runs, their log-weights, and what these say of the normaliser.

Let f_0, …, f_T be densities of a path at 0 = β_0 < … < β_T = 1, Z_t their normalisers, and g the law of the first
state. Forward, with transitions that leave f_t invariant,

    w = f_0(s_0)/g(s_0) · Π_{t=1}^T f_t(s_{t−1})/f_{t−1}(s_{t−1}),      s_0 ~ g,  s_t ~ transition of f_t at s_{t−1}

has E w = Z_T: s_{t−1} is weighed for step t before it moves to density t. In reverse,

    w' = Π_{t=T}^1 f_{t−1}(s_t)/f_t(s_t) · g(s_0)/f_0(s_0),      s_T ~ f_T/Z_T,  s_{t−1} ~ transition of f_{t−1} at s_t

has E w' = 1/Z_T. Over R runs, log (1/R) Σ w is a lower bound of log Z_T in expectation, −log (1/R) Σ w' an upper bound.

Everything here is in tensors, runs in a graph and knows of a path what its contract says, no more.

Source: Neal, "Annealed importance sampling", Statistics and Computing 11 (2001); Grosse, Ghahramani and Adams,
"Sandwiching the marginal likelihood using bidirectional Monte Carlo", arXiv:1511.02543 (2015).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc._common.streams import WeightSums

if TYPE_CHECKING:

    from tfdsmcmc._common.types import Array, Nest, Number, Seed
    from tfdsmcmc.annealing.path import Path


def forward(
    path: Path,
    betas: Array,
    seed: Seed,
    step_sizes: Array | None = None,
    last: int | tf.Tensor | None = None,
) -> tf.Tensor:
    """log w of each run of a path, (n,) float64.

    Args:
      path: `Path`.
      betas: (T + 1,).
      seed: int32 of shape (2,).
      step_sizes: (T + 1,), of the transitions at each β; None where they have none.
      last: T, where what follows in the arrays is to be left out.
    """
    start_seed, step_seed = tf.unstack(random.split(seed))
    state, betas = path.start(start_seed), tf.cast(betas, tf.float32)
    last = betas.shape[0] - 1 if last is None else last

    def step(t, state, log_w):
        # weighed where it stands, then moved: the other way round E w is not Z
        log_w += _double(path.increment(betas[t - 1], betas[t], state))
        state, _ = path.move(betas[t], state, random.fold(step_seed, t), _at(step_sizes, t))
        return t + 1, state, log_w

    first = (tf.constant(1), state, _double(path.log_start(state)))
    return loops.while_loop(lambda t, *_: t <= last, step, first)[-1]


def reverse(
    path: Path,
    state: Nest,
    betas: Array,
    seed: Seed,
    step_sizes: Array | None = None,
    last: int | tf.Tensor | None = None,
) -> tf.Tensor:
    """log w' of each run of a path, from exact draws of the density at β = 1, (n,) float64."""
    betas = tf.cast(betas, tf.float32)
    last = betas.shape[0] - 1 if last is None else last

    def step(t, state, log_w):
        log_w -= _double(path.increment(betas[t - 1], betas[t], state))
        state, _ = path.move(betas[t - 1], state, random.fold(seed, t), _at(step_sizes, t - 1))
        return t - 1, state, log_w

    first = (tf.convert_to_tensor(last), state, tf.zeros([path.num_runs], tf.float64))
    _, state, log_w = loops.while_loop(lambda t, *_: t >= 1, step, first)
    return log_w - _double(path.log_start(state))


def target_chain(
    path: Path,
    state: Nest,
    count: int,
    separation: int,
    seed: Seed,
    step_size: Number | None = None,
) -> Nest:
    """States of a Markov chain at β = 1, each so many transitions after the one before.

    Args:
      path: `Path`.
      state: from which the chain comes, not among those kept.
      count: how many are kept.
      separation: transitions between them.
      seed: int32 of shape (2,).
      step_size: of the transitions; None where they have none.

    Returns:
      The state with another axis before its own: (count, n, …).
    """

    def one(i, state):
        return i + 1, path.move(tf.constant(1.0), state, random.fold(seed, i), step_size)[0]

    def several(r, state, kept):
        bounds = {"maximum_iterations": separation}
        _, state = loops.while_loop(lambda i, _: i < (r + 1) * separation, one, (r * separation, state), **bounds)
        return r + 1, state, tf.nest.map_structure(lambda array, part: array.write(r, part), kept, state)

    kept = tf.nest.map_structure(lambda part: tf.TensorArray(part.dtype, count, element_shape=part.shape), state)
    start = tf.constant(0), state, kept
    kept = loops.while_loop(lambda r, *_: r < count, several, start, maximum_iterations=count)[-1]
    return tf.nest.map_structure(lambda array: array.stack(), kept)


def log_normaliser(log_weights: Array, sign: int = 1) -> LogLikelihood:
    """The estimate of log Z from log-weights of runs, as arrays.

    Args:
      log_weights: (R, …), of w or w'.
      sign: 1 for w, −1 for w', whose mean is 1/Z.

    Returns:
      `LogLikelihood`: the effective sample size is that of the runs, and the standard error

          √((R Σ w² / (Σ w)² − 1) / (R − 1))

      by the delta method; it is nan for a single run.
    """
    value, error, size = WeightSums.of(tf.cast(log_weights, tf.float64)).estimate(len(log_weights))
    return LogLikelihood(sign * value.numpy(), error.numpy(), size.numpy())


def _at(step_sizes, t):
    return None if step_sizes is None else step_sizes[t]


def _double(log_weights):
    """In float64: a sum of thousands of steps in float32 loses digits."""
    return tf.cast(log_weights, tf.float64)

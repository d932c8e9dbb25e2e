"""A pilot run along a path: which β to visit, and with which step sizes.

Spacing. From draws z_r of f_β, r = 1…R, the next β' is the one for which

    (1/R) (Σ_r u_r)² / Σ_r u_r²,      u_r = f_β'(s_r)/f_β(s_r)

the fraction of the runs that effectively remain, is a given number in the mean over the rows; by bisection. All runs
count alike, so this is the conditional effective sample size of fresh draws.

Step sizes. At each β, log ε += rate_i · (a − target) after transition i = 0, 1, …, with a its mean acceptance
probability and rates ½/(1 + i/5), but no less than 0.1: ε follows a density that changes from one β to the next.

The pilot has a seed of its own, so that the run that follows is unbiased whatever the pilot found.

Source: Zhou, Johansen and Aston, "Toward automatic model comparison: an adaptive sequential Monte Carlo approach",
Journal of Computational and Graphical Statistics 25 (2016), section 3.3.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc._common.streams import WeightSums
from tfdsmcmc.annealing import schedules

if TYPE_CHECKING:

    from tfdsmcmc._common.types import Array, Number, Seed
    from tfdsmcmc.annealing.path import Path
    from tfdsmcmc.annealing.schedules import Schedule

NUM_RUNS = 16  # of each row; the spacing needs more than one
FRACTION = 0.999
_BISECTIONS = 24  # the digits of float32
_FIRST_STEP_SIZE = 0.1
_WARM_UP = 100  # transitions at β_0
_FEWEST_TRANSITIONS = 200  # in all, so that a short schedule gives step sizes too


def plan(
    run: Callable[..., Sequence[np.ndarray]],
    schedule: Schedule,
    num_steps: int,
    step_size: float | Literal["auto"] | None,
    seed: Seed,
) -> tuple[np.ndarray, np.ndarray]:
    """(β (T + 1,), step sizes (T + 1,)) for a run, from a pilot where one is needed.

    Args:
      run: function (betas, fraction, seed) → (β, step sizes), arrays: `pilot` along the path that is meant.
      schedule: a name or an array, see `schedules.fixed`.
      num_steps: T.
      step_size: the path's.
      seed: int32 of shape (2,).
    """
    betas = schedules.fixed(schedule, num_steps)
    if betas is None:
        betas, step_sizes = adaptive(run, num_steps, FRACTION, seed)
    elif step_size == "auto":
        betas, step_sizes = run(betas, None, seed)
    else:
        step_sizes = np.zeros_like(betas)
    if step_size not in (None, "auto"):
        step_sizes = np.full_like(betas, step_size)
    return betas, step_sizes


def adaptive(
    run: Callable[..., Sequence[np.ndarray]],
    num_steps: int,
    fraction: float,
    seed: Seed,
) -> tuple[np.ndarray, np.ndarray]:
    """(β, step sizes), at most `num_steps` steps: where `fraction` takes more, 1 − fraction is doubled.

    Raises:
      ValueError: where densities are not finite.
    """
    unvisited, attempt = np.ones(num_steps + 1, np.float32), 0
    while True:
        betas, step_sizes = run(unvisited, fraction, random.fold(seed, attempt))
        if 1 in betas:
            last = int(np.argmax(betas == 1))
            return betas[: last + 1], step_sizes[: last + 1]
        # below 0 the first step leads to the end, unless its weights are no numbers
        if fraction < 0:
            raise ValueError("An adaptive schedule needs finite densities. Received: rows where they are not")
        fraction, attempt = 2.0 * fraction - 1.0, attempt + 1


def pilot(path: Path, betas: Array, fraction: Number | None, seed: Seed) -> tuple[tf.Tensor, tf.Tensor]:
    """One pilot run, in graph or eager mode.

    Args:
      path: `Path` of NUM_RUNS runs or so for each of its rows.
      betas: (T + 1,), the schedule; its length alone counts if it is to be found.
      fraction: that remains at each step of a schedule to be found; None to keep `betas`.
      seed: int32 of shape (2,).

    Returns:
      (β, step sizes), (T + 1,) each; of no meaning after the first β of 1.
    """
    start_seed, warm_seed, step_seed = tf.unstack(random.split(seed, 3))
    fits = path.step_size == "auto"
    last = betas.shape[0] - 1
    repeats = math.ceil(_FEWEST_TRANSITIONS / last) if fits else 1
    first = _FIRST_STEP_SIZE if path.step_size is None or fits else path.step_size

    def transitions_at(beta, state, log_step, count, seed):
        def one(i, state, log_step):
            state, acceptance = path.move(beta, state, random.fold(seed, i), tf.exp(log_step))
            if fits:
                rate = tf.maximum(0.5 / (1.0 + tf.cast(i, tf.float32) / 5.0), 0.1)
                log_step += rate * (tf.reduce_mean(acceptance) - path.target_acceptance)
            return i + 1, state, log_step

        return loops.while_loop(lambda i, *_: i < count, one, (0, state, log_step), maximum_iterations=count)[1:]

    def step(t, beta, state, log_step, visited, step_sizes):
        beta = betas[t] if fraction is None else _next_beta(path, beta, state, fraction)
        state, log_step = transitions_at(beta, state, log_step, repeats, random.fold(step_seed, t))
        return t + 1, beta, state, log_step, visited.write(t, beta), step_sizes.write(t, tf.exp(log_step))

    state, log_step = path.start(start_seed), tf.math.log(tf.constant(first, tf.float32))
    beta = tf.constant(0.0)
    if fits:
        state, log_step = transitions_at(beta, state, log_step, _WARM_UP, warm_seed)
    arrays = [tf.TensorArray(tf.float32, last + 1, element_shape=[]) for _ in range(2)]
    arrays = [array.write(0, value) for array, value in zip(arrays, (beta, tf.exp(log_step)))]

    def unfinished(t, beta, *_):
        return (t <= last) & (beta < 1.0)

    loop = (tf.constant(1), beta, state, log_step, *arrays)
    *_, visited, step_sizes = loops.while_loop(unfinished, step, loop, maximum_iterations=last)
    return visited.stack(), step_sizes.stack()


def _next_beta(path, beta, state, fraction):
    """The β' above β at which `fraction` of the runs remains, or 1."""

    def remaining(after):
        log_u = tf.reshape(path.increment(beta, after, state), [-1, path.num_rows])
        size = WeightSums.of(log_u).effective_sample_size
        return tf.cast(tf.reduce_mean(size) / (path.num_runs // path.num_rows), tf.float32)

    def halve(i, low, high):
        middle = 0.5 * (low + high)
        enough = remaining(middle) >= fraction
        return i + 1, tf.where(enough, middle, low), tf.where(enough, high, middle)

    # the upper end, so that there is progress always
    found = loops.while_loop(lambda i, *_: i < _BISECTIONS, halve, (0, beta, tf.constant(1.0)))[2]
    return tf.where(remaining(tf.constant(1.0)) >= fraction, 1.0, found)

"""A pilot run along a path: which β to visit, and with which step sizes.

Spacing. From draws z_r of f_β, r = 1…R, the next β' is the one for which

    (1/R) (Σ_r u_r)² / Σ_r u_r²,      u_r = f_β'(z_r)/f_β(z_r)

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

import numpy as np
import tensorflow as tf

from tfdsmcmc import checks, incomplete, random
from tfdsmcmc.likelihood import paths, schedules, transitions
from tfdsmcmc.programs import compiled, power_of_two, values_of

NUM_RUNS = 16  # of each row; the spacing needs more than one
_BISECTIONS = 24  # the digits of float32
_FIRST_STEP_SIZE = 0.1
_WARM_UP = 100  # transitions at β_0
_FEWEST_TRANSITIONS = 200  # in all, so that a short schedule gives step sizes too
_FRACTION = 0.999


def annealing_schedule(
    model, x, num_steps=1000, fraction=_FRACTION, path="prior", transition=None, seed=0, batch_size=100, weights=None
) -> np.ndarray:
    """β_0, …, β_T at which neighbouring densities are equally far apart, by a pilot run.

    Args:
      model: a `DeepGenerativeModel` with latent layers.
      x: (n, D); `batch_size` rows of them, evenly spaced, are used.
      num_steps: the most steps T. Where `fraction` would take more, 1 − fraction is doubled until it does not.
      fraction: conditional effective sample size of a step, as a fraction of the runs.
      path: "prior", "recognition" or "weights", see `likelihood.paths`.
      transition: `HMC` or `MALA` for real latent layers.
      seed: integer, or int32 tensor of shape (2,).
      batch_size: rows of the pilot.
      weights: pair (θ, φ) of lists of arrays; by default the model's own weights.

    Returns:
      float32 array (T + 1,), from 0 to 1.

    Raises:
      ValueError: for data that do not fit, a network without latent layers, or arguments out of range.
    """
    num_steps = checks.positive_integer("num_steps", num_steps)
    batch_size = checks.positive_integer("batch_size", batch_size)
    if not 0 < float(checks.positive_number("fraction", fraction)) < 1:
        raise ValueError(f"fraction lies between 0 and 1. Received: fraction={fraction!r}")
    paths.check(path)
    if not model.generative.latent_units:
        raise ValueError("Annealing needs latent layers. Received: a network of its data layer alone")
    x = checks.rows("x", x, model.generative.units, model.generative.binary_data, missing=True)
    kernel = transitions.of(model.generative, transition)
    seed = random.stream(seed, "annealing schedule")
    rows = evenly_spaced(x, min(batch_size, power_of_two(len(x))))
    return adaptive(model, values_of(model, weights), rows, num_steps, fraction, path, kernel, seed)[0]


def evenly_spaced(x, count):
    """`count` rows of x, some of them twice if there are fewer."""
    return x[np.linspace(0, len(x) - 1, count).round().astype(int)]


def plan(model, values, x, schedule, num_steps, path, kernel, seed):
    """(β (T + 1,), step sizes (T + 1,)) for a run, from a pilot where one is needed.

    Args:
      model: a `DeepGenerativeModel`.
      values: (θ, φ), lists of tensors.
      x: the pilot's rows.
      schedule: a name or an array, see `schedules.fixed`.
      num_steps: T.
      path: a name.
      kernel: of the real layers, or None.
      seed: int32 of shape (2,).
    """
    betas = schedules.fixed(schedule, num_steps)
    if betas is None:
        betas, step_sizes = adaptive(model, values, x, num_steps, _FRACTION, path, kernel, seed)
    elif kernel is not None and kernel.step_size == "auto":
        betas, step_sizes = _run(model, values, x, betas, None, path, kernel, seed)
    else:
        step_sizes = np.zeros_like(betas)
    if kernel is not None and kernel.step_size != "auto":
        step_sizes = np.full_like(betas, kernel.step_size)
    return betas, step_sizes


def adaptive(model, values, x, num_steps, fraction, path, kernel, seed):
    """(β, step sizes), at most `num_steps` steps."""
    unvisited, attempt = np.ones(num_steps + 1, np.float32), 0
    while True:
        betas, step_sizes = _run(model, values, x, unvisited, fraction, path, kernel, random.fold(seed, attempt))
        if 1 in betas:
            last = int(np.argmax(betas == 1))
            return betas[: last + 1], step_sizes[: last + 1]
        # below the fraction of a single run of many the first step leads to the end, unless it has no weight at all
        if fraction < 1.0 / NUM_RUNS:
            raise ValueError("An adaptive schedule needs finite densities. Received: rows where they are not")
        fraction, attempt = 2.0 * fraction - 1.0, attempt + 1


def _run(model, values, x, betas, fraction, path, kernel, seed):
    def evaluate(generative, recognition, x, betas, fraction, seed):
        rows = paths.of(path, generative, recognition, x, NUM_RUNS, with_gaps)
        return pilot(rows, kernel, betas, fraction if adapts else None, seed)

    adapts, with_gaps = fraction is not None, incomplete.has_gaps(x)
    program = compiled(model, ("pilot", path, kernel, adapts, with_gaps), evaluate)
    found = program(*values, x, betas, tf.constant(fraction if adapts else 0.0, tf.float32), seed)
    return [part.numpy() for part in found]


def pilot(path, kernel, betas, fraction, seed):
    """One pilot run, in graph or eager mode.

    Args:
      path: `Path` of rows, NUM_RUNS of each.
      kernel: of the real layers, or None.
      betas: (T + 1,), the schedule; its length alone counts if it is to be found.
      fraction: that remains at each step of a schedule to be found; None to keep `betas`.
      seed: int32 of shape (2,).

    Returns:
      (β, step sizes), (T + 1,) each; of no meaning after the first β of 1.
    """
    start_seed, warm_seed, step_seed = tf.unstack(random.split(seed, 3))
    fits = kernel is not None and kernel.step_size == "auto"
    last = betas.shape[0] - 1
    repeats = math.ceil(_FEWEST_TRANSITIONS / last) if fits else 1
    first = _FIRST_STEP_SIZE if kernel is None or fits else kernel.step_size

    def transitions_at(beta, z, log_step, count, seed):
        def one(i, z, log_step):
            z, acceptance = transitions.move(path, beta, z, kernel, tf.exp(log_step), random.fold(seed, i))
            if fits:
                rate = tf.maximum(0.5 / (1.0 + tf.cast(i, tf.float32) / 5.0), 0.1)
                log_step += rate * (tf.reduce_mean(acceptance) - kernel.target_acceptance)
            return i + 1, z, log_step

        return tf.while_loop(lambda i, *_: i < count, one, (0, z, log_step), maximum_iterations=count)[1:]

    def step(t, beta, z, log_step, visited, step_sizes):
        beta = betas[t] if fraction is None else _next_beta(path, beta, z, fraction)
        z, log_step = transitions_at(beta, z, log_step, repeats, random.fold(step_seed, t))
        return t + 1, beta, z, log_step, visited.write(t, beta), step_sizes.write(t, tf.exp(log_step))

    z, log_step = path.start(start_seed), tf.math.log(tf.constant(first, tf.float32))
    beta = tf.constant(0.0)
    if fits:
        z, log_step = transitions_at(beta, z, log_step, _WARM_UP, warm_seed)
    arrays = [tf.TensorArray(tf.float32, last + 1, element_shape=[]) for _ in range(2)]
    arrays = [array.write(0, value) for array, value in zip(arrays, (beta, tf.exp(log_step)))]

    def unfinished(t, beta, *_):
        return (t <= last) & (beta < 1.0)

    state = (tf.constant(1), beta, z, log_step, *arrays)
    *_, visited, step_sizes = tf.while_loop(unfinished, step, state, maximum_iterations=last)
    return visited.stack(), step_sizes.stack()


def _next_beta(path, beta, z, fraction):
    """The β' above β at which `fraction` of the runs remains, or 1."""

    def remaining(after):
        log_u = tf.reshape(path.increment(beta, after, z), [NUM_RUNS, -1])
        squares = 2.0 * tf.reduce_logsumexp(log_u, 0) - tf.reduce_logsumexp(2.0 * log_u, 0)
        return tf.reduce_mean(tf.exp(squares)) / NUM_RUNS

    def halve(i, low, high):
        middle = 0.5 * (low + high)
        enough = remaining(middle) >= fraction
        return i + 1, tf.where(enough, middle, low), tf.where(enough, high, middle)

    # the upper end, so that there is progress always
    found = tf.while_loop(lambda i, *_: i < _BISECTIONS, halve, (0, beta, tf.constant(1.0)))[2]
    return tf.where(remaining(tf.constant(1.0)) >= fraction, 1.0, found)

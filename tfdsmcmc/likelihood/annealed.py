"""Annealed importance sampling: log p(x) from below, and from above where an exact posterior draw is known.

Let f_0, …, f_T be unnormalised densities f_β(z) on the way to f_T(z) = p(x, z; θ), with normalisers Z_t, Z_T = p(x),
and g the law of the first draw. Forward, with transitions that leave f_t invariant,

    w = f_0(z_0)/g(z_0) · Π_{t=1}^T f_t(z_{t−1})/f_{t−1}(z_{t−1}),      z_0 ~ g,  z_t ~ transition of f_t at z_{t−1}

has E w = p(x): z_{t−1} is weighed for step t before it moves to density t. In reverse,

    w' = Π_{t=T}^1 f_{t−1}(z_t)/f_t(z_t) · g(z_0)/f_0(z_0),   z_T ~ p(z given x), z_{t−1} ~ transition of f_{t−1} at z_t

has E w' = 1/p(x). Over R runs, log (1/R) Σ w is a lower bound of log p(x) in expectation, and −log (1/R) Σ w' an upper
bound.

    standard error (delta method)    √((R Σ w² / (Σ w)² − 1) / (R − 1))
    effective sample size            (Σ w)² / Σ w²          (of the runs)

The runs of a row in reverse begin at states of one posterior chain from the given draw z, `separation` transitions
apart. Each state is an exact draw, so that E w' is right in any case; but the states depend on each other, and

    Var (1/R) Σ w' = (1/R) Var w' + (1/R²) Σ_{r ≠ s} Cov(w'_r, w'_s)

of which the standard error has the first term alone. It is right where the posterior chain forgets z within
`separation` transitions, and too low elsewhere, as the effective sample size is too high: one draw cannot tell which.
An independent draw for each run makes both right; so does the mean over rows with draws of their own, see `sandwich`.

Sources: Neal, "Annealed importance sampling", Statistics and Computing 11 (2001); Grosse, Ghahramani and Adams,
"Sandwiching the marginal likelihood using bidirectional Monte Carlo", arXiv:1511.02543 (2015); Wu, Burda,
Salakhutdinov and Grosse, "On the quantitative analysis of decoder-based generative models", ICLR 2017.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tfdsmcmc import checks, incomplete, random
from tfdsmcmc.likelihood import paths, pilot, schedules, transitions
from tfdsmcmc.likelihood.estimate import LogLikelihood
from tfdsmcmc.likelihood.exact import exact
from tfdsmcmc.programs import at_weights, batches, compiled, power_of_two, values_of

_DIRECTIONS = ("forward", "reverse")


def annealed_importance_sampling(
    model,
    x,
    num_steps=1000,
    num_runs=16,
    path="prior",
    schedule="sigmoid",
    direction="forward",
    z=None,
    transition=None,
    seed=0,
    batch_size=100,
    weights=None,
    separation=10,
) -> LogLikelihood:
    """Estimates log p(x) of each row by R runs from a simple density of z to the posterior, or back.

    Args:
      model: a `DeepGenerativeModel`. Without latent layers log p(x) is exact and no run is made.
      x: (n, D). Entries that are NaN are missing: the estimate is of log p(x_observed) then.
      num_steps: T.
      num_runs: R, for each row.
      path: "prior", "recognition" or "weights", see `likelihood.paths`.
      schedule: of β: "sigmoid", "linear", "adaptive" (see `annealing_schedule`; T at most) or an increasing array from
        0 to 1, whose length decides instead of T.
      direction: "forward" for a lower bound in expectation, "reverse" for an upper one.
      z: in reverse, an exact draw from p(z given x) for each row: list of arrays (n, H_l), nearest to the data first;
        or (R, n, H_l), one for each run.
      transition: `HMC` or `MALA` for real latent layers, by default `HMC()`; binary ones are swept.
      seed: integer, or int32 tensor of shape (2,). The draws of a row depend on its batch.
      batch_size: rows at a time; of each, R states are held.
      weights: pair (θ, φ) of lists of arrays to evaluate at; by default the model's own weights.
      separation: in reverse, transitions between the states at which the runs of a row begin.

    Returns:
      `LogLikelihood`; the effective sample size is that of the runs.

    Raises:
      ValueError: for data, draws or a schedule that do not fit, or arguments out of range.
    """
    num_steps = checks.positive_integer("num_steps", num_steps)
    num_runs = checks.positive_integer("num_runs", num_runs)
    batch_size = checks.positive_integer("batch_size", batch_size)
    separation = checks.positive_integer("separation", separation)
    if not isinstance(direction, str) or direction not in _DIRECTIONS:
        raise ValueError(f"direction is one of {list(_DIRECTIONS)}. Received: direction={direction!r}")
    x = checks.rows("x", x, model.generative.units, model.generative.binary_data, missing=True)
    with_gaps = incomplete.has_gaps(x)
    if with_gaps:
        incomplete.check(model.generative)
    values = values_of(model, weights)
    paths.check(path)
    schedules.fixed(schedule, num_steps)
    if not model.generative.latent_units:
        with at_weights(model, values):
            return exact(model, x)
    kernel = transitions.of(model.generative, transition)
    z = _checked_draws(model.generative, z, len(x), num_runs, direction)
    pilot_seed = random.stream(seed, "annealed importance sampling, pilot")
    run_seed = random.stream(seed, f"annealed importance sampling, {direction}")

    batch_size = min(batch_size, power_of_two(len(x)))
    some = pilot.evenly_spaced(x, batch_size)
    betas, step_sizes = pilot.plan(model, values, some, schedule, num_steps, path, kernel, pilot_seed)
    last = tf.constant(len(betas) - 1)
    # of a length that other schedules share
    room = (0, power_of_two(len(betas) - 1) + 1 - len(betas))
    betas, step_sizes = (np.pad(part, room, mode="edge") for part in (betas, step_sizes))
    program = _program(model, path, kernel, direction, num_runs, separation, with_gaps)
    parts = []
    for rows, batch_seed in batches(len(x), batch_size, run_seed):
        batch, *draws = (_padded(part[..., rows, :], batch_size) for part in (x, *z))
        log_w = program(*values, batch, draws, betas, step_sizes, last, batch_seed).numpy()
        parts.append(log_w[:, : rows.stop - rows.start])
    return summary(np.concatenate(parts, 1), 1 if direction == "forward" else -1)


def summary(log_weights, sign=1):
    """The estimate from log-weights of runs.

    Args:
      log_weights: (R, n), of w or w'.
      sign: 1 for w, −1 for w', whose mean is 1/p(x).
    """
    runs = len(log_weights)
    highest = log_weights.max(0)
    # where all weights are 0 any finite reference will do
    w = np.exp(log_weights - np.where(np.isfinite(highest), highest, 0.0))
    total, squares = w.sum(0), np.square(w).sum(0)
    with np.errstate(divide="ignore", invalid="ignore"):
        error = np.sqrt(np.maximum(runs * squares / total**2 - 1.0, 0.0) / np.float64(runs - 1))
        return LogLikelihood(sign * (highest + np.log(total / runs)), error, total**2 / squares)


def forward(path, kernel, betas, step_sizes, seed, last=None):
    """log w of one run for each row of a path, (n,) float64.

    Args:
      path: `Path`.
      kernel: of the real layers, or None.
      betas: (T + 1,).
      step_sizes: (T + 1,), of the transitions at each β.
      seed: int32 of shape (2,).
      last: T, where what follows in the arrays is to be left out.
    """
    start_seed, step_seed = tf.unstack(random.split(seed))
    z = path.start(start_seed)
    last = betas.shape[0] - 1 if last is None else last

    def step(t, z, log_w):
        # weighed where it stands, then moved: the other way round E w is not p(x)
        log_w += _double(path.increment(betas[t - 1], betas[t], z))
        z, _ = transitions.move(path, betas[t], z, kernel, step_sizes[t], random.fold(step_seed, t))
        return t + 1, z, log_w

    state = (tf.constant(1), z, _double(path.log_start(z)))
    return tf.while_loop(lambda t, *_: t <= last, step, state)[-1]


def reverse(path, kernel, z, betas, step_sizes, seed, last=None):
    """log w' of one run for each row of a path, from exact posterior draws z, (n,) float64."""
    last = betas.shape[0] - 1 if last is None else last

    def step(t, z, log_w):
        log_w -= _double(path.increment(betas[t - 1], betas[t], z))
        z, _ = transitions.move(path, betas[t - 1], z, kernel, step_sizes[t - 1], random.fold(seed, t))
        return t - 1, z, log_w

    state = (tf.convert_to_tensor(last), z, tf.zeros(path.x.shape[:1], tf.float64))
    _, z, log_w = tf.while_loop(lambda t, *_: t >= 1, step, state)
    return log_w - _double(path.log_start(z))


def posterior_chain(path, kernel, z, step_size, count, separation, seed):
    """`count` states of a chain at β = 1 from z, `separation` transitions apart: list of tensors (count, n, H_l)."""

    def one(i, z):
        return i + 1, transitions.move(path, tf.constant(1.0), z, kernel, step_size, random.fold(seed, i))[0]

    def several(r, z, kept):
        bounds = {"maximum_iterations": separation}
        _, z = tf.while_loop(lambda i, _: i < (r + 1) * separation, one, (r * separation, z), **bounds)
        return r + 1, z, [array.write(r, part) for array, part in zip(kept, z)]

    kept = [tf.TensorArray(part.dtype, count, element_shape=part.shape) for part in z]
    kept = tf.while_loop(lambda r, *_: r < count, several, (tf.constant(0), z, kept), maximum_iterations=count)[-1]
    return [array.stack() for array in kept]


def _program(model, name, kernel, direction, num_runs, separation, with_gaps):
    """The compiled log-weights (R, B) at explicit weights."""

    def evaluate(generative, recognition, x, z, betas, step_sizes, last, seed):
        path = paths.of(name, generative, recognition, x, num_runs, with_gaps)
        if direction == "forward":
            log_w = forward(path, kernel, betas, step_sizes, seed, last)
        else:
            chain_seed, run_seed = tf.unstack(random.split(seed))
            z = [tf.cast(part, tf.float32) for part in z]
            if z[0].shape.rank == 2:
                one_each = paths.of(name, generative, recognition, x, 1, with_gaps)
                z = posterior_chain(one_each, kernel, z, step_sizes[-1], num_runs, separation, chain_seed)
            z = [tf.reshape(part, [num_runs * x.shape[0], part.shape[-1]]) for part in z]
            log_w = reverse(path, kernel, z, betas, step_sizes, run_seed, last)
        return tf.reshape(log_w, [num_runs, x.shape[0]])

    return compiled(model, ("annealed", name, kernel, direction, num_runs, separation, with_gaps), evaluate)


def _padded(rows, size):
    """(…, n, units) with the last row repeated up to `size`."""
    missing = size - rows.shape[-2]
    return np.pad(rows, [(0, 0)] * (rows.ndim - 2) + [(0, missing), (0, 0)], mode="edge") if missing else rows


def _checked_draws(generative, z, rows, runs, direction):
    """z as a list of arrays, empty for a forward run."""
    if direction == "forward":
        if z is not None:
            raise ValueError("z is where reverse runs begin; forward runs draw their own. Received: z with 'forward'")
        return []
    widths = generative.latent_units
    try:
        z = [np.asarray(part) for part in z] if isinstance(z, (list, tuple)) else z
    except ValueError:  # ragged
        z = None
    shapes = [part.shape for part in z] if isinstance(z, list) else type(z).__name__
    expected = [[(*lead, rows, width) for width in widths] for lead in ((), (runs,))]
    if shapes not in expected:
        raise ValueError(
            f"direction='reverse' needs z, exact posterior draws of shapes {expected[0]}, or {expected[1]} with one "
            f"for each run. Received: {shapes}"
        )
    layers = generative.layers[-2::-1]
    flat = (part.reshape(-1, part.shape[-1]) for part in z)
    found = [checks.rows("z", part, layer.units, layer.binary) for part, layer in zip(flat, layers)]
    return [part.reshape(shape) for part, shape in zip(found, shapes)]


def _double(log_weights):
    """In float64: a sum of thousands of steps in float32 loses digits."""
    return tf.cast(log_weights, tf.float64)

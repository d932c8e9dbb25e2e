"""Annealed importance sampling: log p(x) from below, and from above where an exact posterior draw is known.

Runs along a path from a simple density of z to f_1(z) = p(x, z; θ), whose normaliser is p(x), have weights w with the
mean p(x); runs back from exact posterior draws have weights w' with the mean 1/p(x) (see `runs`). So log (1/R) Σ w is a
lower bound of log p(x) in expectation, and −log (1/R) Σ w' an upper bound.

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

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import tensorflow as tf

from tfdsmcmc import contract, random
from tfdsmcmc._common import checks
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc.annealing import pilot, runs, schedules
from tfdsmcmc.annealing.adaptive import pilot_of
from tfdsmcmc.annealing.latent_paths import check_name, path_over_latents
from tfdsmcmc.annealing.transitions import transition_for
from tfdsmcmc.programs import at_weights, batches, compiled, power_of_two, values_of
from tfdsmcmc.rows import source_of
from tfdsmcmc.supports import checked_array

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Seed, ThetaAndPhi
    from tfdsmcmc.annealing.latent_paths import PathName
    from tfdsmcmc.annealing.schedules import Schedule
    from tfdsmcmc.annealing.transitions import HMC, MALA
    from tfdsmcmc.programs import DirectedModel
    from tfdsmcmc.rows.from_users import RowsLike

_DIRECTIONS = ("forward", "reverse")


def annealed_importance_sampling(
    model: DirectedModel,
    x: RowsLike,
    num_steps: int = 1000,
    num_runs: int = 16,
    path: PathName = "prior",
    schedule: Schedule = "sigmoid",
    direction: Literal["forward", "reverse"] = "forward",
    z: Sequence[ArrayLike] | None = None,
    transition: HMC | MALA | None = None,
    seed: Seed = 0,
    batch_size: int = 100,
    weights: ThetaAndPhi | None = None,
    separation: int = 10,
) -> LogLikelihood:
    """Estimates log p(x) of each row by R runs from a simple density of z to the posterior, or back.

    Args:
      model: a `DeepGenerativeModel`. Without latent layers log p(x) is exact and no run is made.
      x: (n, D), a source of rows or a `tf.data.Dataset` of batches. Entries that are NaN are missing: the estimate is
        of log p(x_observed) then.
      num_steps: T.
      num_runs: R, for each row.
      path: "prior", "recognition" or "weights", see `annealing.latent_paths`.
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
    num_steps = checks.positive_int32("num_steps", num_steps)
    num_runs = checks.positive_int32("num_runs", num_runs)
    batch_size = checks.positive_integer("batch_size", batch_size)
    separation = checks.positive_int32("separation", separation)
    checks.one_of("direction", direction, _DIRECTIONS)
    contract.check_directed(model, "Annealing of z", "Of log Z there is boltzmann.log_partition.")
    source = source_of("x", x, model.generative.units, model.generative.support, context=model.generative.context)
    model.generative.check_gaps(source)
    values = values_of(model, weights)
    check_name(path)
    schedules.fixed(schedule, num_steps)
    if not model.generative.latent_units:
        return _of_the_data_layer(model, values, source, batch_size)
    kernel = transition_for(model.generative, transition)
    z = _checked_draws(model.generative, z, source.num_rows, num_runs, direction)
    pilot_seed = random.stream(seed, "annealed importance sampling, pilot")
    run_seed = random.stream(seed, f"annealed importance sampling, {direction}")

    batch_size = min(batch_size, power_of_two(source.num_rows))
    pilot_run = pilot_of(model, values, source.evenly_spaced(batch_size), path, kernel)
    betas, step_sizes = pilot.plan(pilot_run, schedule, num_steps, getattr(kernel, "step_size", None), pilot_seed)
    last = tf.constant(len(betas) - 1)
    # of a length that other schedules share
    room = (0, power_of_two(len(betas) - 1) + 1 - len(betas))
    betas, step_sizes = (np.pad(part, room, mode="edge") for part in (betas, step_sizes))
    program = _program(model, path, kernel, direction, num_runs, separation)
    parts, first = [], 0
    for rows, batch_seed in batches(source, batch_size, run_seed):
        count = len(rows.values)
        draws = [_padded(part[..., first : first + count, :], batch_size) for part in z]
        log_w = program(*values, rows.padded(batch_size), draws, betas, step_sizes, last, batch_seed).numpy()
        parts.append(log_w[:, :count])
        first += count
    return runs.log_normaliser(np.concatenate(parts, 1), 1 if direction == "forward" else -1)


def _of_the_data_layer(model, values, source, batch_size):
    """log p(x) without latent layers: the data layer's own."""
    with at_weights(model, values):
        parts = [model.generative.log_joint(rows.floats(), []).numpy() for rows, _ in batches(source, batch_size, 0)]
    value = np.concatenate(parts).astype(np.float64)
    return LogLikelihood(value, np.zeros(len(value)), np.full(len(value), np.inf))


def _program(model, name, kernel, direction, num_runs, separation):
    """The compiled log-weights (R, B) at explicit weights."""

    def evaluate(generative, recognition, rows, z, betas, step_sizes, last, seed):
        count = rows.values.shape[0]
        path = path_over_latents(name, generative, recognition, rows, kernel, num_runs)
        if direction == "forward":
            log_w = runs.forward(path, betas, seed, step_sizes, last)
        else:
            chain_seed, run_seed = tf.unstack(random.split(seed))
            z = [tf.cast(part, tf.float32) for part in z]
            if z[0].shape.rank == 2:
                one_each = path_over_latents(name, generative, recognition, rows, kernel, 1)
                z = runs.target_chain(one_each, z, num_runs, separation, chain_seed, step_sizes[-1])
            z = [tf.reshape(part, [num_runs * count, part.shape[-1]]) for part in z]
            log_w = runs.reverse(path, z, betas, run_seed, step_sizes, last)
        return tf.reshape(log_w, [num_runs, count])

    return compiled(model, ("annealed", name, kernel, direction, num_runs, separation), evaluate)


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
    if isinstance(z, (list, tuple)) and any(np.ma.is_masked(part) for part in z):
        raise ValueError("z is known whole where a run begins. Received: a masked array")
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
    found = [checked_array("z", part, layer.units, layer.support) for part, layer in zip(flat, layers)]
    return [part.reshape(shape) for part, shape in zip(found, shapes)]

"""Schedules for annealing over the latent variables of a network, found by a pilot run on some of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import contract, random
from tfdsmcmc._common import checks
from tfdsmcmc.annealing import pilot
from tfdsmcmc.annealing.latent_paths import check_name, path_over_latents
from tfdsmcmc.annealing.pilot import FRACTION
from tfdsmcmc.annealing.transitions import transition_for
from tfdsmcmc.programs import compiled, power_of_two, values_of
from tfdsmcmc.rows import source_of

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, ThetaAndPhi
    from tfdsmcmc.annealing.latent_paths import PathName
    from tfdsmcmc.annealing.transitions import HMC, MALA
    from tfdsmcmc.programs import DirectedModel
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.rows import Rows


def annealing_schedule(
    model: DirectedModel,
    x: RowsLike,
    num_steps: int = 1000,
    fraction: float = FRACTION,
    path: PathName = "prior",
    transition: HMC | MALA | None = None,
    seed: Seed = 0,
    batch_size: int = 100,
    weights: ThetaAndPhi | None = None,
) -> np.ndarray:
    """β_0, …, β_T at which neighbouring densities are equally far apart, by a pilot run.

    Args:
      model: a `DeepGenerativeModel` with latent layers.
      x: (n, D), a source of rows or a `tf.data.Dataset` of batches; `batch_size` rows of them, evenly spaced, are used.
        NaN is missing.
      num_steps: the most steps T. Where `fraction` would take more, 1 − fraction is doubled until it does not.
      fraction: conditional effective sample size of a step, as a fraction of the runs.
      path: "prior", "recognition" or "weights", see `annealing.latent_paths`.
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
    fraction = checks.fraction("fraction", fraction)
    check_name(path)
    contract.check_directed(model, "A schedule of annealing", "boltzmann.log_partition finds its own.")
    if not model.generative.latent_units:
        raise ValueError("Annealing needs latent layers. Received: a network of its data layer alone")
    source = source_of("x", x, model.generative.units, model.generative.support, context=model.generative.context)
    model.generative.check_gaps(source)
    kernel = transition_for(model.generative, transition)
    seed = random.stream(seed, "annealing schedule")
    rows = source.evenly_spaced(min(batch_size, power_of_two(source.num_rows)))
    run = pilot_of(model, values_of(model, weights), rows, path, kernel)
    return pilot.adaptive(run, num_steps, fraction, seed)[0]


def pilot_of(
    model: DirectedModel,
    values: ThetaAndPhi,
    rows: Rows,
    path: PathName,
    kernel: HMC | MALA | None,
) -> Callable[..., Sequence[np.ndarray]]:
    """The compiled pilot along a path over the latents, a function (betas, fraction, seed) → (β, step sizes).

    Args:
      model: a `DeepGenerativeModel`.
      values: (θ, φ), lists of tensors.
      rows: `Rows`, the pilot's.
      path: its name.
      kernel: of the real layers, or None.
    """

    def run(betas, fraction, seed):
        adapts = fraction is not None

        def evaluate(generative, recognition, rows, betas, fraction, seed):
            runs = path_over_latents(path, generative, recognition, rows, kernel, pilot.NUM_RUNS)
            return pilot.pilot(runs, betas, fraction if adapts else None, seed)

        program = compiled(model, ("pilot", path, kernel, adapts), evaluate)
        found = program(*values, rows, betas, tf.constant(fraction if adapts else 0.0, tf.float32), seed)
        return [part.numpy() for part in found]

    return run

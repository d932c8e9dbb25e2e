"""Bidirectional Monte Carlo: log p(x) between a lower and an upper bound, on rows simulated from the model.

For (x, z) ~ p(x, z; θ), z is an exact draw from p(z given x), from which annealed importance sampling runs backwards:

    E lower ≤ log p(x) ≤ E upper

so that the gap, the mean of upper − lower over the rows, bounds the mean error of either. It is measured on simulated
rows; that real rows are as easy is an assumption.

The rows are independent, z included. The standard error of the gap over rows therefore counts all that is random, also
what the runs of a row have in common through their one exact draw; the Monte Carlo error does not.

Source: Grosse, Ghahramani and Adams, "Sandwiching the marginal likelihood using bidirectional Monte Carlo",
arXiv:1511.02543 (2015); Wu, Burda, Salakhutdinov and Grosse, "On the quantitative analysis of decoder-based generative
models", ICLR 2017, section 4.1.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc import contract, random
from tfdsmcmc._common import checks
from tfdsmcmc._common.estimates import Estimate, LogLikelihood
from tfdsmcmc.annealing import schedules
from tfdsmcmc.annealing.adaptive import annealing_schedule
from tfdsmcmc.annealing.annealed_importance_sampling import annealed_importance_sampling
from tfdsmcmc.annealing.latent_paths import check_name
from tfdsmcmc.annealing.transitions import transition_for
from tfdsmcmc.programs import at_weights, values_of
from tfdsmcmc.rows import Rows
from tfdsmcmc.rows.context import of_draws
from tfdsmcmc.supports import checked_array

if TYPE_CHECKING:

    from tfdsmcmc._common.types import Seed, ThetaAndPhi
    from tfdsmcmc.annealing.latent_paths import PathName
    from tfdsmcmc.annealing.schedules import Schedule
    from tfdsmcmc.annealing.transitions import HMC, MALA
    from tfdsmcmc.programs import DirectedModel


class Sandwich(NamedTuple):
    """Bounds on log p(x) of simulated rows.

    Attributes:
      x: (n, D), the rows.
      lower: `LogLikelihood`, below log p(x) in expectation.
      upper: `LogLikelihood`, above it in expectation.
    """

    x: np.ndarray
    lower: LogLikelihood
    upper: LogLikelihood

    @property
    def gap(self) -> Estimate:
        """The mean of upper − lower; its row standard error is the one to state."""
        error = np.hypot(self.lower.standard_error, self.upper.standard_error)
        size = np.minimum(self.lower.effective_sample_size, self.upper.effective_sample_size)
        return LogLikelihood(self.upper.value - self.lower.value, error, size).mean()


def sandwich(
    model: DirectedModel,
    num_rows: int = 100,
    num_steps: int = 1000,
    num_runs: int = 16,
    path: PathName = "prior",
    schedule: Schedule = "sigmoid",
    transition: HMC | MALA | None = None,
    seed: Seed = 0,
    batch_size: int = 100,
    weights: ThetaAndPhi | None = None,
    separation: int = 10,
    context: Any = None,
) -> Sandwich:
    """Bounds log p(x) of rows simulated from the model from both sides.

    Args:
      model: a `DeepGenerativeModel`. Without latent layers both bounds are exact.
      num_rows: n.
      num_steps: T.
      num_runs: R, for each row and direction.
      path: "prior", "recognition" or "weights".
      schedule: of β, see `annealed_importance_sampling`; both directions share it.
      transition: `HMC` or `MALA` for real latent layers; each direction fits step sizes of its own.
      seed: integer, or int32 tensor of shape (2,); of the rows too.
      batch_size: rows at a time.
      weights: pair (θ, φ) of lists of arrays to evaluate at; by default the model's own weights.
      separation: transitions between the states at which the reverse runs of a row begin.
      context: of each simulated row, or one for all, where the model has one; see `DeepGenerativeModel.sample`.

    Returns:
      `Sandwich`.

    Raises:
      ValueError: for arguments that `annealed_importance_sampling` refuses, or a count below 1.
    """
    num_rows = checks.positive_int32("num_rows", num_rows)
    check_name(path)
    contract.check_directed(model, "annealing.sandwich", "Of log Z there is boltzmann.sandwich.")
    transition_for(model.generative, transition)
    schedules.fixed(schedule, checks.positive_int32("num_steps", num_steps))
    context = of_draws(model.generative.context, context, num_rows)
    data_seed, *seeds = tf.unstack(random.split(random.stream(seed, "sandwich"), 4))
    with at_weights(model, values_of(model, weights)):
        x, z = model.generative.sample(num_rows, data_seed, context)
    x = checked_array("x", x.numpy(), model.generative.units, model.generative.support)
    rows = Rows(x, context=context).plain
    arguments = {"num_steps": num_steps, "num_runs": num_runs, "path": path, "transition": transition}
    arguments |= {"schedule": schedule, "batch_size": batch_size, "weights": weights, "separation": separation}
    if isinstance(schedule, str) and schedule == "adaptive" and z:
        shared = {key: arguments[key] for key in ("num_steps", "path", "transition", "batch_size", "weights")}
        arguments["schedule"] = annealing_schedule(model, rows, seed=seeds[2], **shared)
    lower = annealed_importance_sampling(model, rows, seed=seeds[0], **arguments)
    draws = [part.numpy() for part in z]
    upper = annealed_importance_sampling(model, rows, direction="reverse", z=draws, seed=seeds[1], **arguments)
    return Sandwich(x, lower, upper)

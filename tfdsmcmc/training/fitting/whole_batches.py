"""A warning of minibatches of all rows, whose gradients do not tell a warm start how long its steps may be."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdsmcmc._common.warning import warn
from tfdsmcmc.mcmc import WarmStart

if TYPE_CHECKING:
    from tfdsmcmc.rows.source import Source
    from tfdsmcmc.supports import Support
    from tfdsmcmc.training.fitting.arguments import FitArguments
    from tfdsmcmc.training.steps.step import Step


def warn_of_whole_batches(step: Step, support: Support, source: Source, told: FitArguments) -> None:
    """Warns where the choice of rows makes no noise, by which rates are found, and some columns are of numbers.

    Args:
      step: of one chain, with or without a kernel.
      support: of the rows.
      source: the rows.
      told: the arguments of `fit`.

    Warns:
      UserWarning: for rows of numbers, all of them in a minibatch, by a kernel with rates by noise that is to move θ,
        see `mcmc.rates_by_noise`.
    """
    whole = source.random_access and 1 < source.num_rows <= told.batch_size
    if whole and not support.discrete and told.planned_epochs and _goes_by_noise(step):
        warn(
            "A minibatch of all rows has no noise of the choice of rows, by which the kernel finds how long its steps "
            "may be. Weights that say one column of numbers by others may be flung off when sampling begins. Take a "
            f"batch_size of at most half of the rows. Received: {source.num_rows} rows, batch_size={told.batch_size}"
        )


def _goes_by_noise(step):
    """Whether a kernel with rates by noise moves θ; in a refit of φ none does."""
    kernel = getattr(step, "kernel", None)
    return isinstance(kernel, WarmStart) and kernel.tolerance is not None and getattr(step, "kernel_steps", 1) > 0

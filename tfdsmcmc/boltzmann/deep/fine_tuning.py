"""How all layers of a deep belief network learn together: `compile`, `fine_tune` and `evaluate` of `DBN`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import keras

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc.boltzmann.deep import estimates as deep_estimates
from tfdsmcmc.boltzmann.deep.sweeps import check_binary
from tfdsmcmc.boltzmann.deep.wake_sleep import ContrastiveWakeSleep
from tfdsmcmc.boltzmann.machines.contrastive_divergence import FLAT
from tfdsmcmc.mcmc import MAP
from tfdsmcmc.priors import Prior
from tfdsmcmc.training.fitting.evaluating import evaluated
from tfdsmcmc.training.fitting.learner import Learner
from tfdsmcmc.training.steps.doubly_stochastic import DoublyStochasticStep

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Callbacks, Evaluation, Verbose
    from tfdsmcmc.boltzmann.deep.dbn import DBN
    from tfdsmcmc.rows.from_users import RowsLike


def compile(
    self: DBN,
    kernel: MAP | None = None,
    estimator: ContrastiveWakeSleep | None = None,
    steps_per_execution: int | Literal["auto"] = 1,
    jit_compile: bool = True,
) -> None:
    """Chooses how `fine_tune` learns all layers, and begins its run at the present weights.

    From here on the recognition weights are the network's own; `fit` sets them to those that the machines learn,
    and refuses once `fine_tune` has begun. The first time, the machines above the lowest, whose rows are drawn by
    these weights, begin new runs with the settings that they had.

    Args:
      kernel: `mcmc.MAP`, by default of `SGD(0.01, momentum=0.9)`. A decay of weights is the optimizer's.
      estimator: `ContrastiveWakeSleep`; by default with five steps.
      steps_per_execution: minibatches in one compiled call.
      jit_compile: whether to compile with XLA.

    Raises:
      ValueError: for a single machine, a frozen one, units that are not binary, an argument of another kind or out of
        range.
    """
    _check_learns(self)
    kernel = MAP(optimizer=keras.optimizers.SGD(0.01, momentum=0.9)) if kernel is None else kernel
    estimator = ContrastiveWakeSleep() if estimator is None else estimator
    if not isinstance(kernel, MAP):
        raise ValueError(
            "kernel must be a MAP: wake-sleep follows the gradient of no density, which alone could be sampled. "
            f"Received: kernel={kernel!r}"
        )
    if not isinstance(estimator, ContrastiveWakeSleep):
        raise ValueError(f"estimator must be a ContrastiveWakeSleep. Received: estimator={estimator!r}")
    if len(self.rbms) == 1:
        raise ValueError("A single machine learns by itself: compile the RBM. Received: a network of one machine")
    check_binary("The gradients of contrastive wake-sleep", self.machines)
    settings = {
        "kernel": kernel,
        "estimator": estimator,
        "steps_per_execution": checks.positive_or_auto("steps_per_execution", steps_per_execution),
        "jit_compile": checks.jit_compile(jit_compile),
    }
    if self.parts.own is None:
        self.separate()
    step = DoublyStochasticStep(self, Prior(FLAT), estimator, kernel, jit_compile=settings["jit_compile"])
    self._begin_run(step, None, settings)


def fine_tune(self: DBN, x: RowsLike, **arguments: Any) -> keras.callbacks.History:
    """Learns all layers together, by contrastive wake-sleep (see `boltzmann.deep.wake_sleep`).

    Args:
      x: what `RBM.fit` takes.
      **arguments: of `RBM.fit`.

    Returns:
      `keras.callbacks.History`; of validation data `val_unnormalized_bound`.

    Raises:
      ValueError: for data or counts that do not fit, a machine that was frozen, or a network that is not compiled;
        nothing is changed then.
    """
    _check_learns(self)
    return Learner.fit(self, x, **arguments)


def evaluate(
    self: DBN,
    x: RowsLike | None = None,
    y: None = None,
    *,
    batch_size: int | None = None,
    verbose: Verbose = "auto",
    callbacks: Callbacks | None = None,
    return_dict: bool = False,
    **keras_arguments: Any,
) -> Evaluation:
    """The mean of the variational bound of log p(x) plus log Z of the topmost machine, at one draw for each row.

    Args:
      x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
      y: must be None.
      batch_size: rows at a time.
      verbose: 0 is silent; otherwise a line is printed.
      callbacks: Keras callbacks; they see the beginning and the end of the test.
      return_dict: whether to return a dict, or a list.

    Returns:
      `unnormalized_bound`, in nats. log Z moves with the weights: `log_likelihood_bound` has it.
    """
    batch_size = checks.positive_integer("batch_size", 1000 if batch_size is None else batch_size)

    def measured(inside_fit):
        source = self.source("x", self.validation_source if inside_fit else x)
        seed = random.stream(self.seed, "validation")
        arguments = (self.stack, source, batch_size, seed, self.uses_xla)
        return {"unnormalized_bound": deep_estimates.mean_unnormalized_bound(*arguments)}

    return evaluated(self, measured, y, callbacks, verbose, return_dict, keras_arguments)


def _check_learns(dbn):
    """Raises a ValueError for frozen machines: the gradient is that of all layers."""
    if frozen := [rbm.name for rbm in dbn.rbms if len(rbm.theta_variables) < len(rbm.all_theta)]:
        raise ValueError(f"fine_tune learns all machines, and none of them may be frozen. Received: {frozen} frozen")

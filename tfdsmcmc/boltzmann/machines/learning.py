"""How a Boltzmann machine learns: `compile` and `evaluate` of `RBM`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any, Literal

import keras

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc.boltzmann.frozen import check_learns
from tfdsmcmc.boltzmann.machines.contrastive_divergence import ContrastiveDivergence
from tfdsmcmc.boltzmann.machines.sampling import mean_unnormalized
from tfdsmcmc.mcmc import MAP
from tfdsmcmc.mcmc.by_name import kernel_of
from tfdsmcmc.training.fitting.evaluating import evaluated
from tfdsmcmc.training.steps.doubly_stochastic import DoublyStochasticStep
from tfdsmcmc.training.steps.gradient_estimator import GradientEstimator

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Callbacks, Evaluation, KernelName, Verbose
    from tfdsmcmc.boltzmann.machines.rbm import RBM
    from tfdsmcmc.mcmc.base import StochasticGradientKernel
    from tfdsmcmc.rows.from_users import RowsLike

_MONITORED = 1000  # rows of the training data that the free-energy gap looks at


def compile(
    self: RBM, kernel: StochasticGradientKernel | KernelName | None = None,
    estimator: GradientEstimator | None = None, kernel_steps: int = 1,
    steps_per_execution: int | Literal["auto"] = 1, jit_compile: bool = True, num_chains: int = 1,
) -> None:  # fmt: skip
    """Chooses how the weights are learnt, and begins a new run at the present weights.

    Args:
      kernel: transition kernel of the weights, or its name such as "sghmc". `mcmc.MAP` with momentum climbs, by any
        estimator. `mcmc.SGHMC` and `mcmc.SGNHT` sample the posterior where persistent chains keep up with the
        weights; with chains that start at the rows they sample something wider (`contrastive_divergence`). By
        default `MAP(optimizer=SGD(0.05, momentum=0.5))`.
      estimator: `ContrastiveDivergence`, by default with one step, and with persistent chains where the kernel
        samples; or any `GradientEstimator` of weights in the order of `theta_variables`, which has the prior in it.
      kernel_steps: updates on each minibatch.
      steps_per_execution: minibatches in one compiled call; "auto" for up to 50 of an epoch.
      jit_compile: whether to compile with XLA.
      num_chains: C, Markov chains over the weights; the variables are those of chain 0.

    Raises:
      ValueError: for an argument of another kind or out of range, or a machine that is frozen.

    Warns:
      UserWarning: for a kernel that samples and an estimator whose chains start at the rows.
    """
    check_learns(self)
    kernel = MAP(optimizer=keras.optimizers.SGD(0.05, momentum=0.5)) if kernel is None else kernel
    kernel = kernel_of(kernel)
    samples = not isinstance(kernel, MAP)
    estimator = ContrastiveDivergence(persistent=samples) if estimator is None else estimator
    if not isinstance(estimator, GradientEstimator):
        raise ValueError(f"estimator must be a GradientEstimator. Received: estimator={estimator!r}")
    settings = {
        "kernel": kernel,
        "estimator": estimator,
        "kernel_steps": checks.positive_integer("kernel_steps", kernel_steps),
        "steps_per_execution": checks.positive_or_auto("steps_per_execution", steps_per_execution),
        "jit_compile": checks.jit_compile(jit_compile),
        "num_chains": checks.positive_integer("num_chains", num_chains),
    }
    bound = _bound(self, estimator, kernel, settings["kernel_steps"])
    step = DoublyStochasticStep(self, self.prior, bound, kernel, kernel_steps, jit_compile=settings["jit_compile"])
    self._begin_run(step, None, settings)


def evaluate(
    self: RBM, x: RowsLike | None = None, y: None = None, *, batch_size: int | None = None, verbose: Verbose = "auto",
    callbacks: Callbacks | None = None, return_dict: bool = False, **keras_arguments: Any,
) -> Evaluation:  # fmt: skip
    """The mean of log p*(x), and within `fit` the free-energy gap.

    The gap, mean log p*(x) of up to 1,000 training rows, evenly spaced, less that of the validation rows, needs no
    log Z: where it grows, the machine begins to know the training rows by heart.

    Args:
      x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
      y: must be None.
      batch_size: rows at a time.
      verbose: 0 is silent; otherwise a line is printed.
      callbacks: Keras callbacks; they see the beginning and the end of the test.
      return_dict: whether to return a dict, or a list.

    Returns:
      `unnormalized_log_prob`, in nats; in the validation of `fit` also `free_energy_gap`.
    """
    batch_size = checks.positive_integer("batch_size", 1000 if batch_size is None else batch_size)

    def measured(inside_fit):
        source = self.source("x", self.validation_source if inside_fit else x)
        logs = {"unnormalized_log_prob": _mean(self, source.batches(batch_size))}
        if inside_fit and self.fitting.feed.source.random_access:
            known = self.fitting.feed.source.evenly_spaced(min(_MONITORED, self.fitting.feed.source.num_rows))
            logs["free_energy_gap"] = _mean(self, [known]) - logs["unnormalized_log_prob"]
        return logs

    return evaluated(self, measured, y, callbacks, verbose, return_dict, keras_arguments)


def _bound(rbm, estimator, kernel, kernel_steps):
    """The estimator for this machine, its prior and its rows."""
    if not isinstance(estimator, ContrastiveDivergence):
        if rbm.lift is not None:
            raise ValueError(
                "Above other machines a machine learns by ContrastiveDivergence, which draws their units. "
                f"Received: estimator={estimator!r}"
            )
        return estimator
    if callable(estimator.steps) and kernel_steps > 1:
        raise ValueError(
            "Steps that depend on the epoch are counted by updates: they need one update for each minibatch. "
            f"Received: kernel_steps={kernel_steps}"
        )
    if not (isinstance(kernel, MAP) or estimator.persistent):
        warnings.warn(
            f"{type(kernel).__name__} samples the posterior by its gradient, and contrastive divergence with "
            "chains that start at the rows is none: samples are too wide. Take "
            "ContrastiveDivergence(persistent=True).",
            stacklevel=4,
        )
    return estimator.of(rbm.prior, rbm.lift, type(rbm.machine))


def _mean(rbm, batches):
    return mean_unnormalized(rbm.machine, rbm.lift, batches, random.stream(rbm.seed, "validation"))

"""The weights of a deep belief network, and how all its layers learn together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc._common.finite import check_finite
from tfdsmcmc.boltzmann.deep import estimates as deep_estimates
from tfdsmcmc.boltzmann.deep import stack as deep
from tfdsmcmc.boltzmann.deep.lift import Lift
from tfdsmcmc.boltzmann.deep.sweeps import check_binary
from tfdsmcmc.boltzmann.deep.wake_sleep import ContrastiveWakeSleep, stack_of
from tfdsmcmc.boltzmann.machines.contrastive_divergence import FLAT
from tfdsmcmc.boltzmann.machines.layer import RecognitionKernels
from tfdsmcmc.boltzmann.partition.exact import machine_of
from tfdsmcmc.mcmc import MAP
from tfdsmcmc.priors import Prior
from tfdsmcmc.rows import DatasetSource, source_of
from tfdsmcmc.training.fitting.evaluating import evaluated
from tfdsmcmc.training.fitting.learner import Learner
from tfdsmcmc.training.steps.doubly_stochastic import DoublyStochasticStep

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Callbacks, Evaluation, TensorLike, Verbose
    from tfdsmcmc.boltzmann.deep.stack import Stack
    from tfdsmcmc.boltzmann.machines.machine import Machine
    from tfdsmcmc.boltzmann.machines.rbm import RBM
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.rows import Rows
    from tfdsmcmc.rows.source import Source
    from tfdsmcmc.supports import Support


class FineTuned(Learner):
    """The part of a deep belief network that holds its weights and fine-tunes them.

    Args:
      rbms: list of `RBM`, bottom first, checked.
      own_recognition: whether the recognition weights are the network's own.
      **kwargs: of `keras.Model`.
    """

    takes_gaps = False
    instead = "log_likelihood_bound, log_likelihood or sample"

    def __init__(self, rbms: Sequence[RBM], own_recognition: bool, **kwargs: Any):
        super().__init__(**kwargs)
        self.rbms: list[RBM] = list(rbms)
        self._own = None
        self.built = True
        if own_recognition:
            check_binary("Recognition weights of its own", self.machines)
            self._separate()
        self._lift_machines()

    @property
    def units(self) -> int:
        """D."""
        return self.rbms[0].units

    @property
    def support(self) -> Support:
        """Whether rows are zeros and ones."""
        return self.rbms[0].support

    @property
    def seed(self) -> int:
        """Of fine-tuning: that of the lowest machine."""
        return self.rbms[0].seed

    @property
    def machines(self) -> list[Machine]:
        """The present weights, a list of `Machine`, bottom first."""
        return [machine_of(rbm) for rbm in self.rbms]

    @property
    def recognition_kernels(self) -> list[keras.Variable]:
        """R^l of all machines but the topmost, a list of variables; W^l where the network has none of its own."""
        return [rbm.kernel for rbm in self.rbms[:-1]] if self._own is None else list(self._own.kernels)

    @property
    def fine_tuned(self) -> bool:
        """Whether `fine_tune` has begun, or the recognition weights are others than the machines'."""
        if self._own is None:
            return False
        pairs = zip(self._own.kernels, self.rbms)
        others = any(not np.array_equal(kernel, rbm.kernel) for kernel, rbm in pairs)
        return others or self.run is not None and int(self.run.steps) > 0

    def follow(self, level: int) -> None:
        """Sets the recognition weights above a machine to its own, R = W, where the network has some."""
        if self._own is not None and level < len(self._own.kernels):
            self._own.kernels[level].assign(self.rbms[level].kernel)

    @property
    def stack(self) -> Stack:
        """The present weights, a `deep.Stack`."""
        kernels = [kernel.value for kernel in self.recognition_kernels]
        check_finite("the recognition weights", kernels)
        return deep.Stack(self.machines, [tf.cast(kernel, tf.float32) for kernel in kernels])

    def stack_at(self, theta: Sequence[TensorLike]) -> Stack:
        """The `deep.Stack` of a list of tensors in the order of `theta_variables`.

        Hidden biases of lower machines are no weights of a network without recognition weights of its own: they are
        the present ones.
        """
        if self._own is not None:
            return stack_of(theta)
        count = 2 * (len(self.rbms) - 1)
        lower, top = theta[:count], theta[count:]
        present = [rbm.machine.cast(tf.float32) for rbm in self.rbms]
        pairs = zip(lower[::2], lower[1::2], present)
        machines = [own._replace(kernel=kernel, bias=bias) for kernel, bias, own in pairs]
        machines.append(type(present[-1])(*top))
        return deep.Stack(machines, list(lower[::2]))

    @property
    def theta_variables(self) -> list[keras.Variable]:
        """What `fine_tune` learns, in the order of `wake_sleep.stack_of`; without recognition weights that are not the
        network's own."""
        lower = [variable for rbm in self.rbms[:-1] for variable in (rbm.kernel, rbm.bias)]
        own = [] if self._own is None else zip(self._own.kernels, self.rbms)
        recognition = [variable for kernel, rbm in own for variable in (kernel, rbm.hidden_bias)]
        return [*lower, *self.rbms[-1].theta_variables, *recognition]

    @property
    def all_theta(self) -> list[keras.Variable]:
        """θ, whether or not it is frozen."""
        count = len(self.rbms[-1].theta_variables)
        place = 2 * (len(self.rbms) - 1)
        theta = self.theta_variables
        return [*theta[:place], *self.rbms[-1].all_theta, *theta[place + count :]]

    @property
    def named_weights(self) -> list[tuple[str, keras.Variable]]:
        """Pairs of a name and a variable."""
        return [(variable.path, variable) for variable in self.theta_variables]

    @property
    def uses_xla(self) -> bool:
        return self._settings.get("jit_compile", self.rbms[-1].uses_xla)

    def source(
        self,
        name: str,
        x: RowsLike,
        mask: ArrayLike | None = None,
        num_rows: int | None = None,
        gaps_are_filled: bool = False,
    ) -> Source:
        del gaps_are_filled  # no step of a network does that
        source = source_of(name, x, self.units, self.support, mask, num_rows, self.takes_gaps)
        if not isinstance(source, DatasetSource):
            self.check_rows(source)
        return source

    def source_to_estimate(self, x: RowsLike) -> Source:
        """The source of rows whose log-likelihood is asked for, complete and of the visible units' values."""
        source = source_of("x", x, self.units, self.support, missing=False)
        self.check_rows(source)
        return source

    def check_rows(self, rows: Rows | Source) -> None:
        self.rbms[0].check_rows(rows)

    def compile(
        self,
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
          ValueError: for a single machine, units that are not binary, an argument of another kind or out of range.
        """
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
            "steps_per_execution": checks.steps_at_once(steps_per_execution),
            "jit_compile": bool(jit_compile),
        }
        if self._own is None:
            self._separate()
            self._lift_machines()
        step = DoublyStochasticStep(self, Prior(FLAT), estimator, kernel, jit_compile=settings["jit_compile"])
        self._begin_run(step, None, settings)

    def fine_tune(self, x: RowsLike, **arguments: Any) -> keras.callbacks.History:
        """Learns all layers together, by contrastive wake-sleep (see `boltzmann.deep.wake_sleep`).

        Args:
          x: what `RBM.fit` takes.
          **arguments: of `RBM.fit`.

        Returns:
          `keras.callbacks.History`; of validation data `val_unnormalized_bound`.

        Raises:
          ValueError: for data or counts that do not fit, or a network that is not compiled; nothing is changed then.
        """
        return super().fit(x, **arguments)

    def evaluate(
        self,
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
            source = self.source("x", self._validation if inside_fit else x)
            seed = random.stream(self.seed, "validation")
            arguments = (self.stack, source, batch_size, seed, self.uses_xla)
            return {"unnormalized_bound": deep_estimates.mean_unnormalized_bound(*arguments)}

        return evaluated(self, measured, y, callbacks, verbose, return_dict, keras_arguments)

    def lift_to(self, level: int) -> Lift | None:
        """The `Lift` from the data to a place in `rbms`; None for the lowest."""
        return Lift(self.rbms[:level], self.recognition_kernels[:level]) if level else None

    def _separate(self):
        """Gives the network recognition weights of its own, as its machines have them."""
        own = RecognitionKernels([rbm.units for rbm in self.rbms], name="recognition")
        own.build()
        for kernel, rbm in zip(own.kernels, self.rbms):
            kernel.assign(rbm.kernel)
        self._own = own

    def _lift_machines(self):
        """Lets each machine learn from rows drawn up to it."""
        for level, rbm in enumerate(self.rbms):
            rbm.learn_above(self.lift_to(level))

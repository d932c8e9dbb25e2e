"""Deep belief networks: Boltzmann machines on top of each other, learnt one after the other, and then together."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import keras

from tfdsmcmc._common import checks
from tfdsmcmc._common.documenting import described_by
from tfdsmcmc.boltzmann.deep import estimates, fine_tuning, greedy, imputing
from tfdsmcmc.boltzmann.deep.stack_weights import StackWeights
from tfdsmcmc.boltzmann.deep.sweeps import check_binary
from tfdsmcmc.boltzmann.densities.machine import MachineDensity
from tfdsmcmc.boltzmann.densities.stack import StackDensity
from tfdsmcmc.boltzmann.frozen import thawed
from tfdsmcmc.boltzmann.machines import sampling
from tfdsmcmc.boltzmann.weights import parts_at
from tfdsmcmc.training.fitting.learner import Learner

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from tfdsmcmc._common.estimates import LogLikelihood
    from tfdsmcmc._common.types import Callbacks, Config, Evaluation, Seed, ThetaAndPhi, Verbose
    from tfdsmcmc.annealing.schedules import Schedule
    from tfdsmcmc.boltzmann.deep.lift import Lift
    from tfdsmcmc.boltzmann.deep.stack import Stack
    from tfdsmcmc.boltzmann.deep.wake_sleep import ContrastiveWakeSleep
    from tfdsmcmc.boltzmann.machines.machine import Machine
    from tfdsmcmc.boltzmann.machines.rbm import RBM
    from tfdsmcmc.boltzmann.partition.estimates import LogPartition, PartitionLike
    from tfdsmcmc.mcmc import MAP
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.rows import Rows
    from tfdsmcmc.rows.source import Source
    from tfdsmcmc.supports import Support


@keras.saving.register_keras_serializable("tfdsmcmc")
class DBN(Learner):
    """A deep belief network, see `boltzmann.deep.stack` for its equations.

    `fit` learns the machines one after the other, each as it was compiled itself; `compile` and `fine_tune` learn all
    layers together from there on, and make recognition weights that are the network's own.

    Args:
      rbms: list of `RBM`, bottom first; each as wide as the one below has hidden units. The lowest visible and the
        topmost hidden units may be of any kind, for `fit`, `sample`, `log_likelihood_bound` and `log_likelihood`; all
        else takes binary units. They learn as they were compiled, with the defaults of `RBM.compile` where they were
        not. Those above the first learn from here on from rows of the data, drawn upwards anew in each step; a run
        that one was compiled for begins anew.
      own_recognition: whether the network begins with recognition weights of its own, which are those of the machines.
        They follow what `fit` and `tie` learn; after `rbm.fit` of a single machine take a new network, DBN(dbn.rbms).
      **kwargs: of `keras.Model`.

    Raises:
      ValueError: for no machines, machines that do not fit on each other, or one machine twice.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> dbn = ds.boltzmann.DBN([ds.boltzmann.RBM(6, 4), ds.boltzmann.RBM(4, 3)])
    >>> histories = dbn.fit(np.eye(6), epochs=1, batch_size=3, verbose=0)
    >>> dbn.log_likelihood_bound(np.eye(6), num_samples=5).value.shape
    (6,)
    """

    takes_gaps = False
    instead = "log_likelihood_bound, log_likelihood or sample"

    def __init__(self, rbms: Sequence[RBM], own_recognition: bool = False, **kwargs: Any):
        greedy.check_machines(rbms)
        own_recognition = checks.boolean("own_recognition", own_recognition)
        super().__init__(**kwargs)
        self.rbms: list[RBM] = list(rbms)
        self.parts = StackWeights(rbms)
        self._own = None  # where Keras finds what it saves
        self.built = True
        if own_recognition:
            check_binary("Recognition weights of its own", self.machines)
            self.separate()
        else:
            self.parts.lift_machines()

    @property
    def units(self) -> int:
        """D."""
        return self.rbms[0].units

    @property
    def support(self) -> Support:
        """Of what values rows may be."""
        return self.rbms[0].support

    @property
    def seed(self) -> int:
        """Of fine-tuning: that of the lowest machine."""
        return self.rbms[0].seed

    @property
    def machines(self) -> list[Machine]:
        """The present weights, a list of `Machine`, bottom first."""
        return self.parts.machines

    @property
    def recognition_kernels(self) -> list[keras.Variable]:
        """R^l of all machines but the topmost, a list of variables; W^l where the network has none of its own."""
        return self.parts.recognition_kernels

    @property
    def fine_tuned(self) -> bool:
        """Whether `fine_tune` has begun, or the recognition weights are others than the machines'."""
        begun = self._own is not None and self.run is not None and int(self.run.steps) > 0
        return begun or self.parts.differ

    @property
    def stack(self) -> Stack:
        """The present weights, a `deep.Stack`."""
        return self.parts.stack

    @property
    def theta_variables(self) -> list[keras.Variable]:
        """What `fine_tune` learns, in the order of `wake_sleep.stack_of`; without recognition weights that are not the
        network's own."""
        return self.parts.theta_variables

    @property
    def all_theta(self) -> list[keras.Variable]:
        """θ, whether or not it is frozen."""
        return self.parts.all_theta

    @property
    def named_weights(self) -> list[tuple[str, keras.Variable]]:
        """Pairs of a name and a variable."""
        return [(variable.path, variable) for variable in self.theta_variables]

    @property
    def uses_xla(self) -> bool:
        return self.fitting.settings.get("jit_compile", self.rbms[-1].uses_xla)

    @property
    def saved_frozen(self) -> bool:
        return any(rbm.saved_frozen for rbm in self.rbms)

    def check_rows(self, rows: Rows | Source) -> None:
        self.rbms[0].check_rows(rows)

    def lift_to(self, level: int) -> Lift | None:
        """The `Lift` from the data to a place in `rbms`; None for the lowest."""
        return self.parts.lift_to(level)

    def separate(self) -> None:
        """Gives the network recognition weights of its own, by which rows are drawn up to its machines."""
        self._own = self.parts.separated()
        self.parts.lift_machines()

    @described_by(greedy.fit)
    def fit(
        self, x: RowsLike | None = None, y: None = None, *, epochs: int | Sequence[int] = 1,
        callbacks: Sequence[Callbacks | None] | None = None, tied: bool = False, **arguments: Any,
    ) -> list[keras.callbacks.History]:  # fmt: skip
        return greedy.fit(self, x, y, epochs=epochs, callbacks=callbacks, tied=tied, **arguments)

    @described_by(greedy.tie)
    def tie(self, level: int) -> None:
        greedy.tie(self, level)

    @described_by(fine_tuning.compile)
    def compile(
        self,
        kernel: MAP | None = None,
        estimator: ContrastiveWakeSleep | None = None,
        steps_per_execution: int | Literal["auto"] = 1,
        jit_compile: bool = True,
    ) -> None:
        fine_tuning.compile(self, kernel, estimator, steps_per_execution, jit_compile)

    @described_by(fine_tuning.fine_tune)
    def fine_tune(self, x: RowsLike, **arguments: Any) -> keras.callbacks.History:
        return fine_tuning.fine_tune(self, x, **arguments)

    @described_by(fine_tuning.evaluate)
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
        return fine_tuning.evaluate(
            self,
            x,
            y,
            batch_size=batch_size,
            verbose=verbose,
            callbacks=callbacks,
            return_dict=return_dict,
            **keras_arguments,
        )

    @described_by(estimates.log_likelihood_bound)
    def log_likelihood_bound(
        self, x: RowsLike, num_samples: int = 5,
        log_partition: LogPartition | float | None = None, seed: Seed = 0, batch_size: int = 100,
    ) -> LogLikelihood:  # fmt: skip
        return estimates.log_likelihood_bound(self, x, num_samples, log_partition, seed, batch_size)

    @described_by(estimates.log_likelihood)
    def log_likelihood(
        self, x: RowsLike, num_samples: int = 1000,
        log_partition: LogPartition | float | None = None, seed: Seed = 0, batch_size: int = 100,
    ) -> LogLikelihood:  # fmt: skip
        return estimates.log_likelihood(self, x, num_samples, log_partition, seed, batch_size)

    @described_by(estimates.annealed_log_likelihood)
    def annealed_log_likelihood(
        self, x: RowsLike, num_steps: int = 100, num_runs: int = 16, schedule: Schedule = "sigmoid",
        log_partition: LogPartition | float | None = None, seed: Seed = 0, batch_size: int = 100,
    ) -> LogLikelihood:  # fmt: skip
        return estimates.annealed_log_likelihood(
            self, x, num_steps, num_runs, schedule, log_partition, seed, batch_size
        )

    def sample(
        self, num_samples: int, seed: Seed | None = None, steps: int = 1000, probabilities: bool = False
    ) -> np.ndarray:
        """Gibbs chains of the topmost machine, and one pass down from their ends.

        Args:
          num_samples: n.
          seed: integer, or int32 tensor of shape (2,); by default another one at each call, which the model counts and
            saves.
          steps: full Gibbs steps of each chain, from random bits.
          probabilities: True for E[v given h^1], of bits p(v given h^1), in place of the draws.

        Returns:
          float32 array (n, D).

        Raises:
          ValueError: for arguments out of range, or weights that are not finite.
        """
        stack = self.stack
        sampling.check_chains(self.rbms[-1], num_samples, steps, probabilities)  # what is refused counts no seed
        seed = self.next_seed() if seed is None else seed
        return sampling.sample_of_stack(stack, num_samples, seed, steps, probabilities, self.uses_xla)

    @described_by(imputing.impute)
    def impute(
        self, x: RowsLike, mask: ArrayLike | None = None, num_imputations: int = 1, seed: Seed = 0, steps: int = 100
    ) -> np.ndarray:
        return imputing.impute(self, x, mask, num_imputations, seed, steps)

    def density(
        self,
        weights: ThetaAndPhi | None = None,
        log_partition: PartitionLike | None = None,
    ) -> MachineDensity | StackDensity:
        """p(x; θ) at weights (θ, φ), by default the network's own: what averages, imputation and serving ask of it.

        Args:
          weights: pair of lists of arrays, those of `all_theta` and [].
          log_partition: log Z of the topmost machine as `log_likelihood_bound` takes it, or a function from a `Machine`
            to it.

        Raises:
          ValueError: for weights of other shapes, or not finite.
        """
        stack = self.stack if weights is None else self.parts.stack_at(parts_at(self, weights, "the network's weights"))
        if len(stack.machines) == 1:
            return MachineDensity(self.rbms[0], stack.machines[0], log_partition)
        return StackDensity(self, stack, log_partition)

    def get_config(self) -> Config:
        rbms = [keras.saving.serialize_keras_object(rbm) for rbm in self.rbms]
        own = {"trainable": self.trainable, "own_recognition": self._own is not None}
        return {"name": self.name, "rbms": rbms, **own}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**{**config, "rbms": [keras.saving.deserialize_keras_object(rbm) for rbm in config["rbms"]]})

    def compile_from_config(self, config: Config) -> None:
        with contextlib.ExitStack() as stack:
            for rbm in self.rbms:
                stack.enter_context(thawed(rbm))
            super().compile_from_config(config)

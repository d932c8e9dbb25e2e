"""Deep belief networks: Boltzmann machines on top of each other, learnt one after the other, and then together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from tfdsmcmc._common import checks
from tfdsmcmc.boltzmann.deep import estimates as deep_estimates
from tfdsmcmc.boltzmann.deep import greedy
from tfdsmcmc.boltzmann.deep.fine_tuning import FineTuned
from tfdsmcmc.boltzmann.deep.sweeps import layers_of, swept, widths_of
from tfdsmcmc.boltzmann.densities.machine import MachineDensity
from tfdsmcmc.boltzmann.densities.stack import StackDensity
from tfdsmcmc.boltzmann.machines import sampling
from tfdsmcmc.boltzmann.machines.sampling import program
from tfdsmcmc.boltzmann.weights import parts_at
from tfdsmcmc.rows import rows_in_memory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from tfdsmcmc._common.estimates import LogLikelihood
    from tfdsmcmc._common.types import Callbacks, Config, Seed, ThetaAndPhi
    from tfdsmcmc.annealing.schedules import Schedule
    from tfdsmcmc.boltzmann.machines.rbm import RBM
    from tfdsmcmc.boltzmann.partition.estimates import LogPartition, PartitionLike
    from tfdsmcmc.rows.from_users import RowsLike

_CHAINS = 200  # of imputations in one call


@keras.saving.register_keras_serializable("tfdsmcmc")
class DBN(FineTuned):
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

    def __init__(self, rbms: Sequence[RBM], own_recognition: bool = False, **kwargs: Any):
        greedy.check_machines(rbms)
        own_recognition = checks.boolean("own_recognition", own_recognition)
        super().__init__(rbms, own_recognition, **kwargs)

    def tie(self, level: int) -> None:
        """Lets a machine start where the network stays as it was without it: W = W_below', b = a_below, a = b_below.

        With it the bound of the network is the log-likelihood of the one below, and what the machine learns raises it.
        Hidden units beyond those of the equation keep their own weights. What they add to log p(v) of the machine,
        Σ_j ς(a_j + Σ_i v_i W_ij) with ς(λ) = log(1 + exp λ), is taken off b as if one visible unit were on at a time:
        b_i = a_below,i − Σ_j [ς(a_j + W_ij) − ς(a_j)]. Left are products of weights from two visible units, which for
        small random weights have no common sign; large ones change the network.

        Args:
          level: its place in `rbms`, at least 1; it has no fewer hidden units than the one below has visible ones.

        Raises:
          ValueError: for a place that there is not, or other widths.
        """
        if not 0 < checks.positive_integer("level", level) < len(self.rbms):
            raise ValueError(f"level is a place above the first machine. Received: level={level}")
        greedy.check_tie(*self.rbms[level - 1 : level + 1])
        below, rbm = self.rbms[level - 1 : level + 1]
        kernel, hidden_bias = rbm.kernel.numpy(), rbm.hidden_bias.numpy()
        kernel[:, : below.units], hidden_bias[: below.units] = below.kernel.numpy().T, below.bias.numpy()
        extra = hidden_bias[below.units :]
        added = np.logaddexp(0, extra + kernel[:, below.units :]) - np.logaddexp(0, extra)
        rbm.kernel.assign(kernel)
        rbm.bias.assign(below.hidden_bias.numpy() - added.sum(1))
        rbm.hidden_bias.assign(hidden_bias)
        if rbm.run is not None and rbm.run.num_chains > 1:  # the variables are those of chain 0
            rbm.run.move_to([rbm.run.weights[0]] * rbm.run.num_chains)

    def fit(
        self, x: RowsLike | None = None, y: None = None, *, epochs: int | Sequence[int] = 1,
        callbacks: Sequence[Callbacks | None] | None = None, tied: bool = False, **arguments: Any,
    ) -> list[keras.callbacks.History]:  # fmt: skip
        """Learns the machines one after the other, from below.

        Args:
          x: what `RBM.fit` takes.
          y: must be None.
          epochs: of each machine: an integer, or a list of them, one for each.
          callbacks: a list of lists of Keras callbacks, one for each machine, so that each has folders of its own. With
            `BackupAndRestore` in each an interrupted fit goes on bit for bit.
          tied: whether machines begin as `tie` has it, those that have learnt nothing so far.
          **arguments: of `RBM.fit`, for all machines.

        Returns:
          A list of `keras.callbacks.History`.

        Raises:
          ValueError: for data or counts that do not fit, or a network that was fine-tuned; nothing is changed then.
        """
        checks.no_targets("fit", y)
        if self.fine_tuned:
            raise ValueError(
                "fit learns the machines one by one, before fine_tune learns all of them: call fine_tune, or fit of a "
                "new network, DBN(dbn.rbms). Received: a network whose recognition weights have learnt"
            )
        histories = greedy.fit(self, x, epochs, callbacks, checks.boolean("tied", tied), arguments)
        if self.run is not None:  # which has to begin at what was learnt
            self.compile(**self._settings)
        return histories

    def log_likelihood_bound(
        self, x: RowsLike, num_samples: int = 5, log_partition: LogPartition | float | None = None, seed: Seed = 0,
        batch_size: int = 100,
    ) -> LogLikelihood:  # fmt: skip
        """The variational lower bound of log p(x), of each row.

        Args:
          x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
          num_samples: M, draws from Q for each row.
          log_partition: `LogPartition` of the topmost machine, or log Z as a number; by default exact, where one of its
            layers has at most 25 units.
          seed: integer, or int32 tensor of shape (2,).
          batch_size: rows at a time.

        Returns:
          `LogLikelihood`, with the error of log Z in that of each row and, undiminished, of the mean. An estimate of
          log Z that is too low, as those from below are on average, makes the bound too high.

        Raises:
          ValueError: for data that do not fit, or where log Z is needed and not given.
        """
        return deep_estimates.bound(self, x, num_samples, log_partition, seed, batch_size)

    def log_likelihood(
        self, x: RowsLike, num_samples: int = 1000, log_partition: LogPartition | float | None = None, seed: Seed = 0,
        batch_size: int = 100,
    ) -> LogLikelihood:  # fmt: skip
        """Importance-sampling estimates of log p(x) with draws from Q: at least the bound in expectation.

        Args:
          x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
          num_samples: K, draws for each row.
          log_partition: see `log_likelihood_bound`.
          seed: integer, or int32 tensor of shape (2,).
          batch_size: rows at a time.

        Returns:
          `LogLikelihood`; the effective sample size is that of the draws. An estimate of log Z that is too low, as
          those from below are on average, makes these too high.

        Raises:
          ValueError: for data that do not fit, or where log Z is needed and not given.
        """
        return deep_estimates.importance(self, x, num_samples, log_partition, seed, batch_size)

    def annealed_log_likelihood(
        self, x: RowsLike, num_steps: int = 100, num_runs: int = 16, schedule: Schedule = "sigmoid",
        log_partition: LogPartition | float | None = None, seed: Seed = 0, batch_size: int = 100,
    ) -> LogLikelihood:  # fmt: skip
        """Estimates of log p(x) by annealed importance sampling from Q to the network's hidden units given x.

        Lower bounds in expectation, as importance samples are, and tighter with every step; each step draws the units
        of the lower hidden layers one by one (see `boltzmann.deep.path`).

        Args:
          x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
          num_steps: T.
          num_runs: R, for each row.
          schedule: of β: "sigmoid", "linear", "adaptive" (T at most) or an increasing array from 0 to 1, whose length
            decides instead of T.
          log_partition: see `log_likelihood_bound`.
          seed: integer, or int32 tensor of shape (2,).
          batch_size: rows at a time.

        Returns:
          `LogLikelihood`; the effective sample size is that of the runs. An estimate of log Z that is too low, as
          those from below are on average, makes these too high.

        Raises:
          ValueError: for data or a schedule that do not fit, or where log Z is needed and not given.
        """
        return deep_estimates.annealed(self, x, num_steps, num_runs, schedule, log_partition, seed, batch_size)

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
        probabilities = checks.boolean("probabilities", probabilities)
        seed = self.next_seed() if seed is None else seed
        return sampling.sample_of_stack(self.stack, num_samples, seed, steps, probabilities, self.uses_xla)

    def impute(
        self, x: RowsLike, mask: ArrayLike | None = None, num_imputations: int = 1, seed: Seed = 0, steps: int = 100
    ) -> np.ndarray:
        """Draws missing entries by Gibbs sweeps over all hidden units, observed entries held fixed.

        A sweep draws each unit of the lower hidden layers given all else, one after the other, as directed connections
        make them depend on each other; the topmost layer and the missing entries at once.

        Args:
          x: (n, D), missing entries NaN or, under a mask, anything.
          mask: (n, D) or (D,), True where an entry is observed.
          num_imputations: chains for each row.
          seed: integer, or int32 tensor of shape (2,).
          steps: sweeps of each chain, from random bits.

        Returns:
          float32 array (num_imputations, n, D); what is observed is as it was.

        Raises:
          ValueError: for data or arguments that do not fit.
        """
        if len(self.rbms) == 1:
            return self.rbms[0].impute(x, mask, num_imputations, seed, steps)
        stack = self.stack
        layers_of(widths_of(stack.machines))
        rows = rows_in_memory("x", x, self.units, self.support, mask)
        num_imputations = checks.positive_integer("num_imputations", num_imputations)
        run, size = program(swept, self.uses_xla), max(1, _CHAINS // num_imputations)
        return sampling.imputed(run, stack, rows, num_imputations, seed, steps, size)

    def density(
        self,
        weights: ThetaAndPhi | None = None,
        log_partition: PartitionLike | None = None,
    ) -> MachineDensity | StackDensity:
        """p(x; θ) at weights (θ, φ), by default the network's own: what averages, imputation and serving ask of it.

        Args:
          weights: pair of lists of arrays, those of `theta_variables` and [].
          log_partition: log Z of the topmost machine as `log_likelihood_bound` takes it, or a function from a `Machine`
            to it.

        Raises:
          ValueError: for weights of other shapes, or not finite.
        """
        stack = self.stack if weights is None else self.stack_at(parts_at(self, weights, "the network's weights"))
        if len(stack.machines) == 1:
            return MachineDensity(self.rbms[0], stack.machines[0], log_partition)
        return StackDensity(self, stack, log_partition)

    def get_config(self) -> Config:
        rbms = [keras.saving.serialize_keras_object(rbm) for rbm in self.rbms]
        return {"name": self.name, "rbms": rbms, "own_recognition": self._own is not None}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**{**config, "rbms": [keras.saving.deserialize_keras_object(rbm) for rbm in config["rbms"]]})

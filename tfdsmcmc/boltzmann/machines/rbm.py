"""The restricted Boltzmann machine as a Keras model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import keras

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc._common.documenting import described_by
from tfdsmcmc.boltzmann.deep.stack import Stack
from tfdsmcmc.boltzmann.densities.machine import MachineDensity
from tfdsmcmc.boltzmann.frozen import thawed
from tfdsmcmc.boltzmann.machines import imputing, learning, sampling
from tfdsmcmc.boltzmann.machines.contrastive_divergence import FLAT
from tfdsmcmc.boltzmann.machines.layer import BoltzmannLayer
from tfdsmcmc.boltzmann.partition.estimates import known_partition, normalised
from tfdsmcmc.boltzmann.partition.exact import machine_of
from tfdsmcmc.boltzmann.weights import parts_at
from tfdsmcmc.priors import Prior
from tfdsmcmc.priors.patterns import check_patterns
from tfdsmcmc.rows import source_of
from tfdsmcmc.training.fitting.learner import Learner

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from tfdsmcmc._common.estimates import LogLikelihood
    from tfdsmcmc._common.types import Callbacks, Config, Evaluation, KernelName, Seed, ThetaAndPhi, Verbose
    from tfdsmcmc.boltzmann.deep.lift import Lift
    from tfdsmcmc.boltzmann.machines.machine import Machine
    from tfdsmcmc.boltzmann.partition.estimates import LogPartition, PartitionLike
    from tfdsmcmc.boltzmann.units import UnitsLike
    from tfdsmcmc.boltzmann.units.base import Units
    from tfdsmcmc.mcmc.base import StochasticGradientKernel
    from tfdsmcmc.priors.prior import PriorLike
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.rows import Rows
    from tfdsmcmc.rows.source import Source
    from tfdsmcmc.supports import Support
    from tfdsmcmc.training.steps.gradient_estimator import GradientEstimator


@keras.saving.register_keras_serializable("tfdsmcmc")
class RBM(Learner):
    """A restricted Boltzmann machine, by default with binary units, see `boltzmann.machines.machine` for its equations.

    Its weights are `kernel` (units, hidden_units), `bias` (units,), `hidden_bias` (hidden_units,) and the parameters of
    its kinds of units.

    Args:
      units: D, visible units, the entries of a row.
      hidden_units: M.
      prior: of the weights under these names, as `Prior` takes it; by default flat. A weight decay c of W in the
        update is `{"kernel": tfd.Normal(0.0, (c * N) ** -0.5), "": None}` for N rows.
      seed: non-negative integer; initial weights, chains and the order of the rows follow from it.
      visible: kind of the visible units, one of `boltzmann.units` or its name.
      hidden: that of the hidden ones.
      **kwargs: of `keras.Model`.

    Raises:
      ValueError: for an argument out of range.

    Example:

    >>> import keras, numpy as np, tfdsmcmc as ds
    >>> rbm = ds.boltzmann.RBM(4, 2)
    >>> rbm.compile(ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.1)), ds.boltzmann.ContrastiveDivergence(steps=1))
    >>> history = rbm.fit(np.eye(4), batch_size=2, epochs=1, verbose=0)
    >>> rbm.sample(3, seed=0, steps=10).shape
    (3, 4)
    """

    layer: BoltzmannLayer
    visible: Units
    hidden: Units
    takes_gaps = False
    instead = "unnormalized_log_prob, log_likelihood or sample"

    def __init__(
        self, units: int, hidden_units: int, *, seed: int = 0, prior: Prior | PriorLike | None = None,
        visible: UnitsLike = "binary", hidden: UnitsLike = "binary", **kwargs: Any,
    ):  # fmt: skip
        units, seed = checks.positive_integer("units", units), checks.nonnegative_integer("seed", seed)
        layer = BoltzmannLayer(hidden_units, seed, visible, hidden, name="machine")
        random.as_seed(seed)  # no larger than a seed may be
        super().__init__(**kwargs)
        layer.build((None, units))
        layer.trainable = self.trainable
        self.layer, self._visible_units = layer, units
        self.visible, self.hidden = layer.visible, layer.hidden
        self.prior: Prior = prior if isinstance(prior, Prior) else Prior(FLAT if prior is None else prior)
        check_patterns(self.prior, self.machine._fields)
        self.seed = seed
        self._lift = None
        self.built = True

    @property
    def units(self) -> int:
        """D, the visible units."""
        return self._visible_units

    @property
    def support(self) -> Support:
        """Of what values rows may be."""
        return self.visible.support

    @property
    def hidden_units(self) -> int:
        """M."""
        return self.layer.hidden_units

    @property
    def kernel(self) -> keras.Variable:
        return self.layer.kernel

    @property
    def bias(self) -> keras.Variable:
        return self.layer.bias

    @property
    def hidden_bias(self) -> keras.Variable:
        return self.layer.hidden_bias

    @property
    def lift(self) -> Lift | None:
        """From rows to visible units, where it learns above other machines; else None."""
        return self._lift

    @property
    def machine(self) -> Machine:
        """The present weights, a `Machine`."""
        return self.layer.machine

    @property
    def stack(self) -> Stack:
        """The machine as the only one of a `deep.Stack`."""
        return Stack([machine_of(self)], [])

    @property
    def theta_variables(self) -> list[keras.Variable]:
        return self.layer.trainable_variables

    @property
    def all_theta(self) -> list[keras.Variable]:
        """θ, whether or not it is frozen."""
        return list(self.layer.weights)

    @property
    def named_weights(self) -> list[tuple[str, keras.Variable]]:
        return list(zip(self.machine._fields, self.layer.weights))

    @property
    def saved_frozen(self) -> bool:
        return not self.theta_variables

    def source(
        self, name: str, x: RowsLike, mask: ArrayLike | None = None, num_rows: int | None = None,
        gaps_are_filled: bool = False,
    ) -> Source:  # fmt: skip
        del gaps_are_filled  # no step of a machine does that
        lowest = self._lift or self
        source = source_of(name, x, lowest.units, lowest.support, mask, num_rows, self.takes_gaps)
        self.check_rows(source)
        return source

    def check_rows(self, rows: Rows | Source) -> None:
        if not rows.complete:
            raise ValueError("A Boltzmann machine learns from complete rows. Received: rows with missing entries")

    @described_by(learning.compile)
    def compile(
        self, kernel: StochasticGradientKernel | KernelName | None = None,
        estimator: GradientEstimator | None = None, kernel_steps: int = 1,
        steps_per_execution: int | Literal["auto"] = 1, jit_compile: bool = True, num_chains: int = 1,
    ) -> None:  # fmt: skip
        learning.compile(self, kernel, estimator, kernel_steps, steps_per_execution, jit_compile, num_chains)

    @described_by(learning.evaluate)
    def evaluate(
        self, x: RowsLike | None = None, y: None = None, *, batch_size: int | None = None, verbose: Verbose = "auto",
        callbacks: Callbacks | None = None, return_dict: bool = False, **keras_arguments: Any,
    ) -> Evaluation:  # fmt: skip
        return learning.evaluate(
            self,
            x,
            y,
            batch_size=batch_size,
            verbose=verbose,
            callbacks=callbacks,
            return_dict=return_dict,
            **keras_arguments,
        )

    @described_by(sampling.sample)
    def sample(
        self, num_samples: int, seed: Seed | None = None, steps: int = 1000, probabilities: bool = False,
        start: ArrayLike | None = None,
    ) -> np.ndarray:  # fmt: skip
        return sampling.sample(self, num_samples, seed, steps, probabilities, start)

    def unnormalized_log_prob(self, x: RowsLike, batch_size: int = 1000) -> np.ndarray:
        """log p*(x) = log p(x) + log Z of each row.

        Args:
          x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
          batch_size: rows at a time.

        Returns:
          float64 array (n,).

        Raises:
          ValueError: for data that do not fit, or weights that are not finite.
        """
        source = self.source_to_estimate(x)
        batch_size = checks.positive_integer("batch_size", batch_size)
        return sampling.unnormalized_log_prob(machine_of(self), source, batch_size, self.uses_xla)

    def log_likelihood(
        self, x: RowsLike, log_partition: LogPartition | float | None = None, batch_size: int = 1000
    ) -> LogLikelihood:
        """log p(x) = log p*(x) − log Z of each row.

        Args:
          x: what `unnormalized_log_prob` takes.
          log_partition: `LogPartition`, as `boltzmann.log_partition` gives it, or log Z as a number; by default exact,
            where one of the layers has at most 25 binary units, or as many states.
          batch_size: rows at a time.

        Returns:
          `LogLikelihood`. The error of log Z is the same for all rows, and stays in that of their mean.

        Raises:
          ValueError: for data that do not fit, or where log Z is needed and not given.
        """
        source, batch_size = self.source_to_estimate(x), checks.positive_integer("batch_size", batch_size)
        known = known_partition(self, log_partition)  # what is refused is refused before the rows are gone through
        return normalised(self, self.unnormalized_log_prob(source, batch_size), known)

    @described_by(imputing.impute)
    def impute(
        self, x: RowsLike, mask: ArrayLike | None = None, num_imputations: int = 1, seed: Seed = 0, steps: int = 100
    ) -> np.ndarray:
        return imputing.impute(self, x, mask, num_imputations, seed, steps)

    def density(
        self,
        weights: ThetaAndPhi | None = None,
        log_partition: PartitionLike | None = None,
    ) -> MachineDensity:
        """p(x; θ) at weights (θ, φ), by default the machine's own: what averages, imputation and serving ask of it.

        Args:
          weights: pair of lists of arrays, [W, b, a, …] and [].
          log_partition: as `log_likelihood` takes it, or a function from a `Machine` to it.

        Raises:
          ValueError: for weights of other shapes, or not finite.
        """
        machine = type(self.machine)(*parts_at(self, weights, "the machine's weights"))
        return MachineDensity(self, machine, log_partition)

    def get_config(self) -> Config:
        sizes = {"name": self.name, "units": self.units, "hidden_units": self.hidden_units, "seed": self.seed}
        sizes["trainable"] = not self.saved_frozen
        parts = {"prior": self.prior, "visible": self.visible, "hidden": self.hidden}
        return sizes | {name: keras.saving.serialize_keras_object(part) for name, part in parts.items()}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**{**config, "prior": keras.saving.deserialize_keras_object(config["prior"])})

    def compile_from_config(self, config: Config) -> None:
        with thawed(self):
            super().compile_from_config(config)

    def learn_above(self, lift: Lift | None) -> None:
        """Lets the machine learn from rows that lie below other machines.

        Its visible units are then drawn given those rows, anew in each step. A run that was compiled for other rows
        begins anew.

        Args:
          lift: `Lift` of these machines, or None.
        """
        if lift != self._lift:
            self._lift = lift
            if self.run is not None:
                with thawed(self):
                    self.compile(**self.fitting.settings)

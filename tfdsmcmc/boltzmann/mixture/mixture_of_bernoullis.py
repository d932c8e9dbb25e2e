"""Mixtures of products of Bernoulli laws, learnt by expectation maximisation: the baseline of Boltzmann machines.

    p(v) = Σ_c π_c Π_i μ_ci^{v_i} (1 − μ_ci)^{1 − v_i}

    E      r_nc = π_c p(v_n given c)/p(v_n)
    M      π_c = (Σ_n r_nc + α)/(N + Cα),      μ_ci = (Σ_n r_nc v_ni + s)/(Σ_n r_nc + 2s)

No pass over all rows lowers Σ_n log p(v_n) + α Σ_c log π_c + s Σ_ci (log μ_ci + log(1 − μ_ci)).

Sources: Dempster, Laird and Rubin, "Maximum likelihood from incomplete data via the EM algorithm", Journal of the Royal
Statistical Society B 39 (1977); as a baseline, Salakhutdinov and Murray, ICML 2008, section 5.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import imputation, random
from tfdsmcmc._common import checks
from tfdsmcmc.boltzmann.densities.mixture import MixtureDensity
from tfdsmcmc.boltzmann.frozen import check_learns, thawed
from tfdsmcmc.boltzmann.machines.layer import MixtureLayer
from tfdsmcmc.boltzmann.mixture.expectation_maximisation import ExpectationMaximisation
from tfdsmcmc.boltzmann.weights import parts_at
from tfdsmcmc.supports import Binary
from tfdsmcmc.training.fitting.evaluating import evaluated
from tfdsmcmc.training.fitting.learner import Learner

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.estimates import LogLikelihood
    from tfdsmcmc._common.types import Callbacks, Config, Evaluation, Seed, ThetaAndPhi, Verbose
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.rows import Rows
    from tfdsmcmc.rows.source import Source


@keras.saving.register_keras_serializable("tfdsmcmc")
class MixtureOfBernoullis(Learner):
    """A mixture of C products of Bernoulli laws; each epoch of `fit` is a pass of expectation maximisation.

    Args:
      units: D.
      components: C.
      smoothing: s, above 0, ones and zeros that each unit of a component has seen beforehand.
      concentration: α, above 0, rows that each component has seen beforehand.
      seed: non-negative integer, of the initial weights and the order of the rows.
      **kwargs: of `keras.Model`.

    Raises:
      ValueError: for an argument out of range.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> mixture = ds.boltzmann.MixtureOfBernoullis(4, components=1, smoothing=1e-6)
    >>> history = mixture.fit(np.array([[1, 1, 0, 0], [1, 0, 0, 0]]), epochs=2, verbose=0)
    >>> mixture.means.round(3).tolist()  # one component: the means of the columns
    [[1.0, 0.5, 0.0, 0.0]]
    """

    layer: MixtureLayer
    seed: int
    support = Binary()
    takes_gaps = False

    def __init__(
        self, units: int, components: int, smoothing: float = 0.5, concentration: float = 1.0, seed: int = 0,
        **kwargs: Any,
    ):  # fmt: skip
        arguments = {
            "units": checks.positive_integer("units", units),
            "components": checks.positive_integer("components", components),
            "smoothing": checks.positive_in_float32("smoothing", smoothing),
            "concentration": checks.positive_in_float32("concentration", concentration),
            "seed": checks.nonnegative_integer("seed", seed),
        }
        random.as_seed(seed)  # no larger than a seed may be
        super().__init__(**kwargs)
        layer = MixtureLayer(components, seed, name="mixture")
        layer.build((None, units))
        layer.trainable = self.trainable
        self.layer, self.seed, self._arguments = layer, seed, arguments
        self.built = True

    @property
    def units(self) -> int:
        """D."""
        return self._arguments["units"]

    @property
    def log_shares(self) -> keras.Variable:
        """log π, (C,)."""
        return self.layer.log_shares

    @property
    def logits(self) -> keras.Variable:
        """Of μ, (C, D)."""
        return self.layer.logits

    @property
    def theta_variables(self) -> list[keras.Variable]:
        return self.layer.trainable_variables

    @property
    def all_theta(self) -> list[keras.Variable]:
        """θ, whether or not it is frozen."""
        return list(self.layer.weights)

    @property
    def named_weights(self) -> list[tuple[str, keras.Variable]]:
        """Pairs of a name and a variable."""
        return [("log_shares", self.log_shares), ("logits", self.logits)]

    @property
    def saved_frozen(self) -> bool:
        return not self.theta_variables

    @property
    def shares(self) -> np.ndarray:
        """π, (C,)."""
        return np.exp(self.log_shares.numpy())

    @property
    def means(self) -> np.ndarray:
        """μ, (C, D)."""
        return tf.sigmoid(self.logits.value).numpy()

    def check_rows(self, rows: Rows | Source) -> None:
        if not rows.complete:
            raise ValueError("A mixture learns from complete rows. Received: rows with missing entries")

    def compile(
        self, steps_per_execution: int | Literal["auto"] = 1, jit_compile: bool = True, num_chains: int = 1
    ) -> None:
        """Begins a new run at the present weights; `fit` does so by itself.

        Args:
          steps_per_execution: minibatches in one compiled call; "auto" for up to 50 of an epoch.
          jit_compile: whether to compile with XLA.
          num_chains: runs from other initial weights beside this one.

        Raises:
          ValueError: for an argument out of range, or a mixture that is frozen.
        """
        check_learns(self)
        settings = {
            "steps_per_execution": checks.positive_or_auto("steps_per_execution", steps_per_execution),
            "jit_compile": checks.jit_compile(jit_compile),
            "num_chains": checks.positive_integer("num_chains", num_chains),
        }
        arguments = self._arguments
        step = ExpectationMaximisation(self, arguments["smoothing"], arguments["concentration"])
        self._begin_run(step, None, settings)

    def fit(self, x: RowsLike | None = None, y: None = None, **arguments: Any) -> keras.callbacks.History:
        """`Learner.fit`; the metric `log_likelihood` is that of the rows before each pass."""
        if self.run is None:
            self.compile(jit_compile=self.uses_xla)
        return super().fit(x, y, **arguments)

    def evaluate(
        self, x: RowsLike | None = None, y: None = None, *, batch_size: int | None = None, verbose: Verbose = "auto",
        callbacks: Callbacks | None = None, return_dict: bool = False, **keras_arguments: Any,
    ) -> Evaluation:  # fmt: skip
        """The mean log-likelihood of rows, nats; within `fit`, of the validation data."""
        batch_size = checks.positive_integer("batch_size", 1000 if batch_size is None else batch_size)

        def measured(inside_fit):
            rows = self.validation_source if inside_fit else x
            return {"log_likelihood": float(self.log_likelihood(rows, batch_size).mean())}

        return evaluated(self, measured, y, callbacks, verbose, return_dict, keras_arguments)

    def log_likelihood(self, x: RowsLike, batch_size: int = 1000) -> LogLikelihood:
        """log p(x) of each row, exactly.

        Args:
          x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
          batch_size: rows at a time.

        Returns:
          `LogLikelihood`.

        Raises:
          ValueError: for data that do not fit, or weights that are not finite.
        """
        return self.density().log_likelihood(x, 1, 0, batch_size)

    def sample(self, num_samples: int, seed: Seed | None = None, probabilities: bool = False) -> np.ndarray:
        """Rows of the mixture, (num_samples, D) float32.

        Args:
          num_samples: n.
          seed: integer, or int32 tensor of shape (2,); by default another one at each call, which the model counts and
            saves.
          probabilities: True for the means of the drawn components in place of bits.

        Raises:
          ValueError: for a count that is not positive, or weights that are not finite.
        """
        num_samples = checks.positive_integer("num_samples", num_samples)
        probabilities = checks.boolean("probabilities", probabilities)
        density = self.density()
        seed = self.next_seed() if seed is None else seed  # what is refused counts none
        return density.sample(num_samples, seed, probabilities)

    def impute(
        self, x: RowsLike, mask: ArrayLike | None = None, num_imputations: int = 1, seed: Seed = 0
    ) -> np.ndarray:
        """Draws missing entries from p(x_missing given x_observed), exactly.

        Args:
          x: (n, D), missing entries NaN or, under a mask, anything.
          mask: (n, D) or (D,), True where an entry is observed.
          num_imputations: independent draws for each row.
          seed: integer, or int32 tensor of shape (2,).

        Returns:
          float32 array (num_imputations, n, D); what is observed is as it was.

        Raises:
          ValueError: for data or arguments that do not fit.
        """
        lengths = {"burn_in": 0, "thinning": 1, "num_samples": 1, "num_chains": num_imputations}
        return imputation.impute(self, x, mask, num_imputations, seed, **lengths).x

    def density(self, weights: ThetaAndPhi | None = None, log_partition: None = None) -> MixtureDensity:
        """p(x; θ) at weights (θ, φ), by default the model's own, see `contract.Density`.

        Args:
          weights: pair of lists of arrays, [log π (C,), logits of μ (C, D)] and [].
          log_partition: must be None: a mixture is normalised.

        Raises:
          ValueError: for weights of other shapes, not finite, or with `log_partition`.
        """
        if log_partition is not None:
            raise ValueError(f"A mixture is normalised. Received: log_partition={log_partition!r}")
        return MixtureDensity(self, *parts_at(self, weights, "the mixture's weights"))

    def get_config(self) -> Config:
        return {"name": self.name, "trainable": not self.saved_frozen, **self._arguments}

    def compile_from_config(self, config: Config) -> None:
        with thawed(self):
            super().compile_from_config(config)

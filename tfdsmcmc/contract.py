"""What a model is to those who average, diagnose, impute and serve it: densities p(x; θ) at weights of their choice.

`posterior`, `diagnostics`, `imputation` and `serving` speak to models by these protocols alone. Directed networks,
Boltzmann machines, deep belief networks and mixtures meet them, each by a `density` of its own. What a model cannot do
is a ValueError that says what can.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np

from tfdsmcmc._common.estimates import LogLikelihood

if TYPE_CHECKING:
    import keras
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Seed, ThetaAndPhi
    from tfdsmcmc.supports import Support


@runtime_checkable
class Density(Protocol):
    """p(x; θ) at one set of weights."""

    def log_likelihood(
        self,
        x: Any,
        num_samples: int,
        seed: Seed,
        batch_size: int,
        warn: bool = True,
    ) -> LogLikelihood:
        """Estimates of log p(x; θ) of each row.

        Args:
          x: (n, D), or a source of rows.
          num_samples: draws a row, where the estimate is made of draws.
          seed: integer, or int32 tensor of shape (2,).
          batch_size: rows at a time.
          warn: whether to warn of few effective samples and heavy tails.
        """

    def annealed_log_likelihood(self, x: Any, seed: Seed, **annealing: Any) -> LogLikelihood:
        """Estimates of log p(x; θ) by annealing, with such arguments as num_steps and num_runs."""

    def sample(self, num_samples: int, seed: Seed, probabilities: bool = False) -> np.ndarray:
        """Draws of x, (n, D) float32; with `probabilities` their means given all that was drawn before."""

    def rows(self, name: str, x: Any, mask: ArrayLike | None = None) -> Any:
        """`Rows` in memory to impute, NaN or the mask's False missing; a ValueError for data that do not fit."""

    def method_for(self, method: str) -> str:
        """The method of imputation that "auto" stands for, or the method itself; a ValueError for others."""

    def imputation_plan(self, method: str, settings: Any, batch_size: int) -> Any:
        """The plan (`imputation.plans`) of a method, with `imputation.settings.Settings`."""

    def evidence_plan(self, num_samples: int, batch_size: int) -> Any:
        """The plan of an estimate of log p(x_observed; θ)."""

    def program(self, plan: Any) -> Any:
        """The plan compiled: a function of (rows, seed), and of what else the plan asks for."""


@runtime_checkable
class Model(Protocol):
    """A model with weights θ, and φ beside them where it has a recognition network."""

    @property
    def units(self) -> int: ...

    @property
    def support(self) -> Support: ...

    @property
    def uses_xla(self) -> bool: ...

    @property
    def theta_variables(self) -> list[keras.Variable]: ...

    @property
    def phi_variables(self) -> list[keras.Variable]: ...

    @property
    def named_weights(self) -> list[tuple[str, keras.Variable]]: ...

    def next_seed(self) -> Seed:
        """A seed for draws that are to differ from all before."""

    def source_to_estimate(self, x: Any) -> Any:
        """The source of rows whose log-likelihood is asked for, checked; it depends on no weights."""

    def density(self, weights: ThetaAndPhi | None = None, log_partition: Any = None) -> Density:
        """The density at weights (θ, φ), a pair of lists of arrays; by default at the model's own.

        Args:
          weights: pair (θ, φ) of lists of arrays.
          log_partition: of undirected models, log Z or a function that finds it; None for others.
        """


def sampled_theta(model: Model) -> list[keras.Variable]:
    """The variables of which a posterior has samples: θ, of machines and mixtures whether or not it is frozen.

    These learn all of their weights or none; of directed networks frozen layers have no samples.
    """
    return getattr(model, "all_theta", model.theta_variables)


def frozen_weights(model: Model) -> list[keras.Variable]:
    """The weights that are in no sample of a posterior."""
    sampled = set(map(id, sampled_theta(model)))
    return [weights for weights in getattr(model, "non_trainable_weights", ()) if id(weights) not in sampled]


def check_model(model: object, name: str = "model") -> None:
    """Raises a ValueError for what is no `Model`."""
    if not callable(getattr(model, "density", None)):
        raise ValueError(
            f"{name} must be a DeepGenerativeModel, an RBM, a DBN or a MixtureOfBernoullis. "
            f"Received: {name}={_described(model)}"
        )


def check_directed(model: object, name: str, instead: str) -> None:
    """Raises a ValueError for a model without a directed and a recognition network.

    Args:
      model: what is asked.
      name: what it was asked for, as the error says it.
      instead: what there is for other models.
    """
    if not (hasattr(model, "generative") and hasattr(model, "recognition")):
        raise ValueError(f"{name} is of a DeepGenerativeModel. {instead} Received: {_described(model)}")


def check_partition(log_partition: Any, count: int) -> None:
    """Raises a ValueError for one log Z of several sets of weights, each of which has its own."""
    if count > 1 and log_partition is not None and not callable(log_partition):
        raise ValueError(
            f"Each of {count} sets of weights has a log Z of its own: log_partition must be a function from a Machine "
            f"to it. Received: log_partition={log_partition!r}"
        )


def _described(model):
    return type(model).__name__ if hasattr(model, "density") else repr(model)

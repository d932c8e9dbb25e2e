"""The Keras model that joins a generative network, a recognition network and a prior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import keras
import numpy as np

from tfdsmcmc import likelihood, random
from tfdsmcmc._common import checks
from tfdsmcmc._common.documenting import described_by
from tfdsmcmc.likelihood.importance import rows_to_estimate
from tfdsmcmc.model.compiling import compile as compile_model
from tfdsmcmc.model.density import NetworkDensity
from tfdsmcmc.model.few_effective_samples import watchers
from tfdsmcmc.model.imputing import impute
from tfdsmcmc.model.refitting import refit_recognition
from tfdsmcmc.model.sampling import sample
from tfdsmcmc.model.second_look import outdoes
from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
from tfdsmcmc.priors import Prior
from tfdsmcmc.priors.patterns import check_patterns
from tfdsmcmc.training.fitting.evaluating import evaluated
from tfdsmcmc.training.fitting.learner import Learner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from tfdsmcmc._common.estimates import LogLikelihood
    from tfdsmcmc._common.types import (
        Average,
        Callbacks,
        Config,
        Evaluation,
        KernelName,
        LatentsName,
        Logs,
        ProposalName,
        Seed,
        TensorLike,
        ThetaAndPhi,
        Verbose,
    )
    from tfdsmcmc.latents.base import Latents
    from tfdsmcmc.mcmc.base import StochasticGradientKernel
    from tfdsmcmc.priors.prior import PriorLike
    from tfdsmcmc.proposals.base import Proposal
    from tfdsmcmc.rows.context import Context
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.rows import Rows
    from tfdsmcmc.rows.source import Source
    from tfdsmcmc.supports import Support
    from tfdsmcmc.training.steps.step_method import StepMethod

_PARTS = ("generative", "recognition", "prior")


@keras.saving.register_keras_serializable("tfdsmcmc")
class DeepGenerativeModel(Learner):
    """A deep generative model p(x, z; θ) whose weights are drawn from their posterior by doubly stochastic MCMC.

    Args:
      generative: `GenerativeNetwork`, p(x, z; θ).
      recognition: `RecognitionNetwork` that mirrors it, q(z given x; φ).
      prior: of θ: a scalar TFP distribution or a shrinkage prior, a dict from weight-name patterns to such, or a
        `Prior`; by default one whose scales are learnt, see `Prior`, and none with methods that climb to one θ.
      seed: non-negative integer; the chain, the latent draws and the order of the rows follow from it.
      **kwargs: of `keras.Model`.

    Raises:
      ValueError: if the networks do not mirror each other, or an argument is of another kind.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> model = ds.DeepGenerativeModel(
    ...     generative=ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.SBN(4)]),
    ...     recognition=ds.RecognitionNetwork([ds.layers.SBN(2)]),
    ... )
    >>> model.compile(kernel=ds.mcmc.SGNHT(learning_rate=0.01))
    >>> history = model.fit(np.eye(4), batch_size=2, epochs=1, verbose=0)
    >>> sorted(history.history)
    ['configurational_temperature', 'effective_sample_size', 'kinetic_temperature', 'log_likelihood', ...]
    >>> model.sample(3, seed=0).shape
    (3, 4)
    """

    def __init__(
        self, generative: GenerativeNetwork, recognition: RecognitionNetwork, prior: Prior | PriorLike | None = None,
        seed: int = 0, **kwargs: Any,
    ):  # fmt: skip
        _check_networks(generative, recognition)
        seed = checks.nonnegative_integer("seed", seed)
        random.as_seed(seed)  # no larger than a seed may be
        super().__init__(**kwargs)
        if not recognition.built:
            recognition.build((None, generative.seen_units))
        recognition._build_layers(generative.seen_units)
        self.generative = generative
        self.recognition = recognition
        recognition.support = generative.support
        self.prior: Prior = prior if isinstance(prior, Prior) else Prior(prior)
        frozen = [f"{layer.name}/{v.name}" for layer in generative.layers for v in layer.non_trainable_variables]
        check_patterns(self.prior, [name for name, _ in generative.named_weights], frozen)
        self.seed = seed
        self.built = True

    @property
    def units(self) -> int:
        return self.generative.units

    @property
    def context(self) -> Context | None:
        return self.generative.context

    @property
    def support(self) -> Support:
        return self.generative.support

    @property
    def theta_variables(self) -> list[keras.Variable]:
        return self.generative.trainable_variables

    @property
    def named_weights(self) -> list[tuple[str, keras.Variable]]:
        return self.generative.named_weights

    @property
    def phi_variables(self) -> list[keras.Variable]:
        return self.recognition.trainable_variables

    @property
    def takes_gaps(self) -> bool:
        return self.generative.layers[-1].factorised

    def check_rows(self, rows: Rows | Source) -> None:
        self.generative.check_gaps(rows)

    def watchers(self) -> list[keras.callbacks.Callback]:
        return watchers(self.generative, self.fitting.settings)

    def outdoes(self, theta: Sequence[TensorLike], phi: Sequence[TensorLike], logs: Logs) -> bool:
        return outdoes(self, theta, phi, logs)

    @described_by(compile_model)
    def compile(
        self, kernel: StochasticGradientKernel | KernelName | None = None,
        latents: Latents | LatentsName | None = None,
        proposal: Proposal | ProposalName | Literal["auto"] | None = "auto", kernel_steps: int = 1,
        proposal_steps: int = 1, steps_per_execution: int | Literal["auto"] = 1, jit_compile: bool = True,
        evaluation_samples: int = 100, num_chains: int | Literal["auto"] | None = None, interleaved: bool = False,
        step: StepMethod | None = None,
    ) -> None:  # fmt: skip
        compile_model(
            self,
            kernel,
            latents,
            proposal,
            kernel_steps,
            proposal_steps,
            steps_per_execution,
            jit_compile,
            evaluation_samples,
            num_chains,
            interleaved,
            step,
        )

    @described_by(refit_recognition)
    def refit_recognition(
        self, x: RowsLike, epochs: int, batch_size: int = 100, verbose: Verbose = 0,
        latents: Latents | None = None, proposal: Proposal | None = None, num_chains: int | None = None,
    ) -> keras.callbacks.History:  # fmt: skip
        return refit_recognition(self, x, epochs, batch_size, verbose, latents, proposal, num_chains)

    @described_by(sample)
    def sample(
        self, num_samples: int, seed: Seed | None = None, probabilities: bool = False,
        num_averaged: int = 1, posterior: Any = None, average: Average | None = None, context: Any = None,
    ) -> np.ndarray:  # fmt: skip
        return sample(self, num_samples, seed, probabilities, num_averaged, posterior, average, context)

    def evaluate(
        self, x: RowsLike | None = None, y: None = None, *, batch_size: int | None = None, verbose: Verbose = "auto",
        callbacks: Callbacks | None = None, return_dict: bool = False, num_samples: int | None = None, seed: Seed = 0,
        **keras_arguments: Any,
    ) -> Evaluation:  # fmt: skip
        """Estimates the mean log-likelihood of data by importance sampling.

        Args:
          x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
          y: must be None.
          batch_size: rows at a time.
          verbose: 0 is silent; otherwise a line is printed.
          callbacks: Keras callbacks; they see the beginning and the end of the test.
          return_dict: whether to return a dict, or the list [log_likelihood, effective_sample_size].
          num_samples: samples a row; by default the `evaluation_samples` of compile.
          seed: of the draws; the same seed compares models on the same randomness.

        Returns:
          The mean log p(x) in nats and the mean effective sample size.
        """
        if num_samples is None:
            num_samples = self.fitting.settings.get("evaluation_samples", 100)
        batch_size = checks.positive_integer("batch_size", 100 if batch_size is None else batch_size)

        def measured(inside_fit):
            rows = self.source("x", self.validation_source if inside_fit else x)
            mean = likelihood.importance_sampling(
                self, rows, num_samples, seed, batch_size=batch_size, warn=not inside_fit
            ).mean()
            return {"log_likelihood": float(mean), "effective_sample_size": mean.effective_sample_size}

        return evaluated(self, measured, y, callbacks, verbose, return_dict, keras_arguments)

    def log_likelihood(
        self, x: RowsLike, num_samples: int = 1000, seed: Seed = 0, batch_size: int = 100,
        standard_error: float | None = None, max_samples: int = 1_000_000,
    ) -> LogLikelihood:  # fmt: skip
        """Importance-sampling estimates of log p(x), see `likelihood.importance_sampling`.

        Args:
          x: array (n, D), a source of rows or a `tf.data.Dataset` of batches.
          num_samples: draws for each row; with `standard_error` the first ones.
          seed: of the draws.
          batch_size: rows at a time.
          standard_error: to be reached in every row, in nats; what is guaranteed is said there.
          max_samples: with `standard_error`, the most draws for a row, beside as many that decide about their number.

        Returns:
          `likelihood.LogLikelihood`.

        Raises:
          ValueError: for data or counts that do not fit.
        """
        precision = {"standard_error": standard_error, "max_samples": max_samples}
        return likelihood.importance_sampling(self, x, num_samples, seed, batch_size, **precision)

    @described_by(impute)
    def impute(
        self, x: RowsLike, mask: ArrayLike | None = None, num_imputations: int = 1, seed: Seed = 0,
        probabilities: bool = False, majority: bool = False, **options: Any,
    ) -> np.ndarray:  # fmt: skip
        return impute(self, x, mask, num_imputations, seed, probabilities, majority, **options)

    def source_to_estimate(self, x: RowsLike) -> Source:
        """The source of rows whose log-likelihood is asked for, checked."""
        return rows_to_estimate(self, x)

    def density(self, weights: ThetaAndPhi | None = None, log_partition: None = None) -> NetworkDensity:
        """p(x; θ) at weights (θ, φ), by default the model's own: what averages, imputation and serving ask of it.

        Args:
          weights: pair (θ, φ) of lists of arrays.
          log_partition: must be None: directed networks are normalised.

        Raises:
          ValueError: for weights of other shapes, not finite, or with `log_partition`.
        """
        if log_partition is not None:
            raise ValueError(f"Directed networks are normalised. Received: log_partition={log_partition!r}")
        return NetworkDensity(self, weights)

    def with_networks(self, generative: GenerativeNetwork, recognition: RecognitionNetwork) -> DeepGenerativeModel:
        """A model of other networks, not compiled, whose programs XLA compiles if it compiles this one's."""
        model = type(self)(generative, recognition, seed=self.seed)
        model.fitting.settings = {"jit_compile": self.uses_xla}
        return model

    def get_config(self) -> Config:
        parts = {"generative": self.generative, "recognition": self.recognition, "prior": self.prior}
        config = {name: keras.saving.serialize_keras_object(part) for name, part in parts.items()}
        return {"name": self.name, "trainable": self.trainable, "seed": self.seed, **config}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        parts = {name: keras.saving.deserialize_keras_object(config[name]) for name in _PARTS}
        return cls(**{**config, **parts})


def _check_networks(generative, recognition):
    if not isinstance(generative, GenerativeNetwork):
        raise ValueError(f"generative must be a GenerativeNetwork. Received: {type(generative).__name__}")
    if not isinstance(recognition, RecognitionNetwork):
        raise ValueError(f"recognition must be a RecognitionNetwork. Received: {type(recognition).__name__}")
    if {id(layer) for layer in generative.layers} & {id(layer) for layer in recognition.layers}:
        raise ValueError("The two networks must not share layers. Received: a layer that stands in both")
    if recognition.latent_units != generative.latent_units:
        raise ValueError(
            "The recognition network must mirror the generative one: its widths, data first, are "
            f"{generative.latent_units}. Received: {recognition.latent_units}"
        )

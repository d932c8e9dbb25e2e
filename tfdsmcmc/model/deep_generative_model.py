"""The Keras model that joins a generative network, a recognition network and a prior."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import imputation, likelihood, random
from tfdsmcmc._common import checks
from tfdsmcmc._common.finite import check_finite
from tfdsmcmc.likelihood.importance import rows_to_estimate
from tfdsmcmc.model.density import NetworkDensity
from tfdsmcmc.model.learning import Learning
from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
from tfdsmcmc.priors import Prior
from tfdsmcmc.programs import compiled, values_of
from tfdsmcmc.rows import Rows
from tfdsmcmc.rows.context import of_draws
from tfdsmcmc.training.fitting.evaluating import evaluated

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from tfdsmcmc._common.estimates import LogLikelihood
    from tfdsmcmc._common.types import Average, Callbacks, Config, Evaluation, Seed, ThetaAndPhi, Verbose
    from tfdsmcmc.priors.prior import PriorLike
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.source import Source

_PARTS = ("generative", "recognition", "prior")


@keras.saving.register_keras_serializable("tfdsmcmc")
class DeepGenerativeModel(Learning):
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
        for name, _ in generative.named_weights:
            self.prior.for_weight(name)
        self.seed = seed
        self.built = True

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
            num_samples = self._settings.get("evaluation_samples", 100)
        batch_size = checks.positive_integer("batch_size", 100 if batch_size is None else batch_size)

        def measured(inside_fit):
            rows = self.source("x", self._validation if inside_fit else x)
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

    def sample(
        self, num_samples: int, seed: Seed | None = None, probabilities: bool = False, num_averaged: int = 1,
        posterior: Any = None, average: Average | None = None, context: Any = None,
    ) -> np.ndarray:  # fmt: skip
        """Ancestral samples of the data.

        Args:
          num_samples: n.
          seed: integer, or int32 tensor of shape (2,); by default another one at each call, which the model counts and
            saves.
          probabilities: True for the means of p(x given z₁) at the sampled z₁ instead of draws of x; for a layer that
            draws its units one by one, the mean of each given those drawn before it.
          num_averaged: with `probabilities`, how many draws of the layers below the top one such means are averaged
            over, at the same top units: an estimate of E[x given z_L]. Published are 1,000, of draws of x.
          posterior: `Posterior` whose predictive distribution is sampled; by default the model's present weights are.
          average: of the posterior, see `Posterior.sample`.
          context: what the draws are given, where the model has a context: (n, C), or one for all; of categorical
            covariates the numbers of their states too, such as a label, or n of them.

        Returns:
          float32 array (n, D).

        Raises:
          ValueError: for a count out of range, such that a layer would draw 2³¹ units or more, averages without
            `probabilities`, weights that are not finite, or an average without a posterior.
        """
        if posterior is not None:
            if num_averaged != 1:
                raise ValueError(f"Of a posterior num_averaged is 1. Received: num_averaged={num_averaged!r}")
            if not hasattr(posterior, "components"):
                raise ValueError(f"posterior is a Posterior, as posterior.load gives it. Received: {posterior!r}")
            return posterior.sample(self, num_samples, seed, probabilities, average, context)
        if average is not None:
            raise ValueError(f"An average is of a posterior. Received: average={average!r}, posterior=None")
        num_samples = checks.positive_integer("num_samples", num_samples)
        most = (2**31 - 1) // max(self.generative.units, *self.generative.latent_units, 1)
        if num_samples > most:
            raise ValueError(f"num_samples must be at most {most:,} at a time. Received: num_samples={num_samples}")
        num_averaged = checks.positive_integer("num_averaged", num_averaged)
        if num_averaged >= 2**31:
            raise ValueError(f"num_averaged must be below 2³¹. Received: num_averaged={num_averaged}")
        if num_averaged > 1 and not probabilities:
            raise ValueError(f"Means are averaged: probabilities=True. Received: num_averaged={num_averaged}")
        check_finite("the model's weights", self.generative.trainable_variables)
        context = of_draws(self.context, context, num_samples)
        seed = self.next_seed() if seed is None else seed
        if num_averaged > 1:
            return self._averaged_sample(num_samples, num_averaged, seed, context)
        x, z = self.generative.sample(num_samples, seed, context)
        if probabilities:
            parents = self.generative.data_parents(Rows(x, context=context), z)
            x = self.generative.layers[-1].conditional_mean(x, parents)
        return x.numpy()

    def _averaged_sample(self, num_samples, num_averaged, seed, context):
        """E[x given z_L] at the top units of `sample`."""
        x, z = self.generative.sample(num_samples, seed, context)
        top = z[-1] if z else self.generative.data_parents(Rows(x, context=context), z)
        program = compiled(self, "mean given the top units", _mean_given_top)
        seed = random.stream(seed, "averaged samples")
        return program(*values_of(self, None), top, tf.constant(num_averaged), seed).numpy()

    def impute(
        self, x: RowsLike, mask: ArrayLike | None = None, num_imputations: int = 1, seed: Seed = 0,
        probabilities: bool = False, majority: bool = False, **options: Any,
    ) -> np.ndarray:  # fmt: skip
        """Draws the missing entries of rows from p(x_missing given x_observed).

        Args:
          x: (n, D), missing entries NaN or, under a mask, anything.
          mask: (n, D) or (D,), True where an entry is observed.
          num_imputations: draws for each row.
          seed: integer, or int32 tensor of shape (2,).
          probabilities: True for the means of the missing entries instead of draws: the probabilities of a one, for
            binary data.
          majority: True for 1 where that probability is above ½, else 0, as the literature reports accuracies; binary
            data alone.
          **options: of `imputation.impute`, such as `method`, `burn_in`, `posterior` and `average`. It returns
            effective sample sizes besides; whether `burn_in` was long enough only a longer one tells.

        Returns:
          float32 array (num_imputations, n, D), or (n, D) of the probabilities or the majority; what is observed is
          as it was.

        Raises:
          ValueError: for data, a mask or options that do not fit.
        """
        if majority and (probabilities or not self.support.discrete):
            kind = type(self.generative.layers[-1]).__name__
            raise ValueError(
                "A majority is of discrete data, in place of the probabilities. "
                f"Received: majority=True, probabilities={probabilities!r}, data layer {kind}"
            )
        drawn, means, *_ = imputation.impute(self, x, mask, num_imputations, seed, **options)
        if majority:
            return self.support.mode(means)
        return means if probabilities else drawn

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
        model._settings = {"jit_compile": self.uses_xla}
        return model

    def get_config(self) -> Config:
        parts = {"generative": self.generative, "recognition": self.recognition, "prior": self.prior}
        config = {name: keras.saving.serialize_keras_object(part) for name, part in parts.items()}
        return {"name": self.name, "trainable": self.trainable, "seed": self.seed, **config}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        parts = {name: keras.saving.deserialize_keras_object(config[name]) for name in _PARTS}
        return cls(**{**config, **parts})


def _mean_given_top(generative, recognition, *arguments):
    return generative.mean_given_top(*arguments)


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

"""Posterior samples as an ensemble.

    log p(x given X) ≈ log (1/M) Σ_m p(x given θ_m)                  average="draws"
    log (1/C) Σ_c p(x given θ̄_c)                                     average="weights", θ̄_c the mean of chain c
    log (1/C) Σ_c p̄_c(x)                                             average="units", see `posterior.averages`

The first is the posterior predictive density. Its logarithm is too low: by Var p(x given θ)/(2M p(x given X)²) for
independent draws, to first order, which is nats where a single θ explains rows badly that others explain well. The
other two average within the model. Which is best differs between data sets, so a run chooses by its validation rows
(`posterior.choice`), and `Posterior.average` has what it chose; "weights" where there were none. It may choose the
weights at which a warm start ended, "start", where sampling from them was for the worse, or a mixture with them.

Hidden units may play other roles in other chains, so weights and units are averaged over the draws of one chain.
Samples are read from disk one at a time, but for "units".
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdsmcmc import contract, random
from tfdsmcmc._common import checks
from tfdsmcmc._common.documenting import described_by
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc.annealing import annealed_importance_sampling
from tfdsmcmc.posterior.averages import Components, check_average, parts_of
from tfdsmcmc.posterior.curve import Curve, curve
from tfdsmcmc.posterior.draws import Draws
from tfdsmcmc.posterior.label_probabilities import label_probabilities
from tfdsmcmc.posterior.mean import Fitted, apply_mean, mean
from tfdsmcmc.posterior.predictive import predictive_log_likelihood
from tfdsmcmc.posterior.predictive_samples import predictive_samples
from tfdsmcmc.posterior.running_means import PredictiveAverage
from tfdsmcmc.rows import kept
from tfdsmcmc.rows.context import of_draws

if TYPE_CHECKING:
    import keras
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Average, Seed, Verbose
    from tfdsmcmc.contract import Model
    from tfdsmcmc.rows.from_users import RowsLike


class Posterior(Draws):
    """Samples of the weights θ (and of φ beside them) from the posterior; made by `load` and `present`.

    A slice cuts the draws of each chain: `posterior[-20:]` has the last 20 draws of every chain, `posterior[::2]` every
    second one.

    Attributes:
      samples: sequence of `store.Sample`, by step and then by chain, read from disk one at a time.
      average: what the samples are averaged to where nothing else is said, of `averages.AVERAGES`.
      starts: list of `store.Sample`, the best weights of the climbs of its warm starts, each chain's; empty for none.
    """

    def label_probabilities(
        self, model: Model, x: RowsLike, frequencies: ArrayLike | None = None, num_samples: int = 1000, seed: Seed = 0,
        batch_size: int = 100,
    ) -> np.ndarray:  # fmt: skip
        """p(y given x, X) of each label y, in proportion to p(y) p(x given y, X), of a model given a label.

        p(x given y, X) is the average over draws.

        Args:
          model: `DeepGenerativeModel` of the samples' architecture; it is not changed.
          x: (n, D), a source of rows or a `tf.data.Dataset`, which is read into memory.
          frequencies: (Y,), p(y) or numbers in proportion to it, such as counts; by default all labels are alike.
          num_samples: K, importance samples a row for each θ and label.
          seed: integer, or int32 tensor of shape (2,).
          batch_size: rows at a time.

        Returns:
          float64 array (n, Y), whose rows sum to 1.

        Raises:
          ValueError: for a model whose context is not one label, or of another architecture, data that do not fit, or
            frequencies that are none.
        """
        return label_probabilities(self, model, x, frequencies, num_samples, seed, batch_size)

    @described_by(mean)
    def mean(self) -> tuple[list[np.ndarray], list[np.ndarray]]:
        return mean(self)

    @described_by(apply_mean)
    def apply_mean(
        self,
        model: Fitted,
        x: RowsLike | None = None,
        refit_epochs: int = 0,
        batch_size: int = 100,
        verbose: Verbose = 0,
    ) -> Fitted:
        return apply_mean(self, model, x, refit_epochs, batch_size, verbose)

    def components(self, model: Model, average: Average | None = None, log_partition: Any = None) -> Components:
        """The models, and their weights, whose mixture with equal weights the posterior is averaged to.

        Args:
          model: of the samples' architecture; it is not changed.
          average: of `averages.AVERAGES`; by default `self.average`.
          log_partition: of Boltzmann machines, see `log_likelihood`.

        Raises:
          ValueError: for a model of another architecture, or another name.
        """
        average = self.average if average is None else average
        check_average(average)
        self.check(model)
        return Components(self.samples, self.chain_numbers, model, average, self.starts, log_partition)

    def log_likelihood(
        self, model: Model, x: RowsLike, num_samples: int = 1000, seed: Seed = 0, batch_size: int = 100,
        average: Average | None = None, log_partition: Any = None,
    ) -> LogLikelihood:  # fmt: skip
        """The log-likelihood of each row under an average over the samples.

        Each component's density of a row is an importance-sampling estimate with its own φ. Of Boltzmann machines it is
        log p*(x) − log Z, and each component has a log Z of its own, whose error all rows share. The standard error is
        that of the estimates; the spread over θ is not in it. What warns of few samples or of heavy tails looks at
        the first component alone. Memory does not depend on M, but that "units" holds the weights of a chain's draws.

        Args:
          model: of the samples' architecture; it is not changed.
          x: (n, D), a source of rows or a `tf.data.Dataset`, which is read into memory.
          num_samples: K, importance samples a row for each component.
          seed: integer, or int32 tensor of shape (2,).
          batch_size: rows at a time.
          average: "units", unit by unit over the draws of each chain; "draws", the log-mean-exp over all draws; or
            "weights", of each chain's mean of weights; "start", of the weights at which its warm start ended; or a
            mixture with these, "weights_and_start" and "units_and_start". Chains are mixed by log-mean-exp. By
            default `self.average`.
          log_partition: of Boltzmann machines, a function from a `Machine` to its `LogPartition` or log Z, such as
            `lambda machine: ds.boltzmann.log_partition(machine, 100, 1000)`; by default exact, where a layer has at
            most 25 units. `annealed_log_likelihood` estimates log Z by itself.

        Raises:
          ValueError: for a model of another architecture, data that do not fit it, an average of
            another name, or where log Z is needed and not given.
        """
        components = self.components(model, average, log_partition)
        return predictive_log_likelihood(components, kept(model.source_to_estimate(x)), num_samples, seed, batch_size)

    def annealed_log_likelihood(
        self, model: Model, x: RowsLike, seed: Seed = 0, average: Average | None = None, **annealing: Any
    ) -> LogLikelihood:
        """`log_likelihood` with estimates by annealing, for samples whose φ has not learnt, as of Gibbs sampling.

        Each component's density is that of `likelihood.annealed_importance_sampling`, whose estimates are unbiased, so
        the logarithm of their mean is a lower bound in expectation. Of an RBM it is log Z that is annealed, by
        `boltzmann.log_partition`, and its error is one that all rows share; of a DBN both are. The standard error is
        that of the runs; the spread over θ is not in it.

        Args:
          model: of the samples' architecture; it is not changed.
          x: (n, D), a source of rows or a `tf.data.Dataset`, which is read into memory.
          seed: integer, or int32 tensor of shape (2,).
          average: as of `log_likelihood`.
          **annealing: other arguments of `likelihood.annealed_importance_sampling`, or of `boltzmann.log_partition`,
            for all components; num_steps=1000 and num_runs=16 where they are not given, but not `weights`, which are
            the samples', nor, of networks, `z` or another `direction` than "forward". The path "recognition" is that
            of the component's φ.

        Raises:
          ValueError: for a model of another architecture, or what annealing refuses.
        """
        check_annealing(model, annealing)
        components = self.components(model, average)
        x, mixed = kept(model.source_to_estimate(x)), PredictiveAverage()
        for m, part in enumerate(components):
            mixed.add(part.density.annealed_log_likelihood(x, random.fold(seed, m), **annealing))
        return mixed.log_likelihood()

    def sample(
        self, model: Model, num_samples: int, seed: Seed | None = None, probabilities: bool = False,
        average: Average | None = None, context: Any = None,
    ) -> np.ndarray:  # fmt: skip
        """Draws of the data from the average: a component at random, then an ancestral sample of it.

        Args:
          model: of the samples' architecture; it is not changed.
          num_samples: n.
          seed: integer, or int32 tensor of shape (2,); by default another one at each call, which the model counts and
            saves.
          probabilities: True for the means of p(x given z₁) at the sampled z₁ instead of draws of x.
          average: as of `log_likelihood`.
          context: of each draw, or one for all, where rows are given one; see `DeepGenerativeModel.sample`.

        Returns:
          float32 array (n, D).

        Raises:
          ValueError: for a model of another architecture, or a count out of range.
        """
        num_samples = checks.positive_integer("num_samples", num_samples)
        components = self.components(model, average)
        context = of_draws(getattr(model, "context", None), context, num_samples)
        seed = model.next_seed() if seed is None else seed
        return predictive_samples(components, num_samples, seed, probabilities, context)

    def curve(
        self, model: Model, x: RowsLike, num_samples: int = 1000, counts: Sequence[int] | None = None, seed: Seed = 0,
        batch_size: int = 100, average: Average | None = None, log_partition: Any = None,
    ) -> Curve:  # fmt: skip
        """The log-likelihood of each row against the number of posterior samples.

        The first m samples are taken in the order of `samples`. With one seed the last point of the average is
        `log_likelihood` of the same arguments, where its average has no start. Beside it stands the mean of weights of
        the draws of one chain, the first sample's, with the mean φ as the proposal: where its effective sample size is
        low, it is underestimated. What warns of that looks at the first component and at the last mean alone.

        Args:
          model: of the samples' architecture; it is not changed.
          x: (n, D), held-out rows.
          num_samples: K, importance samples a row for each component.
          counts: the numbers m of samples; by default 1, 2, 4, … and all.
          seed: integer, or int32 tensor of shape (2,).
          batch_size: rows at a time.
          average: "units", "draws" or "weights"; "draws" takes one pass over the samples, the others one for each
            count. What a run has chosen is the default, without its start.
          log_partition: of Boltzmann machines, as of `log_likelihood`.

        Returns:
          `Curve`, with the values of each row at each m.

        Raises:
          ValueError: for a model of another architecture, data that do not fit it, or counts out of range.
        """
        own = "weights" if self.average == "start" else parts_of(self.average)[0]
        average = own if average is None else average
        check_average(average)
        self.check(model)
        if average.endswith("start"):
            raise ValueError(f"Weights of a warm start do not grow in number. Received: average={average!r}")
        x = kept(model.source_to_estimate(x))
        contract.check_partition(log_partition, len(self.samples))
        arguments = num_samples, counts, seed, batch_size, average, log_partition
        return curve(self.samples, self.chain_numbers, model, x, *arguments)

    def check(self, model: Model) -> list[keras.Variable]:
        """The model's variables, if their shapes are those of the samples; else a ValueError."""
        contract.check_model(model)
        first = self.samples[0]
        groups = (contract.sampled_theta(model), model.phi_variables)
        expected = [[tuple(v.shape) for v in group] for group in groups]
        found = [[w.shape for w in group] for group in (first.theta, first.phi)]
        if expected != found:
            raise ValueError(f"The samples are of weights of the shapes {found}. Received: a model with {expected}")
        return [variable for group in groups for variable in group]


def check_annealing(model: contract.Model, annealing: dict[str, Any]) -> None:
    """Raises a ValueError for arguments of annealing that an average over components cannot heed.

    Args:
      model: of the components.
      annealing: the arguments.
    """
    if "weights" in annealing:
        raise ValueError(f"The weights are those of the samples. Received: weights={annealing['weights']!r}")
    directed = hasattr(model, "generative")
    own = set(inspect.signature(annealed_importance_sampling).parameters) - {"model", "x", "seed", "weights"}
    if directed and (unknown := set(annealing) - own):
        raise ValueError(f"Annealing takes {sorted(own - {'direction', 'z'})}. Received: {', '.join(sorted(unknown))}")
    direction, z = annealing.get("direction", "forward"), annealing.get("z")
    if directed and (direction != "forward" or z is not None):
        raise ValueError(
            "An average is annealed forward: draws of z from one component are none of the others. "
            f"Received: direction={direction!r}, z={z!r}"
        )

"""Posterior samples as an ensemble.

    mean of weights         log p(x given θ̄),  θ̄ = (1/M) Σ_m θ_m       (what the papers report)
    predictive average      log p(x given X) ≈ log (1/M) Σ_m p(x given θ_m)

The second is the posterior predictive density. The logarithm of a mean over M draws is too low: by
Var p(x given θ)/(2M p(x given X)²) for independent draws, to first order, which is nats where a single θ explains rows
badly that others explain well. `Posterior.curve` shows how it rises with M. A mixture over hidden units that may swap
roles has no useful mean, so the first is meant for samples of one mode of one chain: a mean over several chains comes
with a warning. Samples are read from disk one at a time, whatever is done with them.

Of a model whose top biases depend on a label, `posterior.given_label(y)` is the posterior of the network given the
label, for estimates, curves, means, imputation and export; without a label all of these are of a network whose top bias
is the labels' mean, which is no network that was learnt.
"""

from __future__ import annotations

import warnings

import numpy as np

from tfdsmcmc import checks, labels_left_out, random
from tfdsmcmc.annealing import annealed_importance_sampling
from tfdsmcmc.estimates import LogLikelihood
from tfdsmcmc.likelihood import importance_sampling
from tfdsmcmc.likelihood.importance import rows_to_estimate
from tfdsmcmc.posterior import given_labels, store
from tfdsmcmc.posterior.averages import PredictiveAverage, RunningMean
from tfdsmcmc.posterior.curve import Curve, curve
from tfdsmcmc.posterior.samples import Samples, chain_of, cut
from tfdsmcmc.rows import kept


class MeanOverChains(UserWarning):
    """The mean of weights is taken over several chains, whose hidden units may play different roles."""


class Posterior:
    """Samples of the weights θ (and of φ beside them) from the posterior; made by `load` and `present`.

    A slice cuts the draws of each chain: `posterior[-20:]` has the last 20 draws of every chain, `posterior[::2]` every
    second one.

    Attributes:
      samples: sequence of `store.Sample`, by step and then by chain, read from disk one at a time.
    """

    __iter__ = None  # its parts are the samples

    def __init__(self, folder, samples):
        self._folder = folder
        self.samples = samples

    def __getitem__(self, index):
        if not isinstance(index, slice):
            raise ValueError(f"A posterior is cut by slices; samples[i] is one sample. Received: index={index!r}")
        return self._subset(cut(self.chain_numbers, index), f"the slice {index}")

    @property
    def chain_numbers(self):
        """The number of the chain of each sample, a list."""
        if isinstance(self.samples, Samples):
            return self.samples.chains
        return [chain_of(sample) for sample in self.samples]

    @property
    def num_chains(self):
        """The number of chains that the samples are of."""
        return len(set(self.chain_numbers))

    def chain(self, number) -> Posterior:
        """The draws of one chain.

        Args:
          number: of the chain, counted from 0.

        Raises:
          ValueError: if there is no sample of it.
        """
        number = checks.nonnegative_integer("number", number)
        places = [i for i, found in enumerate(self.chain_numbers) if found == number]
        return self._subset(places, f"the number {number}, with samples of {sorted(set(self.chain_numbers))}")

    def thin(self, every) -> Posterior:
        """Every `every`-th draw of each chain, from the first on.

        Args:
          every: positive integer.

        Raises:
          ValueError: for another number.
        """
        return self[:: checks.positive_integer("every", every)]

    def given_label(self, label) -> Posterior:
        """The posterior of the network given a label, of a model whose top biases depend on labels.

        Args:
          label: integer from 0.

        Raises:
          ValueError: for samples without biases for labels, or a label that they have none for.
        """
        label = given_labels.checked_label(self.samples, label)
        if isinstance(self.samples, Samples):
            return Posterior(self._folder, self.samples.given_label(label))
        return Posterior(self._folder, [sample.given_label(label) for sample in self.samples])

    def label_probabilities(self, model, x, frequencies=None, num_samples=1000, seed=0, batch_size=100):
        """p(y given x, X) of each label y, in proportion to p(y) p(x given y, X), from samples with biases for labels.

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
          ValueError: for samples without biases for labels, a model of another architecture, data that do not fit, or
            frequencies that are none.
        """
        return given_labels.label_probabilities(self, model, x, frequencies, num_samples, seed, batch_size)

    def mean(self):
        """(θ̄, φ̄), lists of float32 arrays; over several chains with a `MeanOverChains` warning."""
        if self.num_chains > 1:
            warnings.warn(
                "Hidden units may play other roles in other chains, and then the mean over chains is no model's "
                f"weights: posterior.chain(0).mean() is of one chain. The mean is over {self.num_chains} chains.",
                MeanOverChains,
                stacklevel=2,
            )
        theta, phi = self._stored_mean() or self._streamed_mean()
        return [w.astype(np.float32) for w in theta], [w.astype(np.float32) for w in phi]

    def apply_mean(self, model, x=None, refit_epochs=0, batch_size=100, verbose=0):
        """Sets the model's weights to the mean of the samples.

        The recognition network takes its mean too; `refit_epochs` then fits it to the averaged θ, which stays fixed.

        Args:
          model: of the samples' architecture; its θ and φ are overwritten.
          x: training data for the refit: array (n, D) in which NaN is missing, a source of rows, or a
            `tf.data.Dataset`, which is read into memory.
          refit_epochs: epochs of φ alone.
          batch_size: of the refit.
          verbose: of the refit, as in Keras.

        Returns:
          The model.

        Raises:
          ValueError: for another architecture, or a refit of what is not compiled or has no data that fit; the model is
            unchanged then.
        """
        refit_epochs = checks.nonnegative_integer("refit_epochs", refit_epochs)
        batch_size = checks.positive_integer("batch_size", batch_size)
        if refit_epochs:
            x = _rows_for_refit(model, x, refit_epochs)
        variables = self.check(model)
        theta, phi = self.mean()
        for variable, value in zip(variables, (*theta, *phi)):
            variable.assign(value)
        if refit_epochs:
            # at the averaged θ, which are the layers' weights, and not at those of the model's other chains
            model.refit_recognition(x, refit_epochs, batch_size=batch_size, verbose=verbose, num_chains=1)
        return model

    def log_likelihood(self, model, x, num_samples=1000, seed=0, batch_size=100, labels=None) -> LogLikelihood:
        """The posterior predictive log-likelihood of each row, log (1/M) Σ_m p(x given θ_m).

        Each p(x given θ_m) is an importance-sampling estimate with the m-th φ. Memory does not depend on M. The
        standard error is that of the importance sampling; the spread over θ is not in it. What warns of few samples or
        of heavy tails looks at the first θ alone.

        Args:
          model: `DeepGenerativeModel` of the samples' architecture; it is not changed.
          x: (n, D), a source of rows or a `tf.data.Dataset`, which is read into memory.
          num_samples: K, importance samples a row for each θ.
          seed: integer, or int32 tensor of shape (2,).
          batch_size: rows at a time.
          labels: (n,) integers, of samples with biases for labels: log p(x given its label, X) of each row.

        Raises:
          ValueError: for a model of another architecture, data that do not fit it, or labels that do not.
        """
        if labels is not None:
            return given_labels.log_likelihood(self, model, x, labels, num_samples, seed, batch_size)
        self.check(model)
        x, average = kept(rows_to_estimate(model, x)), PredictiveAverage()
        for m, sample in enumerate(self.samples):
            weights = sample.theta, sample.phi
            average.add(
                importance_sampling(model, x, num_samples, random.fold(seed, m), batch_size, weights, warn=m == 0)
            )
        return average.log_likelihood()

    def annealed_log_likelihood(self, model, x, seed=0, **annealing) -> LogLikelihood:
        """`log_likelihood` with estimates by annealing, for samples whose φ has not learnt, as of Gibbs sampling.

        Each p(x given θ_m) is that of `likelihood.annealed_importance_sampling`, whose estimates are unbiased, so the
        logarithm of their mean is a lower bound in expectation. The standard error is that of the runs; the spread over
        θ is not in it.

        Args:
          model: `DeepGenerativeModel` of the samples' architecture; it is not changed.
          x: (n, D), a source of rows or a `tf.data.Dataset`, which is read into memory.
          seed: integer, or int32 tensor of shape (2,).
          **annealing: other arguments of `likelihood.annealed_importance_sampling`, for all samples; num_steps=1000 and
            num_runs=16 where they are not given, but not `weights`, which are the samples'. The path "recognition" is
            that of the m-th φ.

        Raises:
          ValueError: for a model of another architecture, or what annealing refuses.
        """
        if "weights" in annealing:
            raise ValueError(f"The weights are those of the samples. Received: weights={annealing['weights']!r}")
        self.check(model)
        x, average = kept(rows_to_estimate(model, x)), PredictiveAverage()
        for m, sample in enumerate(self.samples):
            own = {"seed": random.fold(seed, m), "weights": (sample.theta, sample.phi)}
            average.add(annealed_importance_sampling(model, x, **annealing, **own))
        return average.log_likelihood()

    def curve(self, model, x, num_samples=1000, counts=None, seed=0, batch_size=100) -> Curve:
        """The log-likelihood of each row against the number of posterior samples, in one pass over them.

        The first m samples are taken in the order of `samples`. With one seed the last point of the predictive average
        is `log_likelihood` of the same arguments. The mean of weights is that of the draws of one chain, the first
        sample's, with the mean φ as the proposal: where its effective sample size is low, it is underestimated. What
        warns of that looks at the first θ and at the last mean alone.

        Args:
          model: `DeepGenerativeModel` of the samples' architecture; it is not changed.
          x: (n, D), held-out rows.
          num_samples: K, importance samples a row for each θ.
          counts: the numbers m of samples; by default 1, 2, 4, … and all.
          seed: integer, or int32 tensor of shape (2,).
          batch_size: rows at a time.

        Returns:
          `Curve`, with the values of each row at each m.

        Raises:
          ValueError: for a model of another architecture, data that do not fit it, or counts out of range.
        """
        self.check(model)
        return curve(self.samples, self.chain_numbers, model, x, num_samples, counts, seed, batch_size)

    def _subset(self, indices, what):
        if not indices:
            raise ValueError(f"A posterior has at least one sample. Received: {what}, which leaves none")
        samples = self.samples
        chosen = samples.take(indices) if isinstance(samples, Samples) else [samples[i] for i in indices]
        return Posterior(self._folder, chosen)

    def _stored_mean(self):
        """The mean kept in the folder, where the samples are all of the folder's."""
        whole = isinstance(self.samples, Samples) and self.samples.label is None
        if whole and self.samples.paths == store.sample_paths(self._folder):
            return store.read_mean(self._folder)
        return None

    def _streamed_mean(self):
        mean = RunningMean()
        for sample in self.samples:
            mean.add([*sample.theta, *sample.phi])
            split = len(sample.theta)
        return mean.value[:split], mean.value[split:]

    def check(self, model):
        """The model's variables, if their shapes are those of the samples."""
        first = self.samples[0]
        groups = (model.theta_variables, model.phi_variables)
        expected = [[tuple(v.shape) for v in group] for group in groups]
        found = [[w.shape for w in group] for group in (first.theta, first.phi)]
        if expected != found:
            raise ValueError(f"The samples are of weights of the shapes {found}. Received: a model with {expected}")
        labels_left_out.warn_of(first, stacklevel=3)
        return [variable for group in groups for variable in group]


def _rows_for_refit(model, x, epochs):
    """The source of rows; a ValueError where a refit would be refused, for by then the weights would be others."""
    if x is None:
        raise ValueError(f"A refit needs training data. Received: x=None, refit_epochs={epochs}")
    if model.run is None:
        raise ValueError(f"A refit needs a compiled model. Received: one that is not, refit_epochs={epochs}")
    source = kept(model.source("x", x))
    model.check_rows(source)
    return source

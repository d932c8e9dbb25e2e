"""Posterior samples as an ensemble.

    mean of weights         log p(x given θ̄),  θ̄ = (1/M) Σ_m θ_m       (what the papers report)
    predictive average      log p(x given X) ≈ log (1/M) Σ_m p(x given θ_m)

The second is the posterior predictive density. A mixture over hidden units that may swap roles has no useful mean, so
the first is meant for samples of one mode of one chain.
"""

from __future__ import annotations

import collections.abc
import pathlib

import numpy as np

from tfdsmcmc import checks, random
from tfdsmcmc.likelihood import LogLikelihood, importance_sampling
from tfdsmcmc.posterior import store


def load(path) -> Posterior:
    """Opens the samples that a `Collector` wrote.

    Args:
      path: the collector's folder.

    Returns:
      `Posterior`.

    Raises:
      ValueError: where there are no samples, or a file is unreadable, truncated, or of another model than the first.
    """
    folder = pathlib.Path(path)
    paths = store.sample_paths(folder) if folder.is_dir() else []
    if not paths:
        raise ValueError(f"A posterior is a folder with files sample_*.h5. Received: path={str(path)!r}")
    shapes = None
    for file in paths:
        sample = store.read_sample(file)
        found = [[w.shape for w in group] for group in (sample.theta, sample.phi)]
        shapes = shapes or found
        if found != shapes:
            raise ValueError(f"The samples of a posterior must have the same shapes. Received: {file}")
    return Posterior(folder)


class Samples(collections.abc.Sequence):
    """The samples, each read from disk when it is asked for."""

    def __init__(self, paths):
        self._paths = paths

    def __len__(self):
        return len(self._paths)

    def __getitem__(self, index):
        if isinstance(index, slice):
            return Samples(self._paths[index])
        return store.read_sample(self._paths[index])


class Posterior:
    """Samples of the weights θ (and of φ beside them) from the posterior; made by `load`.

    Attributes:
      samples: sequence of `Sample(theta, phi, step)`, read from disk one at a time.
    """

    def __init__(self, folder):
        self._folder = folder
        self.samples = Samples(store.sample_paths(folder))

    def mean(self):
        """(θ̄, φ̄), lists of float32 arrays."""
        theta, phi = store.read_mean(self._folder)
        return [w.astype(np.float32) for w in theta], [w.astype(np.float32) for w in phi]

    def apply_mean(self, model, x=None, refit_epochs=0, batch_size=100, verbose=0):
        """Sets the model's weights to the mean of the samples.

        The recognition network takes its mean too; `refit_epochs` then fits it to the averaged θ, which stays fixed.

        Args:
          model: `DeepGenerativeModel` of the samples' architecture; its θ and φ are overwritten.
          x: training data for the refit, (n, D).
          refit_epochs: epochs of φ alone.
          batch_size: of the refit.
          verbose: of the refit, as in Keras.

        Returns:
          The model.

        Raises:
          ValueError: for a model of another architecture, or a refit without data; the model is unchanged then.
        """
        refit_epochs = checks.nonnegative_integer("refit_epochs", refit_epochs)
        if refit_epochs and x is None:
            raise ValueError(f"A refit needs training data. Received: x=None, refit_epochs={refit_epochs}")
        theta, phi = self.mean()
        variables = self._check(model)
        if refit_epochs:
            x = checks.rows("x", x, model.generative.units, model.generative.binary_data)
        for variable, value in zip(variables, (*theta, *phi)):
            variable.assign(value)
        if refit_epochs:
            model.refit_recognition(x, refit_epochs, batch_size=batch_size, verbose=verbose)
        return model

    def log_likelihood(self, model, x, num_samples=1000, seed=0, batch_size=100) -> LogLikelihood:
        """The posterior predictive log-likelihood of each row, log (1/M) Σ_m p(x given θ_m).

        Each p(x given θ_m) is an importance-sampling estimate with the m-th φ. Memory does not depend on M. The
        standard error is that of the importance sampling; the spread over θ is not in it.

        Args:
          model: `DeepGenerativeModel` of the samples' architecture; it is not changed.
          x: (n, D).
          num_samples: K, importance samples a row for each θ.
          seed: integer, or int32 tensor of shape (2,).
          batch_size: rows at a time.

        Raises:
          ValueError: for a model of another architecture, or data that do not fit it.
        """
        self._check(model)
        total = variance = squares = 0.0
        reference = None
        for m, sample in enumerate(self.samples):
            estimate = importance_sampling(
                model, x, num_samples, random.fold(seed, m), batch_size, (sample.theta, sample.phi), warn=m == 0
            )
            value = estimate.value.astype(np.float64)
            if reference is None:
                reference = value
            # densities relative to a running maximum, so that none overflows
            higher = np.maximum(reference, value)
            shrink, density = np.exp(reference - higher), np.exp(value - higher)
            total = total * shrink + density
            variance = variance * shrink**2 + (density * estimate.standard_error) ** 2
            squares = squares * shrink**2 + density**2 / estimate.effective_sample_size
            reference = higher
        return LogLikelihood(
            reference + np.log(total) - np.log(len(self.samples)), np.sqrt(variance) / total, total**2 / squares
        )

    def _check(self, model):
        """The model's variables, if their shapes are those of the samples."""
        first = self.samples[0]
        groups = (model.generative.trainable_variables, model.recognition.trainable_variables)
        expected = [[tuple(v.shape) for v in group] for group in groups]
        found = [[w.shape for w in group] for group in (first.theta, first.phi)]
        if expected != found:
            raise ValueError(f"The samples are of weights of the shapes {found}. Received: a model with {expected}")
        return [variable for group in groups for variable in group]

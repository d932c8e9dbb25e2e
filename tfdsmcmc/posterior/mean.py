"""The mean of posterior samples, and a model that is set to it: `mean` and `apply_mean` of `Posterior`."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from tfdsmcmc._common import checks
from tfdsmcmc.posterior import store
from tfdsmcmc.posterior.averages import mean_of
from tfdsmcmc.posterior.samples import Samples
from tfdsmcmc.rows import kept

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Verbose
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.training.fitting.learner import Learner

Fitted = TypeVar("Fitted", bound="Learner")


class MeanOverChains(UserWarning):
    """The mean of weights is taken over several chains, whose hidden units may play different roles."""


def mean(self: Posterior) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """(θ̄, φ̄), lists of float32 arrays; over several chains with a `MeanOverChains` warning."""
    if self.num_chains > 1:
        warnings.warn(
            "Hidden units may play other roles in other chains, and then the mean over chains is no model's "
            f"weights: posterior.chain(0).mean() is of one chain. The mean is over {self.num_chains} chains.",
            MeanOverChains,
            stacklevel=3,
        )
    theta, phi = _stored_mean(self) or mean_of(self.samples)
    return [w.astype(np.float32) for w in theta], [w.astype(np.float32) for w in phi]


def apply_mean(
    self: Posterior,
    model: Fitted,
    x: RowsLike | None = None,
    refit_epochs: int = 0,
    batch_size: int = 100,
    verbose: Verbose = 0,
) -> Fitted:
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
    batch_size, verbose = checks.positive_integer("batch_size", batch_size), checks.verbose(verbose)
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


def _stored_mean(posterior):
    """The mean kept in the folder, where the samples are all of the folder's."""
    if posterior._folder is None:
        return None
    if isinstance(posterior.samples, Samples) and posterior.samples.paths == store.sample_paths(posterior._folder):
        return store.read_mean(posterior._folder)
    return None


def _rows_for_refit(model, x, epochs):
    """The source of rows; a ValueError where a refit would be refused, for by then the weights would be others."""
    if not hasattr(model, "refit_recognition"):
        raise ValueError(f"A refit is of a recognition network. Received: {model!r}, refit_epochs={epochs}")
    if x is None:
        raise ValueError(f"A refit needs training data. Received: x=None, refit_epochs={epochs}")
    if model.run is None:
        raise ValueError(f"A refit needs a compiled model. Received: one that is not, refit_epochs={epochs}")
    source = kept(model.source("x", x))
    model.check_rows(source)
    return source

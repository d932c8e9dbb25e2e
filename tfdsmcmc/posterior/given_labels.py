"""Likelihoods given labels, and probabilities of labels, of models whose top biases depend on a label.

    log p(x given y, X) ≈ log (1/M) Σ_m p(x given y, θ_m)      or another average, see `Posterior.log_likelihood`
    p(y given x, X) = p(y) p(x given y, X) / Σ_y' p(y') p(x given y', X)

p(x given y, θ_m) is that of the network with the top biases of label y, `store.Sample.given_label`; how frequent labels
are is no part of θ. The estimates of a row for all labels are of the same draws of z: q(z given x; φ_m) knows no label,
so that what the draws have in common cancels between labels.

Source: Gan, Henao, Carlson and Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS 2015
(multi-task learning); the probabilities by Bayes' rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import scipy.special

from tfdsmcmc.augmentation.labels import log_likelihood_by_label
from tfdsmcmc.estimates import LogLikelihood
from tfdsmcmc.likelihood.importance import rows_to_estimate
from tfdsmcmc.rows import kept

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc.contract import Model
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.posterior.store import Sample
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.types import Average, Seed


def num_labels(samples: Sequence[Sample]) -> int:
    """Y, how many labels the samples have biases for; a ValueError for samples without."""
    biases = getattr(samples[0], "label_biases", None)
    if biases is None:
        given = getattr(samples, "label", None)
        what = "samples without labels" if given is None else f"samples given the label {given}"
        raise ValueError(f"Labels are of samples with biases of the top layer for each label. Received: {what}")
    return len(biases)


def checked_label(samples: Sequence[Sample], label: object) -> int:
    """The label as an integer; a ValueError for one that the samples have no biases for."""
    number = num_labels(samples)
    if isinstance(label, bool) or not isinstance(label, (int, np.integer)) or not 0 <= label < number:
        raise ValueError(f"label must be in 0, …, {number - 1}. Received: label={label!r}")
    return int(label)


def log_likelihood(
    posterior: Posterior,
    model: Model,
    x: RowsLike,
    labels: ArrayLike,
    num_samples: int,
    seed: Seed,
    batch_size: int,
    average: Average | None,
) -> LogLikelihood:
    """log p(x given y, X) of each row at its own label y; see `Posterior.log_likelihood`."""
    number, source = num_labels(posterior.samples), kept(rows_to_estimate(model, x))

    def estimate(label, rows, own_seed):
        given = posterior.given_label(label)
        return given.log_likelihood(model, rows, num_samples, own_seed, batch_size, average=average)

    return log_likelihood_by_label(source, labels, number, estimate, seed)


def label_probabilities(
    posterior: Posterior,
    model: Model,
    x: RowsLike,
    frequencies: ArrayLike | None,
    num_samples: int,
    seed: Seed,
    batch_size: int,
) -> np.ndarray:
    """p(y given x, X), (n, Y); see `Posterior.label_probabilities`."""
    number = num_labels(posterior.samples)
    frequencies = _checked_frequencies(frequencies, number)
    source = kept(rows_to_estimate(model, x))
    estimates = [
        posterior.given_label(label)
        .log_likelihood(model, source, num_samples, seed, batch_size, average="draws")
        .value
        for label in range(number)
    ]
    with np.errstate(divide="ignore"):  # of a label that does not occur
        return scipy.special.softmax(np.stack(estimates, 1).astype(np.float64) + np.log(frequencies), 1)


def _checked_frequencies(frequencies, number):
    """p(y) up to a factor, (Y,) float64."""
    if frequencies is None:
        return np.ones(number)
    try:
        found = np.asarray(frequencies, np.float64)
    except (TypeError, ValueError):
        found = np.zeros(0)
    if found.shape != (number,) or not np.isfinite(found).all() or (found < 0).any() or not found.any():
        raise ValueError(
            f"frequencies must be {number} numbers, one for each label, not below 0 and not all 0. "
            f"Received: frequencies={frequencies!r}"
        )
    return found

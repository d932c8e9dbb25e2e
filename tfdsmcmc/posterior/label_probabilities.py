"""Probabilities of labels, by a model of rows given a label.

    p(y given x, X) = p(y) p(x given y, X) / Σ_y' p(y') p(x given y', X)

p(x given y, X) is the average over draws of the weights; how frequent labels are is no part of them. The estimates of a
row for all labels are by the same uniform numbers, so that what they have in common cancels between labels.

Source: Gan, Henao, Carlson and Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS 2015
(multi-task learning); the probabilities by Bayes' rule.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.special

from tfdsmcmc.rows import ContextSource, kept, source_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.contract import Model
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.rows.from_users import RowsLike


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
    context = getattr(model, "context", None)
    groups = getattr(getattr(context, "support", None), "groups", [])
    if len(groups) != 1:
        raise ValueError(
            "Probabilities of labels are of a model given a label, GenerativeNetwork(layers, context=[Y]). "
            f"Received: a model with the context {context}"
        )
    (number,) = groups
    frequencies = _checked_frequencies(frequencies, number)
    source = kept(source_of("x", x, model.units, model.support))

    def given(label):
        own = ContextSource(source, context.values("context", label, source.num_rows))
        return posterior.log_likelihood(model, own, num_samples, seed, batch_size, average="draws").value

    estimates = [given(label) for label in range(number)]
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

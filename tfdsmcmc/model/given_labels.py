"""Estimates and imputations of rows given their labels, of a model whose top biases depend on them.

Each row is one of the network with the top biases of its label, (θ, b_y, φ); rows of one label are worked off together.
The biases b_y are those of the run as it stands: `apply_mean` and `set_weights` change θ and φ beside them.
Of several chains over the weights it is the first that counts.

Source: Gan, Henao, Carlson and Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS 2015
(multi-task learning).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc import imputation, likelihood, random
from tfdsmcmc.augmentation.labels import log_likelihood_by_label, places_of
from tfdsmcmc.likelihood.importance import rows_to_estimate
from tfdsmcmc.rows import kept, rows_in_memory

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc.estimates import LogLikelihood
    from tfdsmcmc.programs import DirectedModel
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.types import Seed


class _Weights(NamedTuple):
    """θ and φ, lists of tensors, as a posterior has them in a sample."""

    theta: list
    phi: list


class _One(NamedTuple):
    """What imputation asks of a posterior."""

    samples: list


class _Present:
    """The present weights of a model given a label; a ValueError for a model without labels."""

    def __init__(self, model):
        state = None if model.run is None else model.run.step.first_chain(model.run.state)[1]
        biases = getattr(state, "label_biases", None)
        if not biases:
            what = "that is not compiled" if state is None else "without labels"
            raise ValueError(
                "Labels are of a model compiled with them, such as by methods.vb(labels=…). "
                f"Received: labels, for a model {what}"
            )
        self._model, self._biases, self.num_labels = model, biases[0], len(biases[0])
        top = model.generative.layers[0]
        self._theta = model.generative.trainable_variables
        self._place = next((i for i, variable in enumerate(self._theta) if variable is top.bias), None)
        if self._place is None:
            raise ValueError(f"The top layer, whose biases depend on labels, must learn. Received: {top.name}, frozen")

    def given_label(self, label):
        theta = [tf.convert_to_tensor(variable) for variable in self._theta]
        theta[self._place] = self._biases[label]
        return _One([_Weights(theta, list(self._model.recognition.trainable_variables))])


def log_likelihood(
    model: DirectedModel,
    x: RowsLike,
    labels: ArrayLike,
    num_samples: int,
    seed: Seed,
    batch_size: int,
    **precision: Any,
) -> LogLikelihood:
    """log p(x given its label) of each row, see `DeepGenerativeModel.log_likelihood`."""
    present = _Present(model)

    def estimate(label, rows, own_seed):
        (weights,) = present.given_label(label).samples
        return likelihood.importance_sampling(model, rows, num_samples, own_seed, batch_size, weights, **precision)

    return log_likelihood_by_label(kept(rows_to_estimate(model, x)), labels, present.num_labels, estimate, seed)


def impute(
    model: DirectedModel,
    x: RowsLike,
    mask: ArrayLike | None,
    labels: ArrayLike,
    num_imputations: int,
    seed: Seed,
    posterior: Any = None,
    **options: Any,
) -> tuple[np.ndarray, np.ndarray]:
    """`imputation.impute` of rows with labels: (imputations (m, n, D), means of what is missing (n, D))."""
    if posterior is not None and not hasattr(posterior, "given_label"):
        raise ValueError(f"Labels are of a posterior with biases for each. Received: posterior={posterior!r}")
    present = _Present(model) if posterior is None else posterior
    rows = rows_in_memory("x", x, model.generative.units, model.generative.support, mask, model.generative.context)
    groups = places_of(labels, getattr(present, "num_labels", None), len(rows.values))
    given = [present.given_label(label) for label, _ in groups]
    x, parts = rows.with_nan(), []
    for (label, places), own in zip(groups, given):
        own_seed = random.fold(seed, label)
        parts.append(imputation.impute(model, x[places], None, num_imputations, own_seed, posterior=own, **options))
    order = np.argsort(np.concatenate([places for _, places in groups]))
    drawn = np.concatenate([part.x for part in parts], 1)[:, order]
    return drawn, np.concatenate([part.probabilities for part in parts])[order]

"""Top biases that depend on a label of each row, all other weights being shared by the labels.

    z_nk ~ Bernoulli(σ(b_{k, y_n})),      b_y with the prior of the top layer's bias, each

It is an SBN whose parents are the label, as zeros and a one. A shrinkage prior whose groups are not entries has one ζ
for the biases of a label, as it has one for a bias; a τ that is learnt is one of them all.

Source: Gan, Henao, Carlson and Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS 2015
(multi-task learning).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import tensorflow as tf

from tfdsmcmc import checks, random
from tfdsmcmc.estimates import LogLikelihood
from tfdsmcmc.layers import SBN
from tfdsmcmc.priors import ThreeParameterBetaNormal
from tfdsmcmc.rows import ArraySource

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc.layers.base import StochasticLayer
    from tfdsmcmc.rows.source import RandomAccessSource, Source
    from tfdsmcmc.types import Config, Seed, TensorLike

Labels: TypeAlias = "tuple[np.ndarray, int]"  # (N,) int32, and how many there may be

_FEW_LABELS = 1000  # as many may be there though few rows have them


def check_labels(labels: ArrayLike, num_labels: int | None = None) -> Labels:
    """(labels as an int32 array (N,), how many there may be).

    Args:
      labels: (N,) integers from 0.
      num_labels: by default the largest one and 1.

    Raises:
      ValueError: for labels of another kind, or out of range.
    """
    try:
        found = np.asarray(labels)
    except ValueError:  # ragged
        found = None
    if found is None or found.ndim != 1 or not len(found) or not np.issubdtype(found.dtype, np.integer):
        kind = type(labels).__name__ if found is None else f"shape {found.shape}, dtype {found.dtype}"
        raise ValueError(f"labels must be integers, one for each row. Received: labels of {kind}")
    if num_labels is None and found.max() >= max(len(found), _FEW_LABELS):
        raise ValueError(
            "Labels are numbered 0, 1, 2, …: where some occur in no row, num_labels says how many there are. "
            f"Received: {len(found)} labels up to {found.max()}"
        )
    num_labels = checks.positive_integer("num_labels", int(found.max()) + 1 if num_labels is None else num_labels)
    if found.min() < 0 or found.max() >= num_labels:
        raise ValueError(
            f"labels must be in 0, …, {num_labels - 1}. Received: labels from {found.min()} to {found.max()}"
        )
    return found.astype(np.int32), num_labels


def prior_of_biases(member: Any) -> Any:
    """What the prior of the top layer's bias is for biases (labels, units): groups are those of one label."""
    if isinstance(member, ThreeParameterBetaNormal) and member.group != "entry":
        return type(member)(**{**member.get_config(), "group": "parent"})
    return member


def config_of(labels: Labels | None) -> Config:
    """The arguments `labels` and `num_labels` as plain data, of what `check_labels` gave, or of None."""
    found, number = (None, None) if labels is None else labels
    return {"labels": None if labels is None else found.tolist(), "num_labels": number}


def places_of(labels: ArrayLike, num_labels: int | None, num_rows: int) -> list[tuple[int, np.ndarray]]:
    """[(label, the places of its rows)] of the labels that there are, checked against the number of rows."""
    labels, _ = check_labels(labels, num_labels)
    if len(labels) != num_rows:
        raise ValueError(f"There must be a label for each of {num_rows} rows. Received: {len(labels)} labels")
    return [(int(label), np.flatnonzero(labels == label)) for label in np.unique(labels)]


def log_likelihood_by_label(
    source: RandomAccessSource,
    labels: ArrayLike,
    num_labels: int | None,
    estimate: Callable[..., LogLikelihood],
    seed: Seed,
) -> LogLikelihood:
    """The estimates of each row given its label.

    Args:
      source: of the rows, with random access.
      labels: (n,) integers.
      num_labels: how many there may be.
      estimate: function of (label, source, seed), the `LogLikelihood` of rows that all have the label.
      seed: integer, or int32 tensor of shape (2,).
    """
    groups = places_of(labels, num_labels, source.num_rows)
    parts = [estimate(label, ArraySource(source.take(own)), random.fold(seed, label)) for label, own in groups]
    order = np.argsort(np.concatenate([own for _, own in groups]))
    *fields, shared = LogLikelihood.joined(parts)
    return LogLikelihood(*(None if field is None else field[order] for field in fields), shared)


class LabelledTop:
    """The top layer given the labels.

    Args:
      top: the model's top layer.
      labels: (N,) int32.
      num_labels: how many there may be.

    Attributes:
      shares: (labels,) float32, the share of the rows with each label.
      layer: `SBN` whose kernel, (labels, units), has the biases of each label; its own bias is 0.

    Raises:
      ValueError: for a top layer that is no SBN, or frozen.
    """

    labels: np.ndarray
    num_labels: int

    def __init__(self, top: StochasticLayer, labels: np.ndarray, num_labels: int):
        if type(top) is not SBN or not top.trainable_variables:
            raise ValueError(
                "Labels decide the biases of an SBN that learns. "
                f"Received: top layer {top.name!r}, {type(top).__name__}"
            )
        self.labels, self.num_labels = labels, num_labels
        self.layer: SBN = SBN(top.units, kernel_initializer="zeros", name=f"{top.name}_given_labels")
        self.layer.build((None, num_labels))
        self.shares: np.ndarray = np.bincount(labels, minlength=num_labels).astype(np.float32) / len(labels)

    def check_rows(self, source: Source) -> None:
        """Raises a ValueError if there is not a label for each row."""
        if source.num_rows != len(self.labels):
            raise ValueError(
                "Labels are of the rows that are learnt from, without those that validation_split holds out: there "
                f"must be a label for each of {source.num_rows} rows. Received: {len(self.labels)} labels"
            )

    def first(self, bias: TensorLike) -> tf.Tensor:
        """The biases of each label to start from."""
        return tf.repeat(tf.cast(bias, tf.float32)[tf.newaxis], self.num_labels, 0)

    def one_hot(self, index: tf.Tensor) -> tf.Tensor:
        """(n, labels), those of some rows."""
        return tf.one_hot(tf.gather(tf.constant(self.labels), index), self.num_labels)

    def mean(self, biases: tf.Tensor) -> tf.Tensor:
        """The mean of the biases over the rows, (units,)."""
        return tf.linalg.matvec(biases, tf.constant(self.shares), transpose_a=True)

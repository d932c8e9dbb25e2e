"""Densities and draws of a mixture of products of Bernoulli distributions, of its log π (C,) and logits of μ (C, D)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc.boltzmann.machines.machine import sum_softplus
from tfdsmcmc.boltzmann.machines.sampling import program

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, TensorLike
    from tfdsmcmc.rows.source import Source


def log_likelihood(
    log_shares: TensorLike,
    logits: TensorLike,
    source: Source,
    batch_size: int,
    jit_compile: bool,
) -> LogLikelihood:
    """log p(x) of each row of a source, exactly."""
    size = min(checks.positive_integer("batch_size", batch_size), source.num_rows)
    run, parts = program(_log_prob, jit_compile), []
    for rows in source.batches(size):
        values = rows.padded(size).values.astype(np.float32)
        parts.append(run(log_shares, logits, values).numpy()[: len(rows.values)].astype(np.float64))
    value = np.concatenate(parts)
    return LogLikelihood(value, np.zeros(len(value)), np.full(len(value), np.inf))


def log_components(log_shares: TensorLike, logits: TensorLike, x: tf.Tensor) -> tf.Tensor:
    """log π_c p(x given c), (n, C)."""
    return tf.matmul(x, logits, transpose_b=True) + (log_shares - sum_softplus(logits))


def drawn(
    log_shares: TensorLike,
    logits: TensorLike,
    num_draws: int | tf.Tensor,
    seed: Seed,
) -> tuple[tf.Tensor, tf.Tensor]:
    """(draws, the means of their components), (n, D) each."""
    component_seed, unit_seed = tf.unstack(random.split(seed))
    ends = tf.cumsum(tf.exp(tf.cast(log_shares, tf.float64)))
    places = random.uniform([num_draws], component_seed, tf.float64) * ends[-1]
    logits = tf.gather(logits, tf.searchsorted(ends[:-1], places, side="right"))
    return random.bernoulli(logits, unit_seed), tf.sigmoid(logits)


def _log_prob(log_shares, logits, x):
    return tf.reduce_logsumexp(log_components(log_shares, logits, x), -1)

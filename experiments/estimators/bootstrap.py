"""Bias and standard deviation of estimates from K importance samples, by bootstrap.

Of a pool of draws z ~ q(z given x) of a row with weights w, K are drawn again and again with replacement. The estimates
from K draws scatter around their mean with the standard deviation, and their mean lies off the estimate from the whole
pool by the bias. (The pool's own bias is not in it.) The estimates are

    log (1/K) Σ_k w_k                        of log p(x),
    (1/B) Σ_b Σ_k w̃_bk ∇_θ log p(x_b, z_bk)    of the gradient of a batch of B rows, relative to that of the pools

with w̃ = w/Σ w. Rows of a batch draw for themselves: biases add up, and standard deviations as their squares.
"""

import numpy as np
import tensorflow as tf

import tfdsmcmc as ds

REPLICATES = 200
_BLOCK = 500  # draws whose gradients are in memory at a time


def bootstrap(log_weights, counts, replicates, rng):
    """Of log (1/K) Σ w.

    Args:
      log_weights: (N,), of the pool of one row.
      counts: the Ks.
      replicates: draws of K.
      rng: `numpy.random.Generator`.

    Returns:
      (bias, standard deviation), each (len(counts),).
    """
    target, found = np.logaddexp.reduce(log_weights.astype(np.float64)) - np.log(len(log_weights)), []
    for count in counts:
        _, highest, weights = _drawn(log_weights, count, replicates, rng)
        estimates = highest + np.log(weights.mean(1))
        found.append((estimates.mean() - target, estimates.std(ddof=1)))
    return tuple(np.array(part) for part in zip(*found))


def bootstrap_of_gradients(pools, counts, replicates, rng):
    """Of the mean over rows of Σ_k w̃_k v_k, for vectors v such as gradients; lengths relative to that of the pools.

    Args:
      pools: for each row the pair (log-weights (N,), iterable of (slice of the pool, its vectors (n, P))).
      counts: the Ks.
      replicates: draws of K.
      rng: `numpy.random.Generator`.

    Returns:
      (bias, standard deviation), each (len(counts),).
    """
    estimates, target = [0.0] * len(counts), 0.0
    for log_weights, blocks in pools:
        spreads = [_spread(log_weights, count, replicates, rng) for count in counts]
        pool = np.exp(log_weights - log_weights.max())
        for part, vectors in blocks:
            for i, spread in enumerate(spreads):
                # in place after the first, and in the vectors' precision: there are R × P numbers for each K
                estimates[i] += spread[:, part].astype(vectors.dtype, copy=False) @ vectors
            target += (pool[part] / pool.sum()) @ vectors
    found = []
    for values in estimates:
        variance = values.var(0, ddof=1).sum()
        # the square of the mean's length has the mean's own variance in it
        bias = np.sqrt(max(((values.mean(0, dtype=np.float64) - target) ** 2).sum() - variance / replicates, 0.0))
        found.append(np.array([bias, np.sqrt(variance)]) / np.linalg.norm(target))
    return tuple(np.array(part) for part in zip(*found))


def _drawn(log_weights, count, replicates, rng):
    """(places (R, K), highest log-weight (R,), weights relative to it (R, K)) of draws with replacement."""
    index = rng.integers(0, len(log_weights), (replicates, count))
    chosen = log_weights[index].astype(np.float64)
    highest = chosen.max(1)
    return index, highest, np.exp(chosen - highest[:, None])


def _spread(log_weights, count, replicates, rng):
    """The self-normalised weight that each replicate gives each of the pool, (R, N)."""
    index, _, weights = _drawn(log_weights, count, replicates, rng)
    spread = np.zeros((replicates, len(log_weights)))
    np.add.at(spread, (np.arange(replicates)[:, None], index), weights / weights.sum(1, keepdims=True))
    return spread


def pooled(model, row, size, seed):
    """The pool of a row for `bootstrap_of_gradients`: N draws, and gradients of log p(x, z_k) in θ block by block."""
    z, log_weights, _ = ds.latents.NAIS(size).draw(model.generative, model.recognition, row[None], seed)[0]
    variables = [variable.value for variable in model.generative.trainable_variables]

    @tf.autograph.experimental.do_not_convert
    def gradient(parts):
        with tf.GradientTape() as tape:
            log_joint = tf.reduce_sum(model.generative.log_joint(row[None], [part[None] for part in parts]))
        gradients = tape.gradient(log_joint, variables, unconnected_gradients="zero")
        return tf.concat([tf.reshape(g, [-1]) for g in gradients], 0)

    def blocks():
        for first in range(0, size, _BLOCK):
            part = slice(first, first + _BLOCK)
            yield part, tf.vectorized_map(gradient, [layer[part, 0] for layer in z]).numpy()

    return log_weights[:, 0].numpy(), blocks()


def study(model, rows, batch, size, counts, seed):
    """Bias and deviation of both estimates: means over the rows with their errors; and of the gradient of a batch.

    Args:
      model: `DeepGenerativeModel`.
      rows: (n, D).
      batch: (B, D).
      size: N, of each row's pool.
      counts: the Ks.
      seed: integer.

    Returns:
      Dict of `log_likelihood`, `gradient` and `gradient_of_batch`, each a dict of `bias` and `standard_deviation`,
      these of lists over the Ks, `mean` and `error`; None for the error of one row or of the batch, which is not known.
    """
    rng = np.random.default_rng(seed)
    found = {"log_likelihood": [], "gradient": []}

    def pools(purpose, rows):
        own = ds.random.stream(seed, purpose)
        return (pooled(model, row, size, ds.random.fold(own, number)) for number, row in enumerate(rows))

    for pool in pools("rows", rows):
        found["log_likelihood"].append(bootstrap(pool[0], counts, REPLICATES, rng))
        found["gradient"].append(bootstrap_of_gradients([pool], counts, REPLICATES, rng))
    results = {name: _summary(np.array(parts)) for name, parts in found.items()}
    of_batch = bootstrap_of_gradients(pools("batch", batch), counts, REPLICATES, rng)
    return results | {"gradient_of_batch": _summary(np.array([of_batch]))}


def _summary(parts):
    """Of (rows, 2, Ks): means and standard errors over the rows of the bias and of the standard deviation."""
    means, errors = parts.mean(0).tolist(), [None, None]
    if len(parts) > 1:
        errors = (parts.std(0, ddof=1) / np.sqrt(len(parts))).tolist()
    names = ("bias", "standard_deviation")
    return {name: {"mean": mean, "error": error} for name, mean, error in zip(names, means, errors, strict=True)}

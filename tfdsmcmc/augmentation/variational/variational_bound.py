"""The bound that the literature reports for rows: the Pólya-Gamma variables integrated out again.

Of a row, q(z) alone is fitted, the factors of the weights stay. With ψ under q(z) and the law of the weights, and h̄ the
means of the units,

    Σ_j (x_j ⟨ψ_j⟩ − ⟨ln (1 + e^ψ_j)⟩) + Σ_k (h̄_k ⟨ψ_k⟩ − ⟨ln (1 + e^ψ_k)⟩) + H(h̄)

is below

    ln ∫ p(x given θ) q(θ) dθ      weights="integrated": the predictive probability under q
    ln p(x given θ̄)                weights="means": that of the model with the means of q as its weights

It is a bound for rows that q(θ) has not seen. For the rows that it was learnt from the first is no bound on log p(X)/N,
which costs KL(q(θ) ‖ p(θ))/N more: that is what the metric `bound` of `fit` is, where the Pólya-Gamma variables cost
some more again. What published code reports are the means.

The linear terms are exact; the others are means over draws of z and, given z, of ψ, which is normal.

The fit of q(z) has many optima, and each is a bound. Where learning took the units of its rows along, one that is begun
at means of ½ may be tens of nats below one that is begun near the units of similar rows, which a recognition network
can learn: `teach_recognition`, and `initial="recognition"` here. Of several starts a row's fit is the one with the best
bound with the Pólya-Gamma variables, which has no noise: what is then estimated is a bound all the same.

Source: Gan, Henao, Carlson and Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS 2015,
section 3.2; what is bounded was derived here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks, loops
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc.augmentation.variational.local_factors import LocalFactors, WeightFactor, entropy
from tfdsmcmc.augmentation.variational.mean_field_step import observations
from tfdsmcmc.augmentation.variational.teaching import variational_run
from tfdsmcmc.likelihood.importance import rows_to_estimate
from tfdsmcmc.programs import batches, compiled, values_of

if TYPE_CHECKING:

    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.programs import DirectedModel
    from tfdsmcmc.rows.from_users import RowsLike

_WEIGHTS = ("integrated", "means")
_STARTS, _DRAWS = ("half", "recognition"), 20


def variational_bound(
    model: DirectedModel,
    x: RowsLike,
    num_samples: int = 10,
    rounds: int = 10,
    weights: Literal["integrated", "means"] = "integrated",
    seed: Seed = 0,
    batch_size: int = 100,
    initial: Literal["half", "recognition"] = "half",
    num_starts: int = 1,
) -> LogLikelihood:
    """Estimates the mean-field bound of each row, of a model that learnt by variational Bayes.

    Args:
      model: a `DeepGenerativeModel` that was compiled with `methods.vb` or `methods.online_vb`; of several chains it is
        the first that counts.
      x: (n, D), a source of rows or a `tf.data.Dataset` of batches. Entries that are NaN, missing, drop out. Of
        rows given a context the bound is one on log p(x given it).
      num_samples: draws for each row; published are 10.
      rounds: over the factors of a row.
      weights: "integrated" or "means", see the module's docstring.
      seed: integer, or int32 tensor of shape (2,).
      batch_size: rows at a time.
      initial: where the means of the units start, at "half", ½, or at those of 20 draws of the "recognition" network.
      num_starts: from so many draws of such starts the best fit of each row is taken; the time is in proportion.

    Returns:
      `LogLikelihood`: unbiased estimates of the bounds, and the standard errors of their means over the draws.

    Raises:
      ValueError: for a model that learns otherwise, data that do not fit it, counts below 1, other weights or starts,
        and several starts at "half", which are all one.
    """
    num_samples = checks.positive_integer("num_samples", num_samples)
    rounds = checks.positive_integer("rounds", rounds)
    batch_size = checks.positive_integer("batch_size", batch_size)
    checks.one_of("weights", weights, _WEIGHTS)
    checks.one_of("initial", initial, _STARTS)
    num_starts = checks.positive_integer("num_starts", num_starts)
    if num_starts > 1 and initial == "half":
        raise ValueError(f"Several starts need initial='recognition'. Received: num_starts={num_starts} at 'half'")
    step, state = variational_run(model, "The bound is")
    source = rows_to_estimate(model, x)
    local, factors = step.local, step.factors(state)
    integrated, taught = weights == "integrated", initial == "recognition"

    def evaluate(generative, recognition, factors, rows, seed):
        if not integrated:
            factors = [WeightFactor(mean, tf.zeros_like(covariance)) for mean, covariance in factors]
        seen, first = observations(rows), random.stream(seed, "start of the units")

        def fit(i):
            start = _start(local, recognition if taught else None, rows, random.fold(first, i))
            return local.fit(factors, seen, start, rounds)[0].units

        units = _best(local, factors, seen, fit, num_starts)
        return _bounds(local, factors, seen, units, num_samples, integrated, seed)

    key = ("variational bound", local.kind.NAME, num_samples, rounds, integrated, taught, num_starts)
    program, values, parts = compiled(model, key, evaluate), values_of(model, None), []
    for rows, batch_seed in batches(source, batch_size, random.stream(seed, "variational bound")):
        count = len(rows.values)
        padded = rows._replace(values=rows.values.astype(np.float32)).padded(batch_size).map(tf.convert_to_tensor)
        value, error = (part[:count].numpy() for part in program(*values, factors, padded, batch_seed))
        size = np.full(count, num_samples)
        parts.append(LogLikelihood(value, error, size.astype(np.float64), size))
    return LogLikelihood.joined(parts)


def _start(local, recognition, rows, seed):
    """The means of the units with which the fit of some rows begins, list of (B, K)."""
    if recognition is not None:
        return [tf.reduce_mean(part, 0) for part in recognition.sample(rows.floats().plain, _DRAWS, seed)]
    batch = tf.shape(rows.values)[0]
    return [tf.fill([batch, shape.units], 0.5) for shape in local.layers[1:]]


def _best(local, factors, rows, fit, count):
    """Of so many fits the units (B, K) of each row's best, list by layer."""

    def bound(units):
        found = LocalFactors(units, local.tilts(factors, rows, units))
        return local.bound(factors, rows, found, best=True)

    def one(i, best, units):
        other = fit(i)
        value = bound(other)
        better = value > best
        units = [tf.where(better[:, tf.newaxis], new, old) for new, old in zip(other, units)]
        return i + 1, tf.maximum(value, best), units

    units = fit(0)
    if count == 1:
        return units
    state = (tf.constant(1), bound(units), list(units))
    return loops.while_loop(lambda i, *_: i < count, one, state)[2]


def _bounds(local, factors, rows, units, num_samples, integrated, seed):
    """(the bounds of some rows (B,) with these means of their units, their standard errors (B,))."""
    batch = tf.shape(rows.x)[0]
    widths = [shape.units for shape in local.layers]
    known = [1.0 if rows.known is None else rows.known] + [1.0] * len(units)
    linear = tf.zeros([batch], rows.x.dtype)
    for (mean, _), r, y, counts in zip(factors, local.regressors(rows, units), [rows.x, *units], known, strict=True):
        linear += tf.reduce_sum(counts * y * tf.matmul(r, mean, transpose_b=True), 1)
    for part in units:
        linear += entropy(part)

    def one(i):
        unit_seed, *seeds = tf.unstack(random.split(random.fold(seed, i), len(widths) + 1))
        drawn = [tf.cast(u < part, part.dtype) for u, part in zip(_uniforms(batch, widths[1:], unit_seed), units)]
        term = linear
        for place, ((mean, covariance), r) in enumerate(zip(factors, local.regressors(rows, drawn), strict=True)):
            psi = tf.matmul(r, mean, transpose_b=True)
            if integrated:
                variance = tf.maximum(local.kind.quadratic(covariance, r), 0.0)
                psi += tf.sqrt(variance) * random.normal(tf.shape(psi), seeds[place], psi.dtype)
            term -= tf.reduce_sum(known[place] * tf.math.softplus(psi), 1)
        return term

    terms = loops.map_fn(one, tf.range(num_samples), fn_output_signature=tf.TensorSpec([None], linear.dtype))
    # of one draw the error is not known: 0/0
    error = tf.math.reduce_std(terms, 0) / tf.sqrt(tf.cast(num_samples - 1, linear.dtype))
    return tf.reduce_mean(terms, 0), error


def _uniforms(batch, widths, seed):
    return random.open_uniforms(batch, widths, seed) if widths else []

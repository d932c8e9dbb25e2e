"""The evidence lower bound and the harmonic mean: what the literature also reports for log p(x), and its flaws.

    evidence lower bound    E_q[log p(x, z) − log q(z given x)]  =  log p(x) − KL(q ‖ posterior)  ≤  log p(x)
    harmonic mean           1/p(x)  =  E[1/p(x given z) given x]  ≈  (1/K) Σ_k 1/p(x given z_k),   z_k ~ p(z given x)

The second is a mean over the posterior of what is largest where the posterior has least mass: its variance is
Σ_z p(z)/(p(x given z) p(x)) − 1/p(x)², often infinite for real z and astronomical for binary ones, and log p(x) comes
out too high. It is here for comparison with the literature alone.

Sources: Jordan, Ghahramani, Jaakkola and Saul, "An introduction to variational methods for graphical models", Machine
Learning 37 (1999); Newton and Raftery, "Approximate Bayesian inference with the weighted likelihood bootstrap", Journal
of the Royal Statistical Society B 56 (1994), and the objections of its discussants, Neal above all; batch means: Flegal
and Jones, "Batch means and spectral variance estimators in Markov chain Monte Carlo", Annals of Statistics 38 (2010).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc.likelihood.importance import make_sampler, rows_to_estimate
from tfdsmcmc.likelihood.sampler import checked_count
from tfdsmcmc.networks import data_log_prob
from tfdsmcmc.programs import batches, compiled, power_of_two, values_of

if TYPE_CHECKING:
    from tfdsmcmc._common.types import LatentSampler, Seed, ThetaAndPhi
    from tfdsmcmc.programs import DirectedModel
    from tfdsmcmc.rows.from_users import RowsLike


def evidence_lower_bound(
    model: DirectedModel,
    x: RowsLike,
    num_samples: int = 1000,
    seed: Seed = 0,
    batch_size: int = 100,
    weights: ThetaAndPhi | None = None,
) -> LogLikelihood:
    """Estimates the evidence lower bound of each row, which is not log p(x) but lies below it.

    Args:
      model: a `DeepGenerativeModel`.
      x: (n, D), a source of rows or a `tf.data.Dataset` of batches. Of entries that are NaN, missing, the bound is that
        of log p(x_observed).
      num_samples: K, draws from the recognition network for each row.
      seed: integer, or int32 tensor of shape (2,).
      batch_size: rows at a time.
      weights: pair (θ, φ) of lists of arrays to evaluate at; by default the model's own weights.

    Returns:
      `LogLikelihood`: the value is an unbiased estimate of the bound, the standard error is that of the mean of K
      independent terms, and the effective sample size is K, for the draws weigh alike.

    Raises:
      ValueError: for data that do not fit the model, or counts below 1.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> model = ds.DeepGenerativeModel(
    ...     generative=ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.SBN(4)]),
    ...     recognition=ds.RecognitionNetwork([ds.layers.SBN(2)]),
    ... )
    >>> ds.likelihood.evidence_lower_bound(model, np.eye(4), num_samples=50).value.shape
    (4,)
    """
    num_samples = checked_count("num_samples", num_samples)
    batch_size = checks.positive_integer("batch_size", batch_size)
    source = rows_to_estimate(model, x)
    seed = random.stream(seed, "evidence lower bound")
    sampler, parts = make_sampler(model, weights, source, batch_size, num_samples), []
    for rows, batch_seed in batches(source, sampler.batch_size, seed):
        count = np.full(len(rows.values), num_samples)
        terms = _Moments(len(count))
        for block in sampler.blocks(rows, count, batch_seed):
            terms.add(block.log_weights)
        parts.append(LogLikelihood(terms.mean, terms.standard_error(), count.astype(np.float64), count))
    return LogLikelihood.joined(parts)


def harmonic_mean(
    model: DirectedModel,
    x: RowsLike,
    latents: LatentSampler,
    num_samples: int = 1000,
    burn_in: int = 100,
    seed: Seed = 0,
    batch_size: int = 100,
    weights: ThetaAndPhi | None = None,
) -> LogLikelihood:
    """Estimates log p(x) of each row by the harmonic mean over posterior draws.

    An estimator of often infinite variance, for comparison with the literature only: use `importance_sampling`.

    Args:
      model: a `DeepGenerativeModel`.
      x: (n, D), a source of rows or a `tf.data.Dataset` of batches. Entries that are NaN are missing: the estimate is
        of log p(x_observed) then.
      latents: Markov chain over z whose draws weigh alike, such as `latents.Gibbs(num_samples=20)`. Its own burn-in
        comes first; its `num_samples` states at a time are one batch of the batch means, and should be many more than
        the states over which the chain forgets.
      num_samples: K, states for each row, rounded up to whole batches.
      burn_in: further states that are left out, rounded up to whole batches.
      seed: integer, or int32 tensor of shape (2,).
      batch_size: rows at a time.
      weights: pair (θ, φ) of lists of arrays to evaluate at; by default the model's own weights.

    Returns:
      `LogLikelihood`: the value is −log of the mean of 1/p(x given z); the standard error is by batch means and
      nan for a single batch; it is meaningless where the variance is infinite, and so low where the states with the
      largest terms were not met that it cannot tell. The effective sample size is (Σ u)²/Σ u² of the terms
      u = 1/p(x given z), as if the states were independent.

    Raises:
      ValueError: for data that do not fit the model, counts out of range, latents that are no Markov chain or do not
        suit the model.
    """
    num_samples = checks.positive_integer("num_samples", num_samples)
    burn_in = checks.nonnegative_integer("burn_in", burn_in)
    batch_size = checks.positive_integer("batch_size", batch_size)
    source = rows_to_estimate(model, x)
    if not hasattr(latents, "draw") or not hasattr(latents, "num_samples"):
        raise ValueError(f"latents must be a sampler such as latents.Gibbs. Received: latents={latents!r}")
    getattr(latents, "check", lambda generative: None)(model.generative)
    if not model.generative.latent_units:
        raise ValueError("A harmonic mean is over latent layers; log_likelihood is exact. Received: a network without")
    seed = random.stream(seed, "harmonic mean")
    run, values = _run(model, latents), values_of(model, weights)
    batch_size = min(batch_size, power_of_two(source.num_rows))
    skipped, kept = (-(-count // latents.num_samples) for count in (burn_in, num_samples))
    parts = []
    for rows, batch_seed in batches(source, batch_size, seed):
        here, carry, log_terms = len(rows.values), None, []
        padded = rows.padded(batch_size)
        for number in range(skipped + kept):
            log_p, carry = run(*values, padded, random.fold(batch_seed, number), carry)
            if number >= skipped:
                log_terms.append(_log_sums(-log_p.numpy()[:, :here].astype(np.float64)))
        count = np.full(here, kept * latents.num_samples)
        parts.append(LogLikelihood(*_harmonic(np.array(log_terms), latents.num_samples), count))
    return LogLikelihood.joined(parts)


class _Moments:
    """The mean of terms, (rows,), and their sum of squares about it; blocks are added as Chan, Golub and LeVeque do."""

    def __init__(self, rows):
        self.count, self.mean, self.squares = 0, np.zeros(rows), np.zeros(rows)

    def add(self, terms):
        terms = terms.astype(np.float64)
        count, mean = len(terms), terms.mean(0)
        with np.errstate(invalid="ignore"):  # a term may be −∞, and then the mean is
            gap, total = mean - self.mean, self.count + count
            self.squares += np.square(terms - mean).sum(0) + gap**2 * self.count * count / total
            infinite = np.isneginf(self.mean + mean)  # and neither is NaN
            self.mean = np.where(infinite, -np.inf, self.mean + gap * count / total)
        self.count = total

    def standard_error(self):
        if self.count == 1:
            return np.full(len(self.mean), np.nan)
        return np.sqrt(self.squares / (self.count - 1) / self.count)


def _run(model, latents):
    """A compiled run of the chain: log p(x given z) of its states, (K, B), and its carry."""

    def run(generative, recognition, rows, seed, carry):
        rows = rows.floats()
        draws, carry = latents.draw(generative, recognition, rows.plain, seed, carry)
        if carry is None:
            raise ValueError(f"latents must be a Markov chain over z. Received: latents={latents!r}")
        return data_log_prob(generative.layers[-1], rows, draws.z[0]), carry

    return compiled(model, ("harmonic mean", type(latents), repr(latents.get_config())), run)


def _log_sums(log_terms):
    """(log Σ u, log Σ u²) over the leading axis, (2, B)."""
    return np.stack([np.logaddexp.reduce(log_terms, 0), np.logaddexp.reduce(2 * log_terms, 0)])


def _harmonic(logs, states):
    """(value, standard error, effective sample size) of the logarithms of sums over batches, (batches, 2, B)."""
    number = len(logs)
    log_total, log_squares = np.logaddexp.reduce(logs, 0)
    # each batch mean is one draw whose relative variance is known from the others
    relative = np.exp(logs[:, 0] - log_total + np.log(number))
    error = relative.std(0, ddof=1) / np.sqrt(number) if number > 1 else np.full_like(log_total, np.nan)
    return np.log(number * states) - log_total, error, np.exp(2 * log_total - log_squares)

"""Importance sampling with the recognition network.

    log p(x) ≈ log (1/K) Σ_k w_k,      w_k = p(x, z_k; θ) / q(z_k given x; φ),      z_k ~ q
    standard error (delta method)    √((K Σ w² / (Σ w)² − 1) / (K − 1))
    effective sample size            (Σ w)² / Σ w²

The estimate is a lower bound in expectation, by about half its squared standard error. The sums are streamed over rows
and samples with a running maximum, so memory depends on neither n nor K. With few effective samples the estimate is too
low and its standard error, which is made of the same weights, cannot tell: a `LowEffectiveSampleSize` warning says so,
and an `UnreliableImportanceWeights` warning where the tail of the weights is too heavy (see `pareto`). A proposal that
misses a mode altogether has even weights and gives no sign. Without latent layers, as of a plain NADE, log p(x) is
exact whatever K, and its standard error 0.

Source: Burda, Grosse and Salakhutdinov, "Importance weighted autoencoders", ICLR 2016, equation 8 and theorem 1; Owen,
"Monte Carlo theory, methods and examples" (2013), section 9.2 (delta method) and 9.3 (effective sample size).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc import contract, random
from tfdsmcmc._common import checks
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc._common.warning import warn as caution
from tfdsmcmc.likelihood import pareto, precision
from tfdsmcmc.likelihood.cautions import LowEffectiveSampleSize, UnreliableImportanceWeights
from tfdsmcmc.likelihood.sampler import Sampler, checked_count
from tfdsmcmc.programs import batches, power_of_two
from tfdsmcmc.rows import ArraySource, source_of

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, ThetaAndPhi
    from tfdsmcmc.networks import GenerativeNetwork
    from tfdsmcmc.programs import DirectedModel
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.source import Source

_CHUNK_ENTRIES = 2**20  # floats of the widest layer at once: 4 MiB, about a core's cache
_LARGEST_CHUNK = 2**12  # a longer float32 sum over one axis, as XLA adds it up, loses digits
_PIECE = 2**14  # rows of a stream among which draws are shared out
_FEW_SAMPLES = 10.0


def importance_sampling(
    model: DirectedModel,
    x: RowsLike,
    num_samples: int = 1000,
    seed: Seed = 0,
    batch_size: int = 100,
    weights: ThetaAndPhi | None = None,
    warn: bool = True,
    standard_error: float | None = None,
    max_samples: int = 1_000_000,
) -> LogLikelihood:
    """Estimates log p(x) of each row.

    Args:
      model: a `DeepGenerativeModel`.
      x: (n, D), a source of rows or a `tf.data.Dataset` of batches. Entries that are NaN are missing: the estimate is
        of log p(x_observed) then.
      num_samples: K, draws for each row; with `standard_error` the first ones.
      seed: integer, or int32 tensor of shape (2,). The draws of a row depend on its batch.
      batch_size: rows at a time.
      weights: pair (θ, φ) of lists of arrays to evaluate at; by default the model's own weights.
      warn: whether to look at the tails of the weights, and to warn where the median effective sample size is below
        10, or half of fewer than 20 draws, a tail is too heavy or a precision was not reached.
      standard_error: the standard error s to reach in every row, in nats. How many draws a row needs is decided by
        others than its estimate is of, at least 20/s² of them: exp(value) is an unbiased estimate of p(x) however
        skewed the weights are. The stated error is right where those draws have met the tail of the weights; how
        likely that is, is said in `likelihood.precision`.
      max_samples: with `standard_error`, the most draws for a row; at most as many more decide about their number.

    Returns:
      `LogLikelihood`; its `pareto_k` is None without `warn`, and from the longest run of a row's draws with
      `standard_error`.

    Raises:
      ValueError: for data that do not fit the model, missing entries of a data layer whose units depend on each other,
        counts below 1, or with `standard_error` below 4; an error that
        is not above 0; or less `max_samples` than `num_samples`.
    """
    num_samples = checked_count("num_samples", num_samples)
    batch_size = checks.positive_integer("batch_size", batch_size)
    if standard_error is not None:
        max_samples = precision.checked(num_samples, standard_error, max_samples)
        checked_count("max_samples", max_samples)
    source = rows_to_estimate(model, x)
    if not model.generative.latent_units:
        return _exact(make_sampler(model, weights, source, batch_size, 1), source)
    sampler = make_sampler(model, weights, source, batch_size, num_samples)
    if standard_error is None:
        seed = random.stream(seed, "importance sampling")
        estimate = _in_one_go(sampler, source, num_samples, seed, with_tails=warn)
    else:
        seed = random.stream(seed, "importance sampling to a precision")
        arguments = num_samples, float(standard_error), max_samples
        parts = (precision.in_rounds(sampler, *part, *arguments, with_tails=warn) for part in _pieces(source, seed))
        estimate = LogLikelihood.joined(parts)
    if warn:
        warn_of(estimate)
        if standard_error is not None:
            precision.warn_of_missed(estimate, standard_error)
    return estimate


def _exact(sampler, source):
    """log p(x) of a network of its data layer alone: nothing is drawn."""
    value = _in_one_go(sampler, source, 1, random.stream(0, "importance sampling"), with_tails=False).value
    return LogLikelihood(value, np.zeros(len(value)), np.full(len(value), np.inf))


def chunk_size(generative: GenerativeNetwork, batch_size: int, num_samples: int) -> int:
    """Draws held at a time, so that a layer's values fit the cache."""
    widest = max(layer.widest for layer in generative.layers)
    fitting = max(1, min(_LARGEST_CHUNK, _CHUNK_ENTRIES // (batch_size * widest)))
    # powers of two, so that other numbers of rows and samples seldom need another program
    return min(power_of_two(num_samples), power_of_two(fitting // 2 + 1))


def rows_to_estimate(model: DirectedModel, x: RowsLike) -> Source:
    """The source of what a user passes; a ValueError for data that do not fit the model."""
    contract.check_directed(model, "Importance sampling", "Others have log_likelihood(x, log_partition=…).")
    source = source_of("x", x, model.generative.units, model.generative.support, context=model.generative.context)
    model.generative.check_gaps(source)
    return source


def make_sampler(
    model: DirectedModel,
    weights: ThetaAndPhi | None,
    source: Source,
    batch_size: int,
    num_samples: int,
) -> Sampler:
    """The `Sampler` for some rows and a number of draws."""
    batch_size = min(batch_size, power_of_two(source.num_rows))
    return Sampler(model, weights, batch_size, chunk_size(model.generative, batch_size, num_samples))


def _in_one_go(sampler, source, num_samples, seed, with_tails):
    """The same number of draws for each row."""
    parts = []
    for rows, batch_seed in batches(source, sampler.batch_size, seed):
        count = np.full(len(rows.values), num_samples)
        tail = pareto.Tail(len(count), num_samples) if with_tails else None
        for block in sampler.blocks(rows, count, batch_seed):
            if with_tails:
                tail.add(block.log_weights)
        k = pareto.pareto_k(tail.largest, num_samples) if with_tails else None
        parts.append(LogLikelihood(*block.estimate, count, k))
    return LogLikelihood.joined(parts)


def _pieces(source, seed):
    """Pairs (source of which any row can be had, seed): the source itself, or what a stream yields in pieces."""
    if source.random_access:
        return [(source, seed)]
    return ((ArraySource(rows), own) for rows, own in batches(source, _PIECE, seed))


def warn_of(estimate: LogLikelihood) -> None:
    """Warns of estimates with few effective samples, or with heavy tails where these are known.

    What was not estimated from a number of draws, as an exact value, has neither.
    """
    if estimate.num_samples is None:
        return
    _warn_of_few(estimate)
    _warn_of_tails(estimate)


def _warn_of_few(estimate):
    sizes = np.nan_to_num(estimate.effective_sample_size)  # nan of a row of density 0, which no draw counts for
    median, draws = (float(np.median(a)) for a in (sizes, estimate.num_samples))
    if median < min(_FEW_SAMPLES, draws / 2):
        caution(
            f"The median effective sample size is {median:.1f} of {draws:.0f}: the log-likelihood is "
            f"underestimated, by more than its standard error says. {_what_to_do(draws)}",
            LowEffectiveSampleSize,
        )


def _warn_of_tails(estimate):
    k = estimate.pareto_k
    if k is None:
        return
    heavy = int(np.sum(k > pareto.threshold(estimate.num_samples)))
    if heavy:
        caution(
            f"The importance weights of {heavy} of {len(k)} rows have tails too heavy for a reliable estimate: Pareto "
            f"k up to {np.nanmax(k):.2f}. Their log-likelihood is likely underestimated, and its standard error is too "
            f"small. {_what_to_do(np.median(estimate.num_samples))}",
            UnreliableImportanceWeights,
        )


def _what_to_do(draws):
    return (
        f"Take more draws than {draws:.0f}, by num_samples or max_samples, or estimate by annealing: "
        "likelihood.annealed_importance_sampling(model, x), or of posterior samples "
        "posterior.annealed_log_likelihood(model, x)."
    )

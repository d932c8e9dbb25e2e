"""A table of what traces say about convergence.

    R̂        of ranks and of folded ranks, the larger: 1 where chains, each cut in two, agree in location and scale
    bulk and tail effective sample sizes    of the mean, and of the 5 % and 95 % quantiles

They are ArviZ's. R̂ above 1.01, or less than 100 effective draws a chain, is reason to run on: below that the estimates
of R̂ and of the sample sizes are not to be relied on themselves. Of one chain R̂ compares its four quarters, and
says nothing about modes that the chain has never seen.

Source: Vehtari, Gelman, Simpson, Carpenter and Bürkner, "Rank-normalization, folding, and localization: an improved R̂
for assessing convergence of MCMC", Bayesian Analysis 16 (2021).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tfdsmcmc._common.real_numbers import real_numbers

if TYPE_CHECKING:
    from numpy.typing import ArrayLike
    from pandas import DataFrame

_FEWEST_DRAWS = 8
_R_HAT = 1.01
_DRAWS_A_CHAIN = 100
_NAMED = 8


def summary(trace: Mapping[str, ArrayLike], *others: Mapping[str, ArrayLike]) -> DataFrame:
    """Prints and returns the table of traces, with what is wrong in words below.

    Chains that all started alike may agree and be wrong together: from small random weights under a prior of unknown
    scales all may stay near zero. Traces of runs that started otherwise, such as with and without a warm start, are
    further chains here.

    Args:
      trace: dict from name to array (chains, draws), as `diagnostics.trace` returns.
      *others: traces of other runs, of the same names; all are cut to the draws of the shortest, the last ones.

    Returns:
      `pandas.DataFrame`, a row for each name, with the columns mean, sd, mcse_mean (the Monte Carlo error of the mean),
      ess_bulk, ess_tail and r_hat (that of the four quarters, where there is one chain; nan for a constant). All are
      nan where an entry of the trace is not finite.

    Raises:
      ValueError: for what is no array of numbers, other shapes than (chains, draws), or fewer than 8 draws a chain.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> draws = np.random.default_rng(0).normal(size=(2, 500)).round(2)
    >>> table = ds.diagnostics.summary({"log_prior": draws + [[0.0], [3.0]]})
                mean     sd  mcse_mean  ess_bulk  ess_tail  r_hat
    log_prior ...
    R̂ above 1.01: log_prior. The chains have not come to the same law.
    Fewer than 100 effective draws a chain: log_prior. Means and quantiles are uncertain.
    >>> bool(table.loc["log_prior", "r_hat"] > 1.5)
    True
    """
    import pandas

    arrays = _joined([_checked(each) for each in (trace, *others)])
    with warnings.catch_warnings(), np.errstate(invalid="ignore"):
        warnings.simplefilter("ignore")
        table = pandas.DataFrame.from_dict({name: _row(array) for name, array in arrays.items()}, orient="index")
    chains = len(next(iter(arrays.values())))
    print(table.to_string(formatters=_formats()))
    broken = [name for name, array in arrays.items() if not np.isfinite(array).all()]
    unmoved = np.array([(np.ptp(array, axis=1) == 0).any() for array in arrays.values()])
    still = [name for name in table.index[unmoved | table.r_hat.isna()] if name not in broken]
    for line in _words(table, chains, broken, still):
        print(line)
    return table


def _joined(traces):
    """The arrays of all traces, as chains of one."""
    if any(set(trace) != set(traces[0]) for trace in traces):
        raise ValueError(f"Traces to compare have the same names. Received: {[list(trace) for trace in traces]}")
    draws = min(array.shape[1] for trace in traces for array in trace.values())
    return {name: np.concatenate([trace[name][:, -draws:] for trace in traces]) for name in traces[0]}


def _row(array):
    import arviz

    if not np.isfinite(array).all():
        return dict.fromkeys(_formats(), np.nan)
    span = np.ptp(array)
    if span == 0:
        return dict(zip(_formats(), (array.flat[0], 0.0, 0.0, *[np.nan] * 3)))
    # ArviZ wants two chains, and cuts each in two: those of one chain are its quarters
    half = array.shape[1] // 2
    compared = array if len(array) > 1 else np.concatenate([array[:, :half], array[:, -half:]])
    return {
        "mean": array.mean(),
        "sd": array.std(ddof=1),
        # ArviZ takes draws within 10⁻¹⁵ for independent ones
        "mcse_mean": float(span * arviz.mcse(array / span, method="mean")),
        "ess_bulk": float(arviz.ess(array, method="bulk")),
        "ess_tail": float(arviz.ess(array, method="tail")),
        "r_hat": float(arviz.rhat(compared)),
    }


def _formats():
    """How the columns are printed."""
    return {
        **{name: "{:.4g}".format for name in ("mean", "sd", "mcse_mean")},
        **{name: "{:.0f}".format for name in ("ess_bulk", "ess_tail")},
        "r_hat": "{:.3f}".format,
    }


def _words(table, chains, broken, still):
    """What is wrong, line by line; `broken` are the names of traces that are not finite, `still` of those of which a
    chain never moves."""
    apart = table.index[table.r_hat > _R_HAT]
    few = table.index[table[["ess_bulk", "ess_tail"]].min(axis=1) < _DRAWS_A_CHAIN * chains]
    if len(apart):
        parts = "chains have not come to the same law" if chains > 1 else "quarters of the chain differ"
        yield f"R̂ above {_R_HAT}: {_listed(apart)}. The {parts}."
    if len(few):
        yield f"Fewer than {_DRAWS_A_CHAIN} effective draws a chain: {_listed(few)}. Means and quantiles are uncertain."
    if still:
        yield f"Constant in a chain: {_listed(still)}. A chain that never moves has not been seen to converge."
    if broken:
        yield f"Not finite: {_listed(broken)}. Nothing can be said of what has entries that are NaN or infinite."
    if not len(apart) and not len(few) and not still and not broken:
        yield f"R̂ is at most {_R_HAT}, and each chain has {_DRAWS_A_CHAIN} effective draws or more."
    if chains == 1:
        yield "One chain: R̂ compares its four quarters. It knows nothing of modes that the chain has not seen."


def _listed(names):
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(map(str, names[:_NAMED])) + more


def _checked(trace):
    """The arrays in float64; a ValueError unless all are (chains, draws)."""
    if not isinstance(trace, dict) or not trace:
        received = "an empty dict" if isinstance(trace, dict) else type(trace).__name__
        raise ValueError(f"A trace is a dict from names to arrays. Received: {received}")
    try:
        arrays = {name: real_numbers(array) for name, array in trace.items()}
    except (TypeError, ValueError) as error:
        raise ValueError(f"Traces are arrays of numbers (chains, draws). Received: {error}") from None
    shapes = {array.shape for array in arrays.values()}
    shape = next(iter(shapes))
    if len(shapes) > 1 or len(shape) != 2 or shape[0] < 1 or shape[1] < _FEWEST_DRAWS:
        raise ValueError(
            f"Traces are arrays (chains, draws), all of one shape, with {_FEWEST_DRAWS} draws or more. "
            f"Received: shapes {sorted(shapes)}"
        )
    return arrays

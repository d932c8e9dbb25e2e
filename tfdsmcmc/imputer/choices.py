"""The architecture and the method of an imputer, where they are not given, and checks of what is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import tensorflow_probability as tfp
from sklearn.utils import check_random_state

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc.imputation.settings import settings_of
from tfdsmcmc.priors import Horseshoe, Prior

tfd = tfp.distributions

# of as many binary columns as weights between any two are worth learning for; of more, or where gaps are not drawn
BINARY, WIDE = "DARN/DARN 50", "SBN/SBN 50"
OTHER_WIDE = "VAE 10"  # of columns of other kinds
_MOST_COLUMNS = 256
_ROWS_A_UNIT, _LEAST_UNITS, _MOST_UNITS = 100, 5, 50  # of latent units beside columns of other kinds
_MOST_ROWS = 100  # of a minibatch
_SAMPLER = {"num_chains": 1}  # the method's own defaults, in the time of one chain
# of chains over what is missing in more than so many rows, and the samples that are averaged over: the chains go on
# from one sample of the weights to the next, so that short ones at many samples cost one burn-in
_SOME, _MANY, _VERY_MANY = 1_000, 10_000, 100_000
_SAMPLES_OF_SOME, _SAMPLES_OF_MANY = 20, 10
_LENGTHS_OF_SOME = {
    "burn_in": 25, "continued_burn_in": 2, "num_samples": 6, "thinning": 1, "num_chains": 4, "batch_size": 500
}  # fmt: skip
_LENGTHS_OF_MANY = {
    "burn_in": 20, "continued_burn_in": 1, "num_samples": 4, "thinning": 1, "num_chains": 1, "batch_size": 1000
}  # fmt: skip
# of means; a draw is the end of a chain, which is to mix
_LENGTHS_OF_VERY_MANY = {"burn_in": 15, "num_samples": 3}
_LENGTHS_OF_DRAWS_OF_SOME = {"burn_in": 50}
_MOST_SWEEPS = 50  # of chains at few samples, which are longer
_LENGTHS = ("burn_in", "num_samples", "num_chains", "thinning")
_DEPENDENT = ("DARN", "NADE")  # kinds of data layers whose units depend on each other given the hidden ones


def prior() -> Prior:
    """A scale for the weights that leave each parent unit, as units of tables have to do with most columns.

    A scale for each weight, the default of models, was tried on four tables: CRPS and RMSE were 1.4 and 1.6 % higher.
    """

    def scales(group):
        return Horseshoe(1.0, minimum_scale=0.015, learn_global_scale=True, group=group)

    # half of a lateral matrix has no effect and should not tell the scale of a row; a decoder's parents are its columns
    weights = {"lateral$": scales("entry"), "decoder$": scales("unit"), "": scales("parent")}
    found = Prior({"bias$": tfd.StudentT(df=4.0, loc=0.0, scale=2.5), **weights})
    found.is_default = True  # so that optimizers climb the likelihood
    return found


def chosen(
    architecture: str | None,
    method: str | None,
    options: dict[str, Any] | None,
    binary: bool,
    num_columns: int,
    gaps: bool,
    num_rows: int = 10**6,
) -> tuple[str, str, dict[str, Any]]:
    """(architecture, method, its options), with defaults in place of None.

    Args:
      architecture: as in `models.from_name`.
      method: name of a function in `methods`.
      options: its arguments.
      binary: whether all columns are binary.
      num_columns: how many there are.
      gaps: whether any entry is missing.
      num_rows: n.
    """
    if architecture is None:
        # a method of the user's own, or one with options, need not draw what is missing
        dependent = not gaps or method is None and options is None
        dependent &= num_columns <= _MOST_COLUMNS
        architecture = (BINARY if dependent else WIDE) if binary else _of_columns(dependent, num_columns, num_rows)
    if method is not None:
        return architecture, method, {} if options is None else options
    if "VAE" in str(architecture):
        return architecture, "iwae", {} if options is None else options
    options = _SAMPLER if options is None else options
    if gaps and binary and _dependent(str(architecture)):
        return architecture, "dsgnht_gibbs", {"draw_missing": True, **options}
    if gaps and not binary and dependent_columns(str(architecture)):
        # a recognition network that learns beside it is what log-likelihoods go by
        teaching = {"optimizer": "adam"} if len(str(architecture).split()) > 1 else {}
        return architecture, "dsgnht_gibbs", {"draw_missing": True, **teaching, **options}
    return architecture, "dsgnht_nais", options


def dependent_columns(architecture: str) -> bool:
    """Whether columns that are not all binary depend on each other beside the hidden units: in a DARN."""
    return str(architecture).strip().startswith("DARN")


def batch_size_of(batch_size: int | None, num_rows: int) -> int:
    """The rows of a minibatch: by default half of them, and at most 100.

    The noise of the choice of rows says how much each weight is determined, and so how long its steps may be. A column
    that others say nearly exactly had steps far too long where the gradients of all rows, with few gaps, had no noise.
    """
    if batch_size is not None:
        return checks.positive_integer("batch_size", batch_size)
    return min(-(-num_rows // 2), _MOST_ROWS)


def random_state_of(value: object) -> np.random.RandomState:
    """The generator that scikit-learn has for a `random_state`."""
    try:
        return check_random_state(value)
    except ValueError:
        raise ValueError(
            "random_state is an integer from 0 to 2**32 - 1, a numpy.random.RandomState or None. "
            f"Received: random_state={value!r}"
        ) from None


def lengths_of(
    options: Mapping[str, Any], num_rows: int, draws: bool = False, num_samples: int | None = None
) -> tuple[dict[str, Any], int | None]:  # fmt: skip
    """(options of `imputation.impute`, how many posterior samples are taken at most): shorter chains of many rows.

    Args:
      options: those that are asked for. They stay, and where a length is among them nothing else is changed.
      num_rows: with gaps.
      draws: whether what is drawn is asked for, and not its mean.
      num_samples: of the posterior, 0 for the model's own weights, over which a mean is taken: there are about as many
        sweeps in all of fewer; by default enough of them.
    """
    if num_rows <= _SOME or options.get("method") == "resampling" or set(_LENGTHS) & set(options):
        return dict(options), None
    lengths, usual, most = _LENGTHS_OF_SOME, _SAMPLES_OF_SOME, None
    over_draws = options.get("average") in (None, "draws")  # one within the model is of one component, or few
    if num_rows > _MANY:
        lengths, usual = _LENGTHS_OF_MANY, _SAMPLES_OF_MANY
        most = usual if over_draws else None
    elif draws:
        lengths = {**lengths, **_LENGTHS_OF_DRAWS_OF_SOME}
    if num_rows > _VERY_MANY and not draws:
        lengths = {**lengths, **_LENGTHS_OF_VERY_MANY}
    if not draws and num_samples is not None:
        parts = max(1, num_samples) if over_draws else 1
        parts = parts if most is None else -(-parts // -(-parts // most))
        enough = -(-lengths["num_samples"] * usual // parts)
        lengths = {**lengths, "num_samples": max(lengths["num_samples"], min(_MOST_SWEEPS, enough))}
    return {**lengths, **options}, most


def one_serves(options: Mapping[str, Any]) -> bool:
    """Whether a draw at one random posterior sample has the law of one from all of them: if they weigh alike."""
    return options.get("posterior_weights") == "equal" and options.get("average") in (None, "draws")


def place_of_draw(count: int, seed: int) -> int:
    """The number of that sample, below `count`."""
    return int(random.integers([], count, random.stream(seed, "posterior sample of a draw")))


def check_lengths(options: Mapping[str, Any], posterior_samples: int) -> None:
    """Raises a ValueError for options of imputations that are out of range, or an average of no samples."""
    settings = dict(options)
    average = settings.pop("average", None)  # samples of an imputer come without weights of a warm start
    if average is not None and (average not in ("draws", "weights", "units") or not posterior_samples):
        raise ValueError(
            "An average is one of 'draws', 'weights' and 'units', of posterior samples. "
            f"Received: average={average!r}, posterior_samples={posterior_samples!r}"
        )
    settings_of(**settings)


def _of_columns(dependent, num_columns, num_rows):
    """Regressions of each column on those before it, with latent units where there are rows to learn them from."""
    if not dependent:
        return OTHER_WIDE
    units = min(num_rows // _ROWS_A_UNIT, 4 * num_columns, _MOST_UNITS)
    return "DARN" if units < _LEAST_UNITS else f"DARN/SBN {units}"


def _dependent(architecture):
    """Whether units of the data layer depend on each other, given the hidden units if there are any."""
    return architecture.strip().startswith(_DEPENDENT)

"""How long the chains of an imputation are, and how many."""

from __future__ import annotations

from typing import Literal, NamedTuple

from tfdsmcmc._common import checks

DRAWS = 1000  # of "resampling", and behind estimates of the evidence
_SWEEPS = 50
_LARGEST = 2**31
_WEIGHTS = ("likelihood", "equal")


class Settings(NamedTuple):
    """Arguments of `imputation.impute`, checked.

    Attributes:
      num_imputations: of each row.
      num_samples: sweeps of all chains of a row that count, or draws of "resampling".
      burn_in: sweeps of each chain before the first that counts.
      thinning: least number of sweeps between two imputations of one chain.
      num_chains: chains for each row.
      continued_burn_in: sweeps, in place of `burn_in`, of chains that go on from those at the posterior sample before;
        None where they start anew.
    """

    num_imputations: int
    num_samples: int
    burn_in: int = 50
    thinning: int = 10
    num_chains: int = 2
    continued_burn_in: int | None = None


def settings_of(
    num_imputations: int = 1,
    method: str = "auto",
    burn_in: int = 50,
    thinning: int = 10,
    num_samples: int | None = None,
    num_chains: int = 2,
    posterior_weights: Literal["likelihood", "equal"] = "likelihood",
    evidence_samples: int = DRAWS,
    batch_size: int = 100,
    continued_burn_in: int | None = None,
) -> Settings:
    """The settings of some arguments of `imputation.impute`, all of which are checked.

    Raises:
      ValueError: for an argument out of range, or more sweeps than a counter of 32 bits holds.
    """
    checks.one_of("posterior_weights", posterior_weights, _WEIGHTS)
    checks.positive_int32("evidence_samples", evidence_samples)
    checks.positive_integer("batch_size", batch_size)
    num_samples = (DRAWS if method == "resampling" else _SWEEPS) if num_samples is None else num_samples
    settings = Settings(
        checks.positive_integer("num_imputations", num_imputations),
        checks.positive_integer("num_samples", num_samples),
        checks.nonnegative_integer("burn_in", burn_in),
        checks.positive_integer("thinning", thinning),
        checks.positive_integer("num_chains", num_chains),
        None if continued_burn_in is None else checks.nonnegative_integer("continued_burn_in", continued_burn_in),
    )
    most = settings.num_samples + settings.num_imputations * settings.thinning
    most += max(settings.burn_in, settings.continued_burn_in or 0)
    if most >= _LARGEST:
        raise ValueError(
            "burn_in + num_samples + num_imputations · thinning, in sweeps, must be below 2^31. "
            f"Received: {settings.burn_in}, {settings.num_samples}, {settings.num_imputations}, {settings.thinning}"
        )
    return settings

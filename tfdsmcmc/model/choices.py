"""The parts of a method that a user names or hands over."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

from tfdsmcmc import methods
from tfdsmcmc._common import checks
from tfdsmcmc.latents import NAIS, Gibbs, Latents
from tfdsmcmc.mcmc import MAP
from tfdsmcmc.priors import Prior
from tfdsmcmc.proposals import IWAE, NVIL, Proposal, Sleep, Wake, WakeSleep
from tfdsmcmc.training.steps.step_method import StepMethod

if TYPE_CHECKING:
    import keras

    from tfdsmcmc._common.types import LatentsName, ProposalName
    from tfdsmcmc.mcmc.base import StochasticGradientKernel

_LATENTS = {"gibbs": Gibbs, "nais": NAIS}
# the arguments of `compile` that make a triple, as they are by default
NOT_GIVEN: dict[str, Any] = {"kernel": None, "latents": None, "proposal": "auto"}
TRIPLE: dict[str, Any] = {**NOT_GIVEN, "kernel_steps": 1, "proposal_steps": 1, "interleaved": False}
_FEW, _MANY_WEIGHTS = 3, 100_000  # chains by default, and where they cost more than they are worth: see docs/study.md
_EACH = 6_000  # a chain more for so many planned updates of each: twice as many of one were worth less than a second
SIMPLEST: dict[str, str] = {"kernel": "sgnht", "latents": "nais", "proposal": "wake"}
_PROPOSALS = {"iwae": IWAE, "nvil": NVIL, "sleep": Sleep, "wake": Wake, "wake_sleep": WakeSleep}


def method_of(
    triple: dict[str, Any],
    num_chains: int | Literal["auto"] | None,
) -> tuple[dict[str, Any], int | Literal["auto"]]:
    """(the triple with its parts, C): the default method where no part is given, else the simplest for those missing.

    Args:
      triple: dict of the arguments of a triple.
      num_chains: C, "auto" or None.
    """
    missing = [name for name, value in NOT_GIVEN.items() if _is(triple[name], value)]
    if len(missing) == len(NOT_GIVEN):
        method = methods.dsgnht_nais(num_chains=num_chains)
        return {**triple, **{name: method[name] for name in missing}}, method["num_chains"]
    return {**triple, **{name: SIMPLEST[name] for name in missing}}, 1 if num_chains is None else num_chains


def check_chains(num_chains: int | Literal["auto"]) -> int | Literal["auto"]:
    """C itself or "auto"; a ValueError for anything else."""
    if not isinstance(num_chains, str):
        return checks.positive_integer("num_chains", num_chains)
    if num_chains != "auto":
        raise ValueError(f'num_chains must be a positive integer or "auto". Received: num_chains={num_chains!r}')
    return num_chains


def chains_of(num_chains: int | Literal["auto"], weights: Sequence[keras.Variable], updates: int | None = None) -> int:
    """C itself, or what "auto" stands for.

    Args:
      num_chains: positive integer, or "auto": where there are at most 100,000 weights 2 if the first `fit` plans at
        least 12,000 updates, 3 from 18,000 on, else 1: an update of C chains takes the time of C.
      weights: list of variables, θ.
      updates: that the first `fit` plans, or None where they are not known: as if there were enough.
    """
    if check_chains(num_chains) != "auto":
        return num_chains
    light = sum(math.prod(variable.shape) for variable in weights) <= _MANY_WEIGHTS
    if not light:
        return 1
    return _FEW if updates is None else min(_FEW, max(1, updates // _EACH))


def prior_of(prior: Prior, kernel: StochasticGradientKernel) -> Prior:
    """The prior with which a kernel learns: flat where none was given and the kernel climbs to one θ."""
    return Prior({"": None}) if prior.is_default and isinstance(kernel, MAP) else prior


def latents_of(value: Latents | LatentsName) -> Latents:
    """The sampler of z itself, or that of a name, with its defaults; a ValueError for anything else."""
    return checks.part_of("latents", value, _LATENTS, Latents)


def proposal_of(value: Proposal | ProposalName) -> Proposal:
    """The proposal itself, or that of a name, with its defaults; a ValueError for anything else."""
    return checks.part_of("proposal", value, _PROPOSALS, Proposal)


def check_alone(step: object, triple: dict[str, Any]) -> None:
    """Raises a ValueError for what is no step of its own, or arguments of a triple that were set beside it.

    Args:
      step: what `compile` was given as `step`.
      triple: dict of the arguments of a triple that it was given.
    """
    if not isinstance(step, StepMethod):
        raise ValueError(f"step must be an instance of StepMethod, or None. Received: step={step!r}")
    beside = {name: value for name, value in triple.items() if value not in (TRIPLE[name], SIMPLEST.get(name))}
    if beside:
        raise ValueError(
            f"{type(step).__name__} has no kernel, latents and proposal: leave their arguments out. Received: {beside}"
        )


def _is(value, default):
    return value is None if default is None else isinstance(value, str) and value == default

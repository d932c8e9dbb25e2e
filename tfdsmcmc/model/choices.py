"""The parts of a method that a user names or hands over."""

from __future__ import annotations

from tfdsmcmc.latents import NAIS, Gibbs
from tfdsmcmc.mcmc import MAP, SGHMC, SGLD, SGNHT, PreconditionedSGLD
from tfdsmcmc.proposals import IWAE, NVIL, Sleep, Wake, WakeSleep

_KERNELS = {"map": MAP, "preconditioned_sgld": PreconditionedSGLD, "sghmc": SGHMC, "sgld": SGLD, "sgnht": SGNHT}
_LATENTS = {"gibbs": Gibbs, "nais": NAIS}
_PROPOSALS = {"iwae": IWAE, "nvil": NVIL, "sleep": Sleep, "wake": Wake, "wake_sleep": WakeSleep}


def kernel_of(value):
    """The transition kernel itself, or that of a name, with its defaults; a ValueError for anything else."""
    return _choice("kernel", value, _KERNELS, "integrate")


def latents_of(value):
    """The sampler of z itself, or that of a name, with its defaults; a ValueError for anything else."""
    return _choice("latents", value, _LATENTS, "draw")


def proposal_of(value):
    """The proposal itself, or that of a name, with its defaults; a ValueError for anything else."""
    return _choice("proposal", value, _PROPOSALS, "surrogate")


def check_suits(part, *others):
    """Raises a ValueError if latents or a proposal are not made for the networks."""
    getattr(part, "check", lambda *_: None)(*others)


def _choice(name, value, named, method):
    if isinstance(value, str) and value in named:
        return named[value]()
    if isinstance(value, type) or not callable(getattr(value, method, None)):
        raise ValueError(
            f"{name} must be an object with a method {method}, or one of {sorted(named)}. Received: {name}={value!r}"
        )
    return value

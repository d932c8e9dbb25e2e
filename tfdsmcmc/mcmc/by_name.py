"""Kernels by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdsmcmc._common import checks
from tfdsmcmc.mcmc.base import StochasticGradientKernel
from tfdsmcmc.mcmc.map import MAP
from tfdsmcmc.mcmc.preconditioned_sgld import PreconditionedSGLD
from tfdsmcmc.mcmc.sghmc import SGHMC
from tfdsmcmc.mcmc.sgld import SGLD
from tfdsmcmc.mcmc.sgnht import SGNHT

if TYPE_CHECKING:
    from tfdsmcmc._common.types import KernelName

_KERNELS = {"map": MAP, "preconditioned_sgld": PreconditionedSGLD, "sghmc": SGHMC, "sgld": SGLD, "sgnht": SGNHT}


def kernel_of(value: StochasticGradientKernel | KernelName) -> StochasticGradientKernel:
    """The transition kernel itself, or that of a name, with its defaults; a ValueError for anything else.

    It has no gradient of its own: that of the model is handed to each of its steps.
    """
    kernel = checks.part_of("kernel", value, _KERNELS, StochasticGradientKernel)
    if kernel.gradient_fn is not None:
        raise ValueError(
            f"kernel must be without gradient_fn: the model has its own. Received: kernel={value!r} with gradient_fn"
        )
    return kernel

"""Which method imputes for a directed network, and its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from tfdsmcmc._common import checks
from tfdsmcmc.imputation.kernels import NetworkKernel
from tfdsmcmc.imputation.resampling import plan_resampling
from tfdsmcmc.imputation.sweep_plan import plan_sweeps
from tfdsmcmc.layers import NADE

if TYPE_CHECKING:
    from tfdsmcmc.imputation.resampling import Resampling
    from tfdsmcmc.imputation.settings import Settings
    from tfdsmcmc.imputation.sweep_plan import SweepPlan
    from tfdsmcmc.networks import GenerativeNetwork

ImputationMethod: TypeAlias = Literal["auto", "gibbs", "metropolis", "resampling"]

_METHODS = ("auto", "gibbs", "metropolis", "resampling")


def method_for(generative: GenerativeNetwork, method: ImputationMethod) -> ImputationMethod:
    """The method that "auto" stands for, or the method itself.

    Args:
      generative: `GenerativeNetwork`.
      method: "auto", "gibbs", "metropolis" or "resampling".

    Raises:
      ValueError: for another name, or Gibbs sampling of layers that are not binary.
    """
    checks.one_of("method", method, _METHODS)
    data_layer, latent = generative.layers[-1], generative.layers[:-1]
    swept = all(layer.binary for layer in latent) and (data_layer.binary or data_layer.factorised or data_layer.redraws)
    if method == "auto":
        nade = any(issubclass(layer.kind, NADE) for layer in generative.layers)
        return "gibbs" if swept and not nade else "metropolis"
    if method == "gibbs" and not swept:
        kinds = [type(layer).__name__ for layer in generative.layers]
        raise ValueError(f"Gibbs sampling needs binary latent layers. Received: layers {kinds}")
    return method


def imputation_plan(
    generative: GenerativeNetwork,
    method: ImputationMethod,
    settings: Settings,
    batch_size: int,
) -> Resampling | SweepPlan:
    """The plan of a method that `method_for` has returned; its parts are (generative, recognition).

    Args:
      generative: `GenerativeNetwork`.
      method: "gibbs", "metropolis" or "resampling".
      settings: `Settings`.
      batch_size: rows at a time.
    """
    if method == "resampling":
        return plan_resampling(generative, settings.num_imputations, settings.num_samples, batch_size)
    return plan_sweeps(NetworkKernel(method), settings)

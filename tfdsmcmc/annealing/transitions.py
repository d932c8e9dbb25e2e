"""Transitions of real variables that leave a density f_β invariant: Hamiltonian Monte Carlo and Metropolis-adjusted
Langevin.

A step size of "auto" is fitted in a pilot run, one for each β, and fixed before the run that counts: a kernel that
learns from its own past leaves no density invariant. The pilot aims at an acceptance rate of 0.65 for HMC and 0.574
for MALA. HMC's step size is multiplied by a uniform draw from [0.8, 1.2] at each transition, of all rows alike: else a
trajectory whose length is a period of the density comes back to where it began.

Sources: Neal, "MCMC using Hamiltonian dynamics", Handbook of Markov chain Monte Carlo (2011), section 5.4; Roberts and
Rosenthal, "Optimal scaling of discrete approximations to Langevin diffusions", Journal of the Royal Statistical Society
B 60 (1998).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import tensorflow as tf
import tensorflow_probability as tfp

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc.supports import Real

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Number, Seed
    from tfdsmcmc.networks import GenerativeNetwork


@dataclasses.dataclass(frozen=True)
class HMC:
    """Hamiltonian Monte Carlo for real latent layers.

    Args:
      step_size: of the leapfrog steps; "auto" for one that a pilot run fits for each β.
      num_leapfrog_steps: of a transition.

    Raises:
      ValueError: if `step_size` is neither "auto" nor a positive number, or `num_leapfrog_steps` no positive integer.
    """

    step_size: float | Literal["auto"] = "auto"
    num_leapfrog_steps: int = 10

    target_acceptance: ClassVar[float] = 0.65
    _jitter = 0.2

    def __post_init__(self) -> None:
        object.__setattr__(self, "step_size", _checked_step_size(self.step_size))
        checks.positive_integer("num_leapfrog_steps", self.num_leapfrog_steps)

    def kernel(self, log_density: Callable[..., tf.Tensor], step_size: Number, seed: Seed) -> Any:
        """The TFP kernel."""
        jitter = 1.0 + self._jitter * (2.0 * random.uniform([], seed) - 1.0)
        return tfp.mcmc.HamiltonianMonteCarlo(log_density, step_size * jitter, self.num_leapfrog_steps)


@dataclasses.dataclass(frozen=True)
class MALA:
    """The Metropolis-adjusted Langevin algorithm for real latent layers.

    Args:
      step_size: ε of the proposal z + ½ ε ∇ log f + √ε · noise; "auto" for one that a pilot run fits for each β.

    Raises:
      ValueError: if `step_size` is neither "auto" nor a positive number.
    """

    step_size: float | Literal["auto"] = "auto"

    target_acceptance: ClassVar[float] = 0.574

    def __post_init__(self) -> None:
        object.__setattr__(self, "step_size", _checked_step_size(self.step_size))

    def kernel(self, log_density: Callable[..., tf.Tensor], step_size: Number, seed: Seed) -> Any:
        """The TFP kernel."""
        return tfp.mcmc.MetropolisAdjustedLangevinAlgorithm(log_density, step_size)


def transition_for(generative: GenerativeNetwork, transition: HMC | MALA | None) -> HMC | MALA | None:
    """The kernel for the real latent layers of a network; None if it has none.

    Raises:
      ValueError: for something else than a kernel, a kernel that has nothing to move, or latent layers that are neither
        binary nor real.
    """
    others = [layer for layer in generative.layers[:-1] if not (layer.binary or _is_real(layer.support))]
    if others:
        what = [f"{type(layer).__name__} of {layer.support}" for layer in others]
        raise ValueError(f"Annealing moves latent layers of bits, as SBN is, or of real units alone. Received: {what}")
    if not isinstance(transition, (HMC, MALA, type(None))):
        raise ValueError(f"transition must be an HMC, a MALA or None. Received: transition={transition!r}")
    real = not all(layer.binary for layer in generative.layers[:-1])
    if transition is not None and not real:
        kinds = [type(layer).__name__ for layer in generative.layers]
        raise ValueError(f"transition moves real latent layers; binary ones are swept. Received: layers {kinds}")
    return (transition or HMC()) if real else None


def _is_real(support):
    return all(isinstance(part, Real) for part, _ in getattr(support, "parts", [(support, None)]))


def step(
    kernel: HMC | MALA,
    log_density: Callable[..., tf.Tensor],
    parts: Sequence[tf.Tensor],
    step_size: Number,
    seed: Seed,
) -> tuple[Sequence[tf.Tensor], tf.Tensor]:
    """One step of a kernel.

    Args:
      kernel: `HMC` or `MALA`.
      log_density: function of the parts, (n,).
      parts: list of tensors (n, …).
      step_size: a scalar.
      seed: int32 of shape (2,).

    Returns:
      (the new parts, the acceptance probabilities (n,)).
    """
    kernel_seed, step_seed = tf.unstack(random.split(seed))
    chain = kernel.kernel(log_density, step_size, kernel_seed)
    parts, results = chain.one_step(parts, chain.bootstrap_results(parts), seed=step_seed)
    acceptance = tf.exp(tf.minimum(results.log_accept_ratio, 0.0))
    return parts, tf.where(tf.math.is_nan(acceptance), 0.0, acceptance)


def _checked_step_size(step_size):
    """ "auto" or a plain number, so that kernels alike share a program."""
    if isinstance(step_size, str) and step_size == "auto":
        return step_size
    if tf.is_tensor(step_size) or isinstance(step_size, str):
        raise ValueError(f"step_size must be 'auto' or a positive number. Received: step_size={step_size!r}")
    return checks.positive_in_float32("step_size", step_size)

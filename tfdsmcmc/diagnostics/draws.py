"""What is computed at each draw of a posterior, and how the draws are arranged: (chain, draw)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import compiling, loops

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, TensorLike
    from tfdsmcmc.contract import Model
    from tfdsmcmc.posterior.ensemble import Posterior

_SWEEPS = 20


def arrangement(posterior: Posterior) -> np.ndarray:
    """Where the draws of each chain stand in `posterior.samples`, integers (chains, draws).

    Chains are in the order of their numbers. Where they have unequal numbers of draws, the last ones of the longer
    chains are left out, so that draw d is of the same place in every chain.
    """
    numbers = np.asarray(posterior.chain_numbers)
    places = [np.flatnonzero(numbers == chain) for chain in np.unique(numbers)]
    shortest = min(len(part) for part in places)
    return np.array([part[:shortest] for part in places])


def log_prior_of(model: Model) -> LogPrior | None:
    """log p(θ) of a model; None where its prior is flat, which has no density to look at."""
    prior = getattr(model, "prior", None)
    if prior is None or all(prior.for_weight(name) is None for name, _ in model.named_weights):
        return None
    return LogPrior(model)


class LogPrior:
    """log p(θ) of a model's prior at given weights.

    Where weights have shrinkage priors it is log p(θ given λ): posterior samples are kept without their auxiliary
    scales λ, so λ is drawn anew given θ, by quadrature (`priors.scales_given_weights`) and 20 Gibbs sweeps from there,
    which leave its law invariant. It is then a function of the state (θ, λ) of the chain as good as any to look at,
    but it is random, and no density of θ alone.

    Args:
      model: `contract.Model` with a prior.
    """

    def __init__(self, model: Model):
        self._prior = model.prior
        self._names = [name for name, _ in model.named_weights]
        self._sweeps = compiling.program(self._swept, model.uses_xla)

    def __call__(self, theta: Sequence[TensorLike], seed: Seed) -> float:
        """A float.

        Args:
          theta: list of arrays.
          seed: int32 tensor of shape (2,).
        """
        theta = [tf.convert_to_tensor(weight) for weight in theta]
        return float(self._prior.log_prob(self._names, theta, self.scales(theta, seed)))

    def scales(self, theta: Sequence[TensorLike], seed: Seed) -> list[tf.Tensor]:
        """Auxiliary scales λ given θ, a list of tensors.

        Args:
          theta: list of tensors.
          seed: int32 tensor of shape (2,).
        """
        start, seed = tf.unstack(random.split(random.stream(seed, "auxiliary")))
        auxiliary = self._prior.draw_auxiliary(self._names, theta, start)
        return self._sweeps(theta, auxiliary, seed) if auxiliary else auxiliary

    def _swept(self, theta, auxiliary, seed):
        """After all sweeps, in one loop."""

        def sweep(i, auxiliary):
            own = random.fold(seed, i)
            return i + 1, self._prior.update_auxiliary(self._names, theta, auxiliary, own)

        return loops.while_loop(lambda i, _: i < _SWEEPS, sweep, (0, auxiliary))[1]

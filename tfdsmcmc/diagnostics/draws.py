"""What is computed at each draw of a posterior, and how the draws are arranged: (chain, draw)."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tfdsmcmc import compiling, random

_SWEEPS = 20


def arrangement(posterior):
    """Where the draws of each chain stand in `posterior.samples`, integers (chains, draws).

    Chains are in the order of their numbers. Where they have unequal numbers of draws, the last ones of the longer
    chains are left out, so that draw d is of the same place in every chain.
    """
    numbers = np.asarray(posterior.chain_numbers)
    places = [np.flatnonzero(numbers == chain) for chain in np.unique(numbers)]
    shortest = min(len(part) for part in places)
    return np.array([part[:shortest] for part in places])


class LogPrior:
    """log p(θ) of a model's prior at given weights.

    Where weights have shrinkage priors it is log p(θ given λ): posterior samples are kept without their auxiliary
    scales λ, so λ is drawn anew given θ, by 20 Gibbs sweeps. It is then a function of the state (θ, λ) of the chain
    as good as any to look at, but it is random, and no density of θ alone.

    Args:
      model: `DeepGenerativeModel`.
    """

    def __init__(self, model):
        self._prior = model.prior
        self._names = [name for name, _ in model.generative.named_weights]
        self._sweep = compiling.program(self._update, model.uses_xla)

    def __call__(self, theta, seed):
        """A float.

        Args:
          theta: list of arrays.
          seed: int32 tensor of shape (2,).
        """
        theta = [tf.convert_to_tensor(weight) for weight in theta]
        return float(self._prior.log_prob(self._names, theta, self.scales(theta, seed)))

    def scales(self, theta, seed):
        """Auxiliary scales λ given θ, a list of tensors.

        Args:
          theta: list of tensors.
          seed: int32 tensor of shape (2,).
        """
        start, *seeds = tf.unstack(random.split(random.stream(seed, "auxiliary"), 1 + _SWEEPS))
        auxiliary = self._prior.initial_auxiliary(self._names, theta, start)
        for sweep_seed in seeds if auxiliary else ():
            auxiliary = self._sweep(theta, auxiliary, sweep_seed)
        return auxiliary

    def _update(self, theta, auxiliary, seed):
        return self._prior.update_auxiliary(self._names, theta, auxiliary, seed)

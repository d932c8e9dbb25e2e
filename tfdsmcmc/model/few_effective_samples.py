"""What says, when learning ends, that importance samples of z were too few to learn from.

Where a row has hundreds of columns a recognition network proposes badly, and one of K draws has nearly all the weight:
the gradient is that of the lower bound of one draw, and θ goes where the recognition network fits. More draws help
little. Gibbs chains over the latent variables of each row do without it.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from tfdsmcmc.latents import NAIS
from tfdsmcmc.mcmc import MAP, StochasticGradientKernel

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Logs
    from tfdsmcmc.networks import GenerativeNetwork

_FEWEST = 2.0  # effective draws of a row, in the mean over rows and the last epochs
_EPOCHS = 5


class FewEffectiveSamples(UserWarning):
    """The importance samples of a row have so uneven weights that the gradient is far from unbiased."""


class EffectiveSamples(keras.callbacks.Callback):
    """Warns at the end of a `fit` that has sampled θ by importance samples of which fewer than two were effective.

    Args:
      num_samples: K.
    """

    def __init__(self, num_samples: int):
        super().__init__()
        self._num_samples, self._sizes = num_samples, []

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        size = (logs or {}).get("effective_sample_size")
        if size is not None and self.model.run.sampled:
            self._sizes.append(float(size))

    def on_train_end(self, logs: Logs | None = None) -> None:
        sizes = self._sizes[-_EPOCHS:]
        if sizes and np.mean(sizes) < _FEWEST:
            warnings.warn(
                f"{np.mean(sizes):.1f} of {self._num_samples} importance samples of a row are effective: call "
                "compile(**methods.dsgnht_gibbs()), which learns such rows better, and estimate by annealing.",
                FewEffectiveSamples,
                stacklevel=2,
            )


def watchers(generative: GenerativeNetwork, settings: dict[str, Any]) -> list[keras.callbacks.Callback]:
    """The callback that warns, where θ of a network of binary layers is sampled by importance samples, else none.

    Args:
      generative: `GenerativeNetwork`.
      settings: dict of the arguments of `compile`.
    """
    latents, kernel = settings.get("latents"), settings.get("kernel")
    binary = bool(generative.latent_units) and all(layer.binary for layer in generative.layers)
    samples = isinstance(kernel, StochasticGradientKernel) and not isinstance(kernel, MAP)
    samples = samples and settings["kernel_steps"] > 0
    weighed = isinstance(latents, NAIS) and not latents.weights_all_alike and latents.num_samples >= 10
    return [EffectiveSamples(latents.num_samples)] if binary and samples and weighed else []

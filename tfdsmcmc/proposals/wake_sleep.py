"""Wake and sleep phase together: an average of the two objectives.

    (1 − s) mean_B Σ_k w̃_k log q(z_k given x; φ) + s mean_B log q(z' given x'; φ),      (x', z') ~ p(x, z; θ)

The first sum is of the data but biased at few samples, most where q is poor; the second is unbiased but of dreams,
which at first look little like the data.

Source: Bornschein and Bengio, "Reweighted wake-sleep", ICLR 2015 (the wake- and sleep-phase q update).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import keras

from tfdsmcmc._common import checks
from tfdsmcmc.proposals.sleep import mean_log_prob_of_dreams
from tfdsmcmc.proposals.wake import Wake

if TYPE_CHECKING:
    import tensorflow as tf

    from tfdsmcmc._common.types import Config, OptimizerLike, Seed, TensorLike, WeightedCompletions, WeightedLatents
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.rows.rows import Rows


@keras.saving.register_keras_serializable("tfdsmcmc")
class WakeSleep(Wake):
    """Fits the recognition network to the weighted draws and to dreams.

    Args:
      optimizer: Keras optimizer of φ, or its name.
      redraw: of the wake phase, as in `Wake`.
      sleep_weight: s, from 0 (the wake phase alone) to 1 (the sleep phase alone).

    Raises:
      ValueError: if `sleep_weight` does not lie in [0, 1], or as `Wake` does.

    Example:

    >>> import tfdsmcmc as ds
    >>> proposal = ds.proposals.WakeSleep("adam", sleep_weight=0.3)
    """

    def __init__(self, optimizer: OptimizerLike = "adam", redraw: bool = False, sleep_weight: float = 0.5):
        if checks.nonnegative_number("sleep_weight", sleep_weight) > 1:
            raise ValueError(f"sleep_weight must lie in [0, 1]. Received: sleep_weight={sleep_weight!r}")
        super().__init__(optimizer, redraw)
        self.sleep_weight: float = float(sleep_weight)

    @property
    def _wakes_alone(self):
        return self.sleep_weight == 0

    def surrogate(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        x: TensorLike | Rows,
        latents: WeightedLatents | WeightedCompletions,
        seed: Seed,
    ) -> tf.Tensor:
        """(1 − s) wake + s sleep, a scalar to ascend; draws, weights and dreams are constants.

        Args:
          generative: `GenerativeNetwork`.
          recognition: `RecognitionNetwork`.
          x: (B, D); there are as many dreams as rows.
          latents: `WeightedLatents` of x.
          seed: int32 tensor of shape (2,), for the dreams.
        """
        wake = super().surrogate(generative, recognition, x, latents, seed)
        sleep = mean_log_prob_of_dreams(generative, recognition, x, seed)
        return (1.0 - self.sleep_weight) * wake + self.sleep_weight * sleep

    def get_config(self) -> Config:
        return {**super().get_config(), "sleep_weight": self.sleep_weight}

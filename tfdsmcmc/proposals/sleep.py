"""The sleep-phase objective: the recognition network learns from dreams of the generative network.

    (x', z') ~ p(x, z; θ),      −∇_φ E_p(x)[KL(p(z given x) ‖ q(z given x))] = E[∇_φ log q(z' given x'; φ)]

The same divergence as in the wake phase, averaged over the data that the model believes in rather than the real ones.
The draws are exact, so the gradient is unbiased whatever q is, and needs no importance weights.

Source: Hinton, Dayan, Frey and Neal, "The wake-sleep algorithm for unsupervised neural networks", Science 268 (1995).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import keras
import tensorflow as tf

from tfdsmcmc.proposals.base import Proposal, fixed
from tfdsmcmc.rows import Rows, as_rows, mean_over_rows

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, TensorLike, WeightedCompletions, WeightedLatents
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork


@keras.saving.register_keras_serializable("tfdsmcmc")
class Sleep(Proposal):
    """Fits the recognition network to draws from the generative network.

    Args:
      optimizer: Keras optimizer of φ, or its name.

    Raises:
      ValueError: if `optimizer` is no Keras optimizer and not the name of one.

    Example:

    >>> import keras, tfdsmcmc as ds
    >>> proposal = ds.proposals.Sleep(keras.optimizers.Adam(3e-4))
    """

    takes_weights = True

    def surrogate(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        x: TensorLike | Rows,
        latents: WeightedLatents | WeightedCompletions,
        seed: Seed,
    ) -> tf.Tensor:
        """mean_B log q(z' given x'; φ), a scalar to ascend; the dreams are constants, as many as rows of x.

        Args:
          generative: `GenerativeNetwork`.
          recognition: `RecognitionNetwork`.
          x: (B, D), of which only B and the context are used.
          latents: not used.
          seed: int32 tensor of shape (2,).
        """
        return mean_log_prob_of_dreams(generative, recognition, x, seed)


def mean_log_prob_of_dreams(
    generative: GenerativeNetwork,
    recognition: RecognitionNetwork,
    x: TensorLike | Rows,
    seed: Seed,
) -> tf.Tensor:
    """mean_B log q(z' given x'; φ) of B dreams, (x', z') ~ p(x, z; θ) held fixed.

    A dream in the context of a row counts as often as the row.
    """
    rows = as_rows(x)
    context, x = rows.context, tf.convert_to_tensor(rows.values)
    count = tf.shape(x)[0] if x.shape[0] is None else int(x.shape[0])
    dreamt, z = generative.sample(count, seed, context)
    log_q = recognition.log_prob(fixed(z), Rows(tf.stop_gradient(dreamt), context=context))
    return tf.reduce_mean(log_q) if context is None else mean_over_rows(log_q, rows)

"""The recognition network, q(z given x; φ) = q(z_1 given x) Π_l q(z_{l+1} given z_l)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import keras
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.networks.network import Network, of_widths
from tfdsmcmc.rows import Rows, as_rows
from tfdsmcmc.supports import Real

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, TensorLike
    from tfdsmcmc.supports import Support


@keras.saving.register_keras_serializable("tfdsmcmc")
class RecognitionNetwork(Network):
    """A proposal q(z given x), the layer nearest to the data first, top layer last.

    It is built when it first sees data, or when a model joins it with a generative network.

    Args:
      layers: list of stochastic layers; empty for a generative network without latent layers, such as a plain NADE.
      **kwargs: of `keras.layers.Layer`.

    Raises:
      ValueError: if `layers` is no list of stochastic layers, two have one name, or their sizes do not meet.
    """

    _fewest = 0
    support: Support = Real()  # a model sets it: that of its data layer, which says what is seen of a row

    @property
    def latent_units(self) -> list[int]:
        return [layer.units for layer in self.layers]

    def build(self, input_shape: Sequence[int | None]) -> None:
        self._build_layers(int(input_shape[-1]))
        self.built = True

    def sample(self, x: TensorLike | Rows, num_samples: int | tf.Tensor, seed: Seed) -> list[tf.Tensor]:
        """Draws z from q(z given x).

        Args:
          x: (B, D), a tensor or `Rows`.
          num_samples: K.
          seed: integer, or int32 tensor of shape (2,).

        Returns:
          List of tensors (K, B, H_l), nearest to the data first.
        """
        return self.sample_and_log_prob(x, num_samples, seed)[0]

    def sample_and_log_prob(
        self, x: TensorLike | Rows, num_samples: int | tf.Tensor, seed: Seed
    ) -> tuple[list[tf.Tensor], tf.Tensor]:
        """Draws z from q(z given x); returns z, as `sample` does, and log q(z given x), (K, B)."""
        z, terms = self.sample_and_log_prob_of_layers(x, num_samples, seed)
        return z, sum(terms, tf.zeros([num_samples, tf.shape(as_rows(x).values)[0]]))

    def sample_and_log_prob_of_layers(
        self, x: TensorLike | Rows, num_samples: int | tf.Tensor, seed: Seed
    ) -> tuple[list[tf.Tensor], list[tf.Tensor]]:
        """`sample_and_log_prob`, but for [log q(z_1 given x), …, log q(z_L given z_{L−1})], each (K, B)."""
        x = self.seen(x)
        seeds = tf.unstack(random.split(seed, len(self.layers)))
        # what the first layer computes from the data serves all samples
        parents, sample_shape, z, terms = x, [num_samples], [], []
        for layer, layer_seed in zip(self.layers, seeds):
            parents, log_prob = layer.sample_and_log_prob(parents, layer_seed, sample_shape)
            sample_shape = []
            z.append(parents)
            terms.append(log_prob)
        return z, terms

    def log_prob(self, z: Sequence[TensorLike], x: TensorLike | Rows) -> tf.Tensor:
        """log q(z given x; φ), (K, B) for z of shapes (K, B, H_l) and x of shape (B, D); zeros (B,) without layers.

        Raises:
          ValueError: if the number of latent layers or a width does not fit.
        """
        z = of_widths("z", z, self.latent_units)
        x = self.seen(x)
        terms = [layer.log_prob(value, above) for layer, value, above in zip(self.layers, z, [x, *z[:-1]])]
        return sum(terms[1:], terms[0]) if terms else tf.zeros(tf.shape(x)[:1])

    def seen(self, x: TensorLike | Rows) -> tf.Tensor:
        """What the network sees of rows: their values, a constant in place of what is missing, and their context.

        Values of many sizes, such as counts, it sees as the support of the data says."""
        rows = as_rows(x)
        x = self.support.seen(tf.convert_to_tensor(rows.values))
        if rows.context is not None:
            leading = tf.concat([tf.shape(x)[:-1], tf.shape(rows.context)[-1:]], 0)
            context = tf.broadcast_to(tf.cast(rows.context, tf.float32), leading)
            x = tf.concat([tf.cast(x, tf.float32), context], -1)
        if not self.built:
            self.build(tuple(x.shape))
        return x

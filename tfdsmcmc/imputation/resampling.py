"""Sampling-importance-resampling.

For k = 1, …, K: u_k ~ r fills the gaps of x with noise, z_k ~ q(z given u_k), x_k completes x given z_k with the weight
W_k of `complete`, and

    w_k = p(z_k; θ) W_k / q(z_k given u_k; φ)

An imputation is one of the x_k, drawn with probabilities w_k / Σ w; the probabilities are Σ_k w_k E[x given z_k, x_k] /
Σ w. Any filling is right, a random one too: with c(x given z) the density of `complete`, for any function f,

    E[w f(x)] = Σ_u r(u) Σ_z q(z given u) (p(z)/q(z given u)) Σ_x c(x given z) W f(x) = Σ_z p(z) Σ_x p(x given z) f(x)

over the x that agree with what is observed; u is summed out with weight 1. So E[w] = p(x_observed; θ), and the weighted
draws follow p(x_missing given x_observed; θ) as K grows.

The draws are streamed: each imputation keeps the draw with the largest log w_k + Gumbel noise so far, which at the end
is draw k with probability w_k / Σ w.

Source: Rubin, "The calculation of posterior distributions by data augmentation: comment", Journal of the American
Statistical Association 82 (1987); Mattei and Frellsen, "MIWAE: deep generative modelling and imputation of incomplete
data sets", ICML 2019.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc._common.streams import WeightSums
from tfdsmcmc.imputation.kernels import expected
from tfdsmcmc.imputation.plans import Part
from tfdsmcmc.programs import power_of_two
from tfdsmcmc.rows import Rows

if TYPE_CHECKING:
    import numpy as np

    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork

_CHUNK_ENTRIES = 2**20  # floats of the widest layer at once: 4 MiB, about a core's cache
_LARGEST_CHUNK = 2**10


def plan_resampling(
    generative: GenerativeNetwork,
    num_imputations: int,
    num_samples: int,
    batch_size: int,
) -> Resampling:
    """The plan with chunks of draws whose values fit the cache; `batch_size` is that of the rows with gaps."""
    widest = max(layer.widest_drawn for layer in generative.layers)
    fitting = max(1, min(_LARGEST_CHUNK, _CHUNK_ENTRIES // (batch_size * max(widest, num_imputations))))
    # powers of two, so that other numbers of rows seldom need another program
    return Resampling(num_imputations, num_samples, min(power_of_two(num_samples), power_of_two(fitting // 2 + 1)))


class Resampling(NamedTuple):
    """A plan: importance sampling, then resampling.

    Attributes:
      num_imputations: draws with replacement from the weighted draws.
      num_samples: K.
      chunk: draws held at a time.
    """

    num_imputations: int
    num_samples: int
    chunk: int

    def __call__(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        rows: Rows,
        seed: Seed,
    ) -> tuple[tf.Tensor, ...]:
        """(imputations (num_imputations, n, D), Σ w E[x given z] / Σ w, (Σ w)² / Σ w², log (1/K) Σ w).

        All but the imputations is nan, or −∞, where every weight is 0 and nothing is known.
        """
        x, slots = rows.values, self.num_imputations
        shape = tf.shape(x)

        def add_chunk(number, kept, keys, mean, sums):
            draw_seed, key_seed = tf.unstack(random.split(random.fold(seed, number)))
            drawn, means, log_weights = weighted_draws(generative, recognition, rows, self.chunk, draw_seed)
            wanted = number * self.chunk + tf.range(self.chunk) < self.num_samples
            log_weights = tf.where(wanted[:, tf.newaxis], log_weights, float("-inf"))
            uniform = random.open_uniform([slots, self.chunk, shape[0]], key_seed)
            chosen, chosen_keys = _largest(drawn, log_weights - tf.math.log(-tf.math.log(uniform)))
            # unknown sizes broadcast with a single row would stay unknown, and the loop's state must keep its shapes
            log_weights = tf.ensure_shape(log_weights, [self.chunk, x.shape[0]])
            chosen_keys = tf.ensure_shape(chosen_keys, keys.shape)
            chosen, means = tf.ensure_shape(chosen, kept.shape), tf.ensure_shape(means, [self.chunk, *x.shape])
            kept = tf.where((chosen_keys > keys)[..., tf.newaxis], chosen, kept)
            sums, shift = sums.add(log_weights)
            return number + 1, kept, tf.maximum(keys, chosen_keys), shift.carry(mean, means), sums

        kept = tf.tile(tf.zeros_like(x)[tf.newaxis], [slots, 1, 1])
        keys = tf.tile(tf.zeros_like(x[:, 0])[tf.newaxis] - float("inf"), [slots, 1])
        chunks = -(-self.num_samples // self.chunk)
        first = (0, kept, keys, tf.zeros_like(x, tf.float64), WeightSums.of_nothing(shape[:1]))
        loop = loops.while_loop(lambda number, *_: number < chunks, add_chunk, first, maximum_iterations=chunks)
        _, kept, _, mean, sums = loop
        log_likelihood = sums.log_total - math.log(self.num_samples)
        return kept, mean / sums.total[:, tf.newaxis], sums.effective_sample_size, log_likelihood

    def summary(self, results: Sequence[np.ndarray]) -> Part:
        """The results of a batch as a `Part`."""
        kept, probabilities, size, log_likelihood = results
        return Part(kept.swapaxes(0, 1), probabilities, size, None, log_likelihood)


def weighted_draws(
    generative: GenerativeNetwork,
    recognition: RecognitionNetwork,
    rows: Rows,
    count: int,
    seed: Seed,
) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
    """Draws of the missing entries and their log-weights.

    Rows with nothing observed are drawn from the model itself, with weight 1.

    Args:
      generative: `GenerativeNetwork`.
      recognition: `RecognitionNetwork`.
      rows: (n, D), with gaps; the values in these have no influence.
      count: K.
      seed: int32 of shape (2,).

    Returns:
      (x_k, E[x given z_k, x_observed], log w_k): (K, n, D), (K, n, D) and (K, n); the second is the first for a data
      layer whose units depend on each other.
    """
    noise_seed, latent_seed, model_seed, data_seed = tf.unstack(random.split(seed, 4))
    shape = tf.concat([[count], tf.shape(rows.values)], 0)
    x, observed, context, _ = rows.map(lambda part: tf.tile(part, [count, 1]))
    filled = tf.where(observed, x, generative.support.noise(tf.shape(x), noise_seed))
    z, log_q = recognition.sample_and_log_prob(Rows(filled, context=context), 1, latent_seed)
    _, model_z = generative.sample(tf.shape(x)[0], model_seed, context)
    some = tf.reduce_any(observed, 1)
    z = [tf.where(some[:, tf.newaxis], part[0], other) for part, other in zip(z, model_z)]
    log_weights = tf.where(some, log_prior(generative, z, context) - log_q[0], 0.0)
    parents = generative.data_parents(Rows(x, context=context), z)
    completed, log_observed = generative.layers[-1].complete(x, observed, parents, data_seed)
    means = expected(generative, Rows(completed, observed, context), z)
    log_weights = tf.reshape(log_weights + log_observed, shape[:2])
    return tf.reshape(completed, shape), tf.reshape(means, shape), log_weights


def log_prior(generative: GenerativeNetwork, z: Sequence[tf.Tensor], context: tf.Tensor | None = None) -> tf.Tensor:
    """log p(z; θ), given the context of the rows (n, C), if any, (n,); 0 without latent layers."""
    parents = [*z[1:], generative.top_parents(Rows(None, context=context))]
    return sum((la.log_prob(v, above) for la, v, above in zip(generative.layers[-2::-1], z, parents)), tf.constant(0.0))


def _largest(values, keys):
    """The value with the largest key, (slots, n, D), and that key; values (K, n, D), keys (slots, K, n)."""
    places = tf.argmax(keys, 1, output_type=tf.int32)
    chosen = tf.gather(tf.transpose(values, [1, 0, 2]), tf.transpose(places), batch_dims=1)
    return tf.transpose(chosen, [1, 0, 2]), tf.reduce_max(keys, 1)

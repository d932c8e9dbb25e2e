"""Gibbs sampling of the latent variables.

    z_lj ~ p(z_lj given all other z, x; θ)      for each unit j of each layer l, from the data upwards

The draws have the posterior p(z given x; θ) as their stationary law and weigh alike, so that

    ∇ log p(x; θ) = E[∇ log p(x, z; θ) given x] ≈ (1/K) Σ_k ∇ log p(x, z_k; θ)

Entries of x that are missing are summed out, or drawn in turn as the units are: ∇ log p(x_observed; θ) is then the mean
of ∇ log p(x_observed, x_missing, z; θ). Where the units of the data layer depend on each other only that can be done.

Sources: Neal, "Connectionist learning of belief networks", Artificial Intelligence 56 (1992); Du, Zhu and Zhang,
"Learning deep generative models with doubly stochastic gradient MCMC", IEEE Transactions on Neural Networks and
Learning Systems 29 (2018); chains that go on as θ moves: Younes, "Parametric inference for imperfectly observed
Gibbsian fields", Probability Theory and Related Fields 82 (1989).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import keras
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks, loops
from tfdsmcmc._common.types import WeightedCompletions, WeightedLatents
from tfdsmcmc.latents.base import Latents
from tfdsmcmc.latents.nais import NAIS
from tfdsmcmc.networks.network import of_widths
from tfdsmcmc.rows import Rows, as_rows
from tfdsmcmc.sweeps.gibbs import generative_factors, sweep, sweep_all

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, DType, Seed, TensorLike
    from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
    from tfdsmcmc.rows.rows import Rows

_STARTS = ("recognition", "prior")


@keras.saving.register_keras_serializable("tfdsmcmc")
class Gibbs(Latents):
    """One Markov chain over z for each row, of which K successive states are kept.

    Args:
      num_samples: K, the states kept, a sweep apart.
      burn_in: sweeps of a new chain before the first kept one.
      initial: where a new chain starts: at a draw of the "recognition" network given x, or of the "prior" p(z; θ).
      persistent: whether each row of the data keeps its chain from one epoch to the next, so that the burn-in is once.
        Learning needs the data as an array then.
      draw_missing: whether missing entries of x are drawn along with z, of persistent chains alone; each row keeps its
        fillings too. Rows with gaps can be learnt from by any data layer then of which missing entries can be drawn
        given all others, such as a DARN or a dependent `Mixed`; there need be no latent variables.

    Raises:
      ValueError: for an argument out of range, or `draw_missing` without `persistent`.

    Example:

    >>> import tfdsmcmc as ds
    >>> latents = ds.latents.Gibbs(num_samples=5, burn_in=10)
    """

    def __init__(
        self,
        num_samples: int = 5,
        burn_in: int = 5,
        initial: Literal["recognition", "prior"] = "recognition",
        persistent: bool = False,
        draw_missing: bool = False,
    ):
        self.num_samples: int = checks.positive_integer("num_samples", num_samples)
        self.burn_in: int = checks.nonnegative_integer("burn_in", burn_in)
        checks.one_of("initial", initial, _STARTS)
        if not isinstance(persistent, bool):
            raise ValueError(f"persistent must be True or False. Received: persistent={persistent!r}")
        if not isinstance(draw_missing, bool) or draw_missing and not persistent:
            received = f"draw_missing={draw_missing!r}, persistent={persistent!r}"
            raise ValueError(f"draw_missing is True or False, True of persistent chains alone. Received: {received}")
        self.initial = initial
        self.persistent = persistent
        self.draw_missing = draw_missing

    def check(self, generative: GenerativeNetwork) -> None:
        """Raises a ValueError if there is nothing to draw, a latent layer is not binary, or data cannot be drawn."""
        if not (generative.latent_units or self.draw_missing):
            raise ValueError("Gibbs sampling needs latent layers. Received: a network of its data layer alone")
        others = [type(layer).__name__ for layer in generative.layers[:-1] if not layer.binary]
        if others:
            raise ValueError(f"Gibbs sampling needs binary latent layers. Received: {', '.join(others)}")
        data = generative.layers[-1]
        if self.draw_missing and not (data.binary or data.factorised or data.redraws):
            raise ValueError(
                "draw_missing=True needs a data layer that is binary, has independent units, or redraws missing ones. "
                f"Received: {type(data).__name__}"
            )

    def carried_parts(self, generative: GenerativeNetwork) -> list[tuple[int, DType]]:
        data = [(generative.units, "uint8" if generative.support.bits else "float32")] if self.draw_missing else []
        return [*data, *super().carried_parts(generative)]

    def start(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        x: TensorLike | Rows,
        seed: Seed,
    ) -> list[tf.Tensor]:
        """A new chain for each row, after its burn-in: list of tensors (B, H_l), before them x (B, D) if it is drawn.

        Args:
          generative: `GenerativeNetwork` of binary latent layers.
          recognition: `RecognitionNetwork`.
          x: (B, D), a tensor or `Rows`.
          seed: integer, or int32 tensor of shape (2,).
        """
        self.check(generative)
        start_seed, burn_seed, fill_seed = tf.unstack(random.split(seed, 3))
        if self.initial == "recognition":
            z = [part[0] for part in recognition.sample(x, 1, start_seed)]
        else:
            z = generative.sample(tf.shape(as_rows(x).values)[0], start_seed, as_rows(x).context)[1]
        if self.draw_missing:
            z = [self._filled(generative, as_rows(x), z, fill_seed), *z]
        return self._run(generative, x, z, burn_seed, self.burn_in, keep=False)[0]

    def sweep(
        self,
        generative: GenerativeNetwork,
        x: TensorLike | Rows,
        z: Sequence[tf.Tensor],
        seed: Seed,
    ) -> list[tf.Tensor]:
        """Draws each unit once given the rest.

        Args:
          generative: `GenerativeNetwork` of binary latent layers.
          x: (…, D), a tensor or `Rows`.
          z: list of tensors (…, H_l), nearest to the data first; the leading axes of x broadcast to theirs.
          seed: integer, or int32 tensor of shape (2,).

        Returns:
          The new z, of the same shapes.

        Raises:
          ValueError: for other widths, or a latent layer that is not binary.
        """
        self.check(generative)
        _, *z = of_widths("x and z", [as_rows(x).values, *z], [generative.units, *generative.latent_units])
        shapes = [tf.shape(part) for part in z]
        static = [part.shape for part in z]
        flat = [tf.reshape(tf.cast(part, tf.float32), [-1, part.shape[-1]]) for part in z]
        rows = as_rows(x).floats().map(lambda part: _flat(part, shapes[0][:-1]))
        values = [rows, *flat]
        factors = generative_factors(generative)
        for i, layer_seed in enumerate(tf.unstack(random.split(seed, len(flat))), 1):
            values[i] = sweep(factors, values, i, layer_seed)
        return [tf.ensure_shape(tf.reshape(part, shape), s) for part, shape, s in zip(values[1:], shapes, static)]

    def draw(
        self,
        generative: GenerativeNetwork,
        recognition: RecognitionNetwork,
        x: TensorLike | Rows,
        seed: Seed,
        carry: Sequence[tf.Tensor] | None = None,
    ) -> tuple[WeightedLatents | WeightedCompletions, list[tf.Tensor] | None]:
        """Draws z by K sweeps, after the burn-in if the chain is new.

        Args:
          generative: `GenerativeNetwork` of binary latent layers.
          recognition: `RecognitionNetwork`.
          x: (B, D), a tensor or `Rows`.
          seed: integer, or int32 tensor of shape (2,).
          carry: where the chains stand, as `start` has them; None for new ones.

        Returns:
          (`WeightedLatents`, or `WeightedCompletions` if x is drawn, next carry): z a list of (K, B, H_l), log_weights
          zeros (K, B); the estimate of log p(x) is that of K importance samples from the recognition network, of x as
          it is filled where it is drawn.

        Raises:
          ValueError: if a latent layer is not binary.
        """
        start_seed, keep_seed, estimate_seed = tf.unstack(random.split(seed, 3))
        if carry is None:
            carry = self.start(generative, recognition, x, start_seed)
        carry, z = self._run(generative, x, list(carry), keep_seed, self.num_samples, keep=True)
        log_weights = tf.zeros(tf.shape(z[0])[:2])
        rows = Rows(carry[0], context=as_rows(x).context).plain if self.draw_missing else x
        estimate = NAIS(self.num_samples).draw(generative, recognition, rows, estimate_seed)[0].log_likelihood
        if self.draw_missing:
            return WeightedCompletions(_beside(z[0], rows), z[1:], log_weights, estimate), carry
        return WeightedLatents(z, log_weights, estimate), carry

    def _run(self, generative, x, z, seed, sweeps, keep):
        """(the state after some sweeps, the states after each of them as list of (sweeps, B, units))."""

        def advance(i, z, kept):
            z = self._moved(generative, x, z, random.fold(seed, i))
            return i + 1, z, [array.write(i, part) for array, part in zip(kept, z)] if keep else kept

        kept = [tf.TensorArray(part.dtype, sweeps, element_shape=part.shape) for part in z] if keep else []
        _, z, kept = loops.while_loop(lambda i, *_: i < sweeps, advance, (0, z, kept), maximum_iterations=sweeps)
        return z, [array.stack() for array in kept]

    def _moved(self, generative, x, state, seed):
        """The state after a sweep: z, and before it x if it is drawn."""
        if not self.draw_missing:
            return self.sweep(generative, x, state, seed)
        rows = as_rows(x).floats()
        if not rows.complete:  # what is observed is as it is now: grey rows are drawn anew each epoch
            rows = rows._replace(values=tf.where(rows.observed, rows.values, state[0]))
        filled, z = sweep_all(generative, rows, state[1:], seed)
        return [tf.ensure_shape(new, old.shape) for new, old in zip([filled, *z], state, strict=True)]

    @staticmethod
    def _filled(generative, rows, z, seed):
        """The rows with draws in their gaps, each given z and the entries before it."""
        if rows.complete:
            return tf.cast(rows.values, tf.float32)
        parents = generative.data_parents(rows, z)
        return generative.layers[-1].complete(rows.values, rows.observed, parents, seed)[0]

    def get_config(self) -> Config:
        names = ("num_samples", "burn_in", "initial", "persistent", "draw_missing")
        return {name: getattr(self, name) for name in names}


def _beside(values, rows):
    """The values (K, B, D), with the context of the rows (B, D) if there is one."""
    context = as_rows(rows).context
    if context is None:
        return values
    leading, width = tf.shape(values)[:-1], context.shape[-1]
    return Rows(values, context=tf.broadcast_to(context, tf.concat([leading, [width]], 0)))


def _flat(part, leading):
    """(…, width) broadcast to leading axes, which are made one: (n, width)."""
    width = part.shape[-1]
    return tf.reshape(tf.broadcast_to(part, tf.concat([leading, [width]], 0)), [-1, width])

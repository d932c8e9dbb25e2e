"""What a SavedModel computes, at one set of weights or over M components θ_1, …, θ_M of a posterior's average.

    log_likelihood    log p(x given X) ≈ log (1/M) Σ_m p̂_m,      p̂_m the importance sampling estimate of p(x given θ_m)
    encode            E[z given x] ≈ Σ_m p̂_m Σ_k w_mk z_mk / Σ_k w_mk / Σ_m p̂_m
    reconstruct       E[x' given x], x' ~ p(x' given z) and z ~ p(z given x): the same sums with E[x' given z_mk]
    sample            m uniform, then x ~ p(x given θ_m)
    impute            m with probability p̂_m(x_observed) / Σ p̂, then x_missing ~ p(x_missing given x_observed, θ_m)

A new row x says itself which θ_m fit it: hence the weights p̂_m in all but `sample`. The standard error of
log_likelihood is √(Σ_m (p̂_m s_m)²) / Σ_m p̂_m with s_m that of log p̂_m, its effective sample size
(Σ_m p̂_m)² / Σ_m p̂_m²/n_m.
Hidden units may play different roles in different samples, of different chains above all: `encode` means most at M = 1.

p̂_m(x_observed) is of 256 draws (see `imputation.resampling`).

Rows are worked off in blocks, so that memory does not grow with them, and each imputation is the last state of its own
Markov chain (see `imputation.kernels`).

Source: Owen, "Monte Carlo theory, methods and examples" (2013), sections 9.2 and 9.3.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import compiling
from tfdsmcmc._common.streams import WeightSums
from tfdsmcmc.imputation.directed import method_for
from tfdsmcmc.imputation.kernels import KERNELS, start
from tfdsmcmc.imputation.resampling import weighted_draws
from tfdsmcmc.likelihood.expectations import expectations
from tfdsmcmc.rows import Rows, as_rows

if TYPE_CHECKING:
    from tfdsmcmc.programs import DirectedModel
    from tfdsmcmc.serving.saved_model.weights import Weights

_CHUNK = 32  # importance samples held at a time
_BLOCK = 128  # rows at a time
_EVIDENCE_CHUNKS = 8  # of draws behind each p̂_m(x_observed) of an imputation


class Functions:
    """The functions, all in tensors. x is (n, D) float32 and seeds are int32 of shape (2,).

    Args:
      model: `DeepGenerativeModel`.
      weights: `Weights`.
      sweeps: of each chain of an imputation.
      jit: whether the parts whose shapes come from the request alone are compiled by XLA.
    """

    def __init__(self, model: DirectedModel, weights: Weights, sweeps: int, jit: bool):
        self._generative, self._recognition = model.generative, model.recognition
        self._weights, self._sweeps = weights, sweeps
        self._kernel = KERNELS[method_for(model.generative, "auto")]
        self._compile = (lambda f: compiling.program(f, True)) if jit else (lambda f: f)

    def costs(self, name: str) -> tuple[int, int]:
        """(for each row, for each unit of its count) the draws of the latents that a function takes.

        A draw in a network that is averaged over M sets of weights, unit by unit, counts M times."""
        each = max(getattr(layer, "num_draws", 1) for layer in self._generative.layers)
        count = self._weights.count
        if name == "impute":
            return (each * count * _CHUNK * _EVIDENCE_CHUNKS if count > 1 else 0), each * self._sweeps
        return 0, each if name == "sample" else each * count

    def log_likelihood(
        self, x: tf.Tensor, num_samples: tf.Tensor, seed: tf.Tensor, context: tf.Tensor | None = None
    ) -> dict[str, tf.Tensor]:
        """value, standard_error and effective_sample_size, each (n,)."""
        x = Rows(x, context=context).plain

        def block(x, seed):
            estimates, _ = self._estimates(x, num_samples, seed)
            return dict(zip(("value", "standard_error", "effective_sample_size"), _averaged(*estimates)))

        names = ("value", "standard_error", "effective_sample_size")
        return in_blocks(block, x, seed, {name: [] for name in names})

    def encode(
        self, x: tf.Tensor, num_samples: tf.Tensor, seed: tf.Tensor, context: tf.Tensor | None = None
    ) -> dict[str, tf.Tensor]:
        """z_1, …, z_L, each (n, H_l), and effective_sample_size, (n,)."""
        x = Rows(x, context=context).plain
        widths = self._generative.latent_units

        def block(x, seed):
            estimates, means = self._estimates(x, num_samples, seed, lambda z, _: z, widths)
            named = {f"z_{i + 1}": _mixed(estimates[0], mean) for i, mean in enumerate(means)}
            return {**named, "effective_sample_size": _averaged(*estimates)[2]}

        shapes = {f"z_{i + 1}": [width] for i, width in enumerate(widths)}
        return in_blocks(block, x, seed, {**shapes, "effective_sample_size": []})

    def reconstruct(
        self, x: tf.Tensor, num_samples: tf.Tensor, seed: tf.Tensor, context: tf.Tensor | None = None
    ) -> dict[str, tf.Tensor]:
        """x, (n, D)."""
        x = Rows(x, context=context).plain
        layer, units = self._generative.layers[-1], self._generative.units

        def block(x, seed):
            def means(z, seed):
                parents = z[0] if z else tf.repeat(self._generative.data_parents(x, z)[tf.newaxis], _CHUNK, 0)
                # where the units depend on each other a draw stands for the mean
                return [layer.distribution(parents).mean() if layer.factorised else layer.sample(parents, seed)]

            estimates, (mean,) = self._estimates(x, num_samples, seed, means, [units])
            return {"x": _mixed(estimates[0], mean)}

        return in_blocks(block, x, seed, {"x": [units]})

    def sample(self, num_samples: tf.Tensor, seed: tf.Tensor, context: tf.Tensor | None = None) -> dict[str, tf.Tensor]:
        """x, (num_samples, D)."""
        units = self._generative.units

        def draw(places, seed):
            given = None if context is None else tf.gather(context, places)
            return self._generative.sample(tf.size(places), seed, given)[0]

        choice_seed, draw_seed = self._choice_and_draw(seed)
        chosen = random.integers([num_samples], self._weights.count, choice_seed)
        return {"x": tf.ensure_shape(self._weights.draw(draw, chosen, draw_seed, units), [None, units])}

    def impute(
        self,
        x: tf.Tensor,
        mask: tf.Tensor,
        num_imputations: tf.Tensor,
        seed: tf.Tensor,
        context: tf.Tensor | None = None,
    ) -> dict[str, tf.Tensor]:
        """x, (num_imputations, n, D)."""
        units = self._generative.units

        def block(rows, seed):
            count = tf.shape(rows.values)[0]
            choice_seed, draw_seed = self._choice_and_draw(seed)
            chosen = tf.reshape(self._chosen(rows, num_imputations, choice_seed), [-1])
            row_of = tf.tile(tf.range(count), [num_imputations])

            def draw(places, seed):
                return self._chains(rows.take(tf.gather(row_of, places)), seed)

            drawn = self._weights.draw(draw, chosen, draw_seed, units)
            # rows lead, so that the blocks can be joined
            return {"x": tf.transpose(tf.reshape(drawn, [num_imputations, count, units]), [1, 0, 2])}

        # whatever stands in the gaps, NaN too, is gone from here on
        rows = Rows(tf.where(mask, x, self._generative.support.filling), mask, context)
        drawn = in_blocks(block, rows, seed, {"x": [None, units]})["x"]
        return {"x": tf.transpose(drawn, [1, 0, 2])}

    def _estimates(self, x, num_samples, seed, function=None, widths=()):
        """((value, standard_error, effective_sample_size), means) at each θ_m: (M, n), and a list of (M, n, width)."""

        @self._compile
        def at_one(x, num_samples, seed):
            return expectations(self._generative, self._recognition, x, num_samples, seed, _CHUNK, function, widths)

        signature = (tf.float32,) * 3, [tf.float32] * len(widths)
        return self._weights.over(lambda seed: at_one(x, num_samples, seed), seed, signature)

    def _choice_and_draw(self, seed):
        """Two seeds; where there is nothing to choose the second is the seed itself, as the live model has it."""
        return (seed, seed) if self._weights.count == 1 else tf.unstack(random.split(seed))

    def _chosen(self, rows, num_imputations, seed):
        """The sample m behind each imputation, (num_imputations, n)."""
        size, count = tf.shape(rows.values)[0], self._weights.count
        if count == 1:
            return tf.zeros([num_imputations, size], tf.int32)
        evidence_seed, gumbel_seed = tf.unstack(random.split(seed))

        @self._compile
        def at_one(rows, seed):
            def of_chunk(number):
                drawn = weighted_draws(self._generative, self._recognition, rows, _CHUNK, random.fold(seed, number))
                return tf.reduce_logsumexp(drawn[2], 0)

            found = tf.map_fn(of_chunk, tf.range(_EVIDENCE_CHUNKS), fn_output_signature=tf.float32)
            return tf.reduce_logsumexp(found, 0)

        log_evidence = self._weights.over(lambda seed: at_one(rows, seed), evidence_seed, tf.float32)
        uniform = random.open_uniform([num_imputations, count, size], gumbel_seed)
        return tf.argmax(log_evidence - tf.math.log(-tf.math.log(uniform)), 1, output_type=tf.int32)

    def _chains(self, rows, seed):
        """The last state of a chain for each row, (n, D)."""
        networks = self._generative, self._recognition
        # as many rows as have chosen one of several samples: XLA would compile each number anew
        compile_ = self._compile if self._weights.count == 1 else lambda f: f

        @compile_
        def run(rows, seed):
            start_seed, sweep_seed = tf.unstack(random.split(seed))
            begun, z = start(*networks, rows, start_seed)
            first = 0, begun.values, z

            def sweep(i, x, z):
                moved, z, _ = self._kernel(*networks, rows._replace(values=x), z, random.fold(sweep_seed, i))
                return i + 1, moved.values, z

            shapes = tf.nest.map_structure(lambda part: tf.convert_to_tensor(part).shape, first)
            return tf.while_loop(lambda i, *_: i < self._sweeps, sweep, first, shapes)[1]

        return run(rows, seed)


def _averaged(value, standard_error, effective_sample_size):
    """The average over θ_m of densities, as logarithms: three times (M, n) to three times (n,)."""
    sums, shift = WeightSums.of_nothing(tf.shape(value)[1:]).add(value)
    nothing = tf.zeros_like(sums.total)
    # an estimate of 0 states no error
    variance = shift.carry(nothing, standard_error**2, power=2)
    squares = shift.carry(nothing, 1.0 / effective_sample_size, power=2)
    count = tf.cast(tf.shape(value)[0], sums.total.dtype)
    averaged = sums.log_total - tf.math.log(count), tf.sqrt(variance) / sums.total, sums.total**2 / squares
    return tuple(tf.cast(part, value.dtype) for part in averaged)


def _mixed(value, means):
    """Σ_m p̂_m mean_m / Σ_m p̂_m: (M, n) and (M, n, width) to (n, width)."""
    weight = tf.nn.softmax(value, 0)
    # where p̂_m is 0 its means are not known
    return tf.einsum("mn,mnw->nw", weight, tf.where(weight[..., tf.newaxis] > 0, means, 0.0))


def in_blocks(
    function: Callable[[Any, tf.Tensor], dict[str, tf.Tensor]],
    x: tf.Tensor | Rows,
    seed: tf.Tensor,
    shapes: Mapping[str, Sequence[int | None]],
) -> dict[str, tf.Tensor]:
    """function(x, seed) over blocks of rows, joined.

    Args:
      function: of some of the rows and a seed; returns a dictionary of tensors with the rows leading.
      x: (n, D), a tensor or `Rows`.
      seed: int32 of shape (2,); every block has its own.
      shapes: dictionary, the shape of a row of each result.
    """
    rows = as_rows(x)
    blocks = tf.maximum((tf.shape(rows.values)[0] + _BLOCK - 1) // _BLOCK, 1)
    arrays = {
        name: tf.TensorArray(tf.float32, blocks, infer_shape=False, element_shape=[None, *shape])
        for name, shape in shapes.items()
    }

    def one_block(i, arrays):
        block = rows.map(lambda part: part[i * _BLOCK : (i + 1) * _BLOCK])
        results = function(block.plain, random.fold(seed, i))
        return i + 1, {name: array.write(i, results[name]) for name, array in arrays.items()}

    _, arrays = tf.while_loop(lambda i, _: i < blocks, one_block, (0, arrays), parallel_iterations=1)
    return {name: tf.ensure_shape(array.concat(), [None, *shapes[name]]) for name, array in arrays.items()}

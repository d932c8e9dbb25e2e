"""What a SavedModel of a `DeepGenerativeModel` holds and computes.

    encode            E[z given x] ≈ Σ_m p̂_m Σ_k w_mk z_mk / Σ_k w_mk / Σ_m p̂_m
    reconstruct       E[x' given x], x' ~ p(x' given z) and z ~ p(z given x): the same sums with E[x' given z_mk]

p̂_m is by importance sampling, and impute chooses m with probability p̂_m(x_observed) / Σ p̂, of 256 draws (see
`imputation.resampling`): a new row says itself which θ_m fit it. Its chains are those of `imputation.kernels`. Hidden
units may play different roles in different samples, of different chains above all: `encode` means most at M = 1.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import compiling
from tfdsmcmc.imputation.directed import method_for
from tfdsmcmc.imputation.kernels import NetworkKernel, passes_of
from tfdsmcmc.imputation.resampling import Resampling
from tfdsmcmc.imputation.sweep_plan import swept
from tfdsmcmc.likelihood.expectations import expectations
from tfdsmcmc.networks import evaluated_at
from tfdsmcmc.programs import values_of
from tfdsmcmc.rows import Rows, as_rows
from tfdsmcmc.serving.saved_model.functions import Components, Functions, averaged, in_blocks

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Nest, Number, ThetaAndPhi
    from tfdsmcmc.programs import DirectedModel

_CHUNK = 32  # importance samples held at a time
_LARGEST_CHUNK, _HELD = 256, 512  # and of few rows: of each, and of all of them
_EVIDENCE = Resampling(num_imputations=0, num_samples=256, chunk=_CHUNK)  # for each p̂_m(x_observed)


class Weights(Components):
    """θ_1, …, θ_M of a `DeepGenerativeModel`, and φ beside them; a component is its number: the networks are at it.

    Samples are pairs (θ, φ), or None for the model's own weights; a ValueError for other shapes, or what is not finite.
    """

    def __init__(self, model: DirectedModel, samples: Sequence[ThetaAndPhi] | None = None):
        super().__init__()
        variables = [*model.generative.weights, *model.recognition.weights]
        learnt = [*model.generative.trainable_variables, *model.recognition.trainable_variables]
        samples = [None] if samples is None else samples
        self.count: int = len(samples)
        stacks = [np.empty((self.count, *v.shape), v.dtype) for v in learnt]
        for m, sample in enumerate(samples):
            theta, phi = values_of(model, sample, f"theta and phi of sample {m}")
            for stack, value in zip(stacks, [*theta, *phi], strict=True):
                stack[m] = value
        self._stacks = [tf.Variable(stack, trainable=False) for stack in stacks]
        # what was frozen is the same in every sample
        frozen = [v for v in variables if not any(v is other for other in learnt)]
        self._frozen = [tf.Variable(tf.convert_to_tensor(v), trainable=False) for v in frozen]

        def at(m):
            values = [tf.gather(stack, m) for stack in self._stacks]
            return evaluated_at([*learnt, *frozen], [*values, *self._frozen])

        self._at = at  # a closure, not attributes: the model's own variables are not saved

    def called(self, function: Callable[..., Nest], m: Number, *arguments: Any) -> Nest:
        with self._at(m):
            return function(m, *arguments)


class NetworkFunctions(Functions):
    """Imputations are by chains of `sweeps`; `jit` compiles the parts whose shapes come from the request alone.

    By default there are 10 sweeps of Gibbs sampling where passes over all units at once go before, which
    `experiments.first_guess` compares with 50; else 50.
    """

    def __init__(self, model: DirectedModel, weights: Weights, sweeps: int | None, jit: bool):
        generative = model.generative
        widest = max(layer.widest_drawn for layer in generative.layers)
        super().__init__(weights, generative.units, generative.support, widest, generative.context)
        self._generative, self._networks = generative, (generative, model.recognition)
        self._kernel = NetworkKernel(method_for(generative, "auto"))
        near = passes_of(generative) > 0 and not self._kernel.proposes
        self._sweeps: int = sweeps or (10 if near else 50)
        self.settings = {"sweeps": self._sweeps, "jit": jit}
        self._compile = (lambda f: compiling.program(f, True)) if jit else (lambda f: f)
        self.names = [*Functions.names, *(["encode"] if generative.latent_units else []), "reconstruct"]

    def costs(self, name: str, by_row: bool = False) -> tuple[int, int, int]:
        # a draw in a network that is averaged over M sets of weights, unit by unit, counts M times
        each = max(getattr(layer, "num_draws", 1) for layer in self._generative.layers)
        count = self.weights.count
        evidence = each * count * _EVIDENCE.num_samples if count > 1 else 0
        chain = passes_of(self._generative) + self._sweeps
        others = {"sample": (0, each, 1), "impute": (evidence, each * chain, 1)}
        if not self._generative.latent_units:  # nothing is drawn
            others["log_likelihood"] = (each * count, 0, 1)
        chunk = _LARGEST_CHUNK if by_row else _CHUNK  # as `_chunk` has it for one row, and at least
        return {**dict.fromkeys(self.names, (0, each * count, chunk)), **others}[name]

    def encode(
        self, x: tf.Tensor, num_samples: tf.Tensor, seed: tf.Tensor, context: tf.Tensor | None = None
    ) -> dict[str, tf.Tensor]:
        """z_1, …, z_L, each (n, H_l), and effective_sample_size, (n,)."""
        widths = self._generative.latent_units
        found = self._means(Rows(x, context=context), num_samples, seed, lambda _, z, __: z, widths)
        return dict(zip([*(f"z_{i + 1}" for i in range(len(widths))), "effective_sample_size"], found))

    def reconstruct(
        self, x: tf.Tensor, num_samples: tf.Tensor, seed: tf.Tensor, context: tf.Tensor | None = None
    ) -> dict[str, tf.Tensor]:
        """x, (n, D)."""
        layer = self._generative.layers[-1]

        def means(x, z, seed):
            parents = z[0] if z else self._repeated(x)
            # where the units depend on each other a draw stands for the mean
            return [layer.distribution(parents).mean() if layer.factorised else layer.sample(parents, seed)]

        return {"x": self._means(Rows(x, context=context), num_samples, seed, means, [self.units])[0]}

    def _means(self, rows, num_samples, seed, function, widths):
        """E[function(x, z, seed) given x], a list of (n, width), and the effective sample size, (n,), at its end."""

        def block(x, seed):
            of_draws = functools.partial(function, x)
            estimates, means = self._estimates(x, num_samples, seed, _chunk(x), of_draws, widths)
            return [*(_mixed(estimates[0], mean) for mean in means), averaged(*estimates)[2]]

        return in_blocks(block, self.block, rows, seed, [*([width] for width in widths), []])

    def _terms(self, x, num_samples, seed):
        exact = not self._generative.latent_units
        return self._estimates(x, 1 if exact else num_samples, seed, chunk=1 if exact else _chunk(x))[0]

    def _estimates(self, x, num_samples, seed, chunk, function=None, widths=()):
        """((value, standard_error, effective_sample_size), means) at each θ_m: (M, n), and a list of (M, n, width)."""

        @self._compile
        def at_one(x, num_samples, seed):
            (value, *estimated), means = expectations(*self._networks, x, num_samples, seed, chunk, function, widths)
            if not self._generative.latent_units:
                estimated = tf.zeros_like(value), tf.fill(tf.shape(value), math.inf)
            return (value, *estimated), means

        signature = (tf.float32,) * 3, [tf.float32] * len(widths)
        return self.weights.over(lambda _, seed: at_one(x, num_samples, seed), seed, signature)

    def _repeated(self, rows):
        """What stands above a data layer alone, for each draw."""
        return tf.repeat(self._generative.data_parents(rows, [])[tf.newaxis], _chunk(rows), 0)

    def _draws(self, _, count, seed, context):
        return self._generative.sample(count, seed, context)[0]

    def _chosen(self, rows, num_imputations, seed):
        """The sample m behind each imputation, (num_imputations, n)."""
        size, count = tf.shape(rows.values)[0], self.weights.count
        if count == 1:
            return tf.zeros([num_imputations, size], tf.int32)
        evidence_seed, gumbel_seed = tf.unstack(random.split(seed))

        @self._compile
        def at_one(rows, seed):
            return tf.cast(_EVIDENCE(*self._networks, rows, seed)[3], tf.float32)

        log_evidence = self.weights.over(lambda _, seed: at_one(rows, seed), evidence_seed, tf.float32)
        uniform = random.open_uniform([num_imputations, count, size], gumbel_seed)
        return tf.argmax(log_evidence - tf.math.log(-tf.math.log(uniform)), 1, output_type=tf.int32)

    def _completions(self, _, rows, seed):
        """The last state of a chain for each row, (n, D)."""
        # as many rows as have chosen one of several samples: XLA would compile each number anew
        compile_ = self._compile if self.weights.count == 1 else lambda f: f

        @compile_
        def run(rows, seed):
            start_seed, sweep_seed = tf.unstack(random.split(seed))
            begun, z = self._kernel.start(*self._networks, rows, start_seed)
            return swept(self._kernel, self._networks, begun, z, sweep_seed, self._sweeps)[0]

        return run(rows, seed)


def _chunk(rows):
    """Draws of a row held at a time: many of few rows, as op by op a small chunk takes longer to call than to compute.

    They go by the rows alone, jitted or not. What a seed draws depends on them, and XLA compiles each number anew.
    """
    count = tf.maximum(tf.shape(as_rows(rows).values)[0], 1)
    return tf.clip_by_value(_HELD // count, _CHUNK, _LARGEST_CHUNK) // _CHUNK * _CHUNK


def _mixed(value, means):
    """Σ_m p̂_m mean_m / Σ_m p̂_m: (M, n) and (M, n, width) to (n, width)."""
    weight = tf.nn.softmax(value, 0)
    # where p̂_m is 0 its means are not known
    return tf.einsum("mn,mnw->nw", weight, tf.where(weight[..., tf.newaxis] > 0, means, 0.0))

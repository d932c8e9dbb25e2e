"""The weights that a SavedModel holds: one set, or those of M posterior samples, stacked."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.networks import evaluated_at
from tfdsmcmc.programs import values_of


class Weights(tf.Module):
    """θ_1, …, θ_M, and φ beside them, as variables with the samples leading.

    Args:
      model: `DeepGenerativeModel`.
      samples: sequence of pairs (θ, φ), of which one is held in memory at a time beside the stack; None for the model's
        own weights.

    Attributes:
      count: M.

    Raises:
      ValueError: for weights of other shapes, or that are not finite.
    """

    def __init__(self, model, samples=None):
        super().__init__()
        variables = [*model.generative.weights, *model.recognition.weights]
        learnt = [*model.generative.trainable_variables, *model.recognition.trainable_variables]
        self.count = 1 if samples is None else len(samples)
        stacks = [np.empty((self.count, *v.shape), v.dtype) for v in learnt]
        for m in range(self.count):
            theta, phi = values_of(model, None if samples is None else samples[m], f"theta and phi of sample {m}")
            for stack, value in zip(stacks, [*theta, *phi], strict=True):
                stack[m] = value
        self._stacks = [tf.Variable(stack, trainable=False) for stack in stacks]
        # what was frozen is the same in every sample
        frozen = [v for v in variables if not any(v is other for other in learnt)]
        self._frozen = [tf.Variable(tf.convert_to_tensor(v), trainable=False) for v in frozen]

        def at(m):
            values = [tf.gather(stack, m) for stack in self._stacks]
            return evaluated_at([*learnt, *frozen], [*values, *self._frozen])

        # a closure, not attributes: the model's own variables are not saved
        self._at = at

    def at(self, m):
        """A context in which the networks have the weights of sample m, an integer or int32 scalar."""
        return self._at(m)

    def over(self, function, seed, signature):
        """function(seed_m) at the weights of every sample m, stacked along a new first axis.

        Args:
          function: of a seed; returns tensors.
          seed: int32 of shape (2,).
          signature: structure of types, as `tf.map_fn` takes it.
        """

        def at_one(m):
            with self.at(m):
                return function(random.fold(seed, m))

        if self.count == 1:
            return tf.nest.map_structure(lambda part: part[tf.newaxis], at_one(0))
        return tf.map_fn(at_one, tf.range(self.count), fn_output_signature=signature)

    def draw(self, function, chosen, seed, units):
        """Draws x of given samples of the weights, all those of one sample at once.

        Args:
          function: of (places, seed), the places of the draws to make, (c,); returns (c, units).
          chosen: int32 of shape (n,), the sample m of each draw.
          seed: int32 of shape (2,).
          units: D.

        Returns:
          (n, units).
        """
        size = tf.size(chosen)
        if self.count == 1:
            with self.at(0):
                return function(tf.range(size), seed)
        order = tf.argsort(chosen, stable=True)
        samples, _, counts = tf.unique_with_counts(tf.gather(chosen, order))
        ends = tf.cumsum(counts)

        def draw_of_one(i, drawn):
            with self.at(samples[i]):
                x = function(order[ends[i] - counts[i] : ends[i]], random.fold(seed, samples[i]))
            return i + 1, drawn.write(i, x)

        parts = tf.TensorArray(tf.float32, tf.size(samples), infer_shape=False, element_shape=[None, units])
        _, parts = tf.while_loop(lambda i, _: i < tf.size(samples), draw_of_one, (0, parts))
        return tf.gather(tf.ensure_shape(parts.concat(), [None, units]), tf.argsort(order))

"""The weights that a SavedModel holds: one set, or those of M posterior samples, stacked."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.networks import evaluated_at
from tfdsmcmc.programs import values_of

if TYPE_CHECKING:
    import contextlib

    from tfdsmcmc._common.types import Nest, Number, ThetaAndPhi
    from tfdsmcmc.programs import DirectedModel


class Components(tf.Module):
    """M components, of which `at(m)` of a subclass gives what functions need to know of one.

    Args:
      count: M.

    Attributes:
      count: M.
    """

    def __init__(self, count: int):
        super().__init__()
        self.count = count

    def at(self, m: Number) -> Any:
        """What component m is, an integer or int32 scalar."""
        raise NotImplementedError(f"{type(self).__name__} must define at.")

    def over(self, function: Callable[..., Nest], seed: tf.Tensor, signature: Nest) -> Nest:
        """function(at(m), seed_m) of every component m, stacked along a new first axis.

        Args:
          function: of what `at` gives and a seed; returns tensors.
          seed: int32 of shape (2,).
          signature: structure of types, as `tf.map_fn` takes it.
        """

        def at_one(m):
            return function(self.at(m), random.fold(seed, m))

        if self.count == 1:
            return tf.nest.map_structure(lambda part: part[tf.newaxis], at_one(0))
        return tf.map_fn(at_one, tf.range(self.count), fn_output_signature=signature)

    def draw(self, function: Callable[..., tf.Tensor], chosen: tf.Tensor, seed: tf.Tensor, units: int) -> tf.Tensor:
        """Draws x of given components, all those of one component at once.

        Args:
          function: of (what `at` gives, places, seed), the places of the draws to make, (c,); returns (c, units).
          chosen: int32 of shape (n,), the component m of each draw.
          seed: int32 of shape (2,).
          units: D.

        Returns:
          (n, units).
        """
        size = tf.size(chosen)
        if self.count == 1:
            return function(self.at(0), tf.range(size), seed)
        order = tf.argsort(chosen, stable=True)
        components, _, counts = tf.unique_with_counts(tf.gather(chosen, order))
        ends = tf.cumsum(counts)

        def draw_of_one(i, drawn):
            places = order[ends[i] - counts[i] : ends[i]]
            x = function(self.at(components[i]), places, random.fold(seed, components[i]))
            return i + 1, drawn.write(i, x)

        parts = tf.TensorArray(tf.float32, tf.size(components), infer_shape=False, element_shape=[None, units])
        _, parts = tf.while_loop(lambda i, _: i < tf.size(components), draw_of_one, (0, parts))
        return tf.gather(tf.ensure_shape(parts.concat(), [None, units]), tf.argsort(order))


class Weights(Components):
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

    def __init__(self, model: DirectedModel, samples: Sequence[ThetaAndPhi] | None = None):
        super().__init__(1 if samples is None else len(samples))
        variables = [*model.generative.weights, *model.recognition.weights]
        learnt = [*model.generative.trainable_variables, *model.recognition.trainable_variables]
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

    def at(self, m: Number) -> contextlib.AbstractContextManager[Any]:
        """A context in which the networks have the weights of sample m, an integer or int32 scalar."""
        return self._at(m)

    def over(self, function: Callable[..., Nest], seed: tf.Tensor, signature: Nest) -> Nest:
        """function(seed_m) at the weights of every sample m, stacked along a new first axis."""

        def at_one(context, seed):
            with context:
                return function(seed)

        return super().over(at_one, seed, signature)

    def draw(self, function: Callable[..., tf.Tensor], chosen: tf.Tensor, seed: tf.Tensor, units: int) -> tf.Tensor:
        """Draws x of given samples, by a function of (places, seed); else as of `Components`."""

        def at_one(context, places, seed):
            with context:
                return function(places, seed)

        return super().draw(at_one, chosen, seed, units)

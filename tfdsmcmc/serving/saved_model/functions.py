"""What a SavedModel computes, over M components θ_1, …, θ_M of an average (M = 1: one set of weights).

    log_likelihood    log p(x given X) ≈ log (1/M) Σ_m p̂_m, with p̂_m an estimate of p(x given θ_m)
    sample            m uniform, then x ~ p(x given θ_m)
    impute            m chosen, then x_missing ~ p(x_missing given x_observed, θ_m)

With s_m the standard error of log p̂_m, n_m its effective sample size, ρ_m the error of its log Z, which may be one and
the same for all m, and r_m = p̂_m / Σ p̂: the standard error of log_likelihood is √(Σ (r_m s_m)² + (Σ r_m ρ_m)²), its
effective sample size 1 / Σ (r_m² / n_m). Where log Z has an error, Σ r_m ρ_m is given as well: it is one error of all
rows, and does not average out over them.

x is (n, D) float32, seeds are int32 of shape (2,). Rows are worked off in blocks, so that memory does not grow with
them, and each imputation is the last state of its own Markov chain.

Source: Owen, "Monte Carlo theory, methods and examples" (2013), sections 9.2 and 9.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc.posterior.running_means import DensitySums
from tfdsmcmc.rows import Rows

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Nest, Number
    from tfdsmcmc.rows.context import Context
    from tfdsmcmc.supports import Support

ESTIMATE = ("value", "standard_error", "effective_sample_size")
SHARED = "shared_standard_error"
_BLOCK, _BLOCK_ENTRIES = 128, 2**19  # rows at a time, and entries of a draw of each: 2 MiB, of 32 draws 64


class Components(tf.Module):
    """M components, `count`, at which functions are `called`; what a component is, the subclass says."""

    count: int

    def called(self, function: Callable[..., Nest], m: Number, *arguments: Any) -> Nest:
        """function(component m, *arguments), with m an integer or int32 scalar."""
        raise NotImplementedError(f"{type(self).__name__} must define called.")

    def over(self, function: Callable[..., Nest], seed: tf.Tensor, signature: Nest) -> Nest:
        """function(component m, seed_m) at every m, of a structure of types, stacked along a new first axis."""

        def at_one(m):
            return self.called(function, m, random.fold(seed, m))

        if self.count == 1:
            return tf.nest.map_structure(lambda part: part[tf.newaxis], at_one(0))
        return loops.map_fn(at_one, tf.range(self.count), fn_output_signature=signature)

    def draw(self, function: Callable[..., tf.Tensor], chosen: tf.Tensor, seed: tf.Tensor, units: int) -> tf.Tensor:
        """Draws of the chosen components, (n,) of them, as (n, units): all those of one component at once, by a
        function of (component, places, seed), the places of the draws to make, (c,), that returns (c, units)."""
        if self.count == 1:
            return self.called(function, 0, tf.range(tf.size(chosen)), seed)
        components = tf.unique(chosen)[0]

        def draw_of_one(i, drawn):
            places = tf.where(chosen == components[i])
            x = self.called(function, components[i], places[:, 0], random.fold(seed, components[i]))
            return i + 1, tf.tensor_scatter_nd_update(drawn, places, x)

        start = 0, tf.zeros([tf.size(chosen), units])
        return loops.while_loop(lambda i, _: i < tf.size(components), draw_of_one, start)[1]


class Functions:
    """What all models have; subclasses define `costs`, `_terms`, `_draws`, `_chosen` and `_completions`.

    Attributes:
      names: list, of the functions that are signatures.
      estimate: names of what `log_likelihood` gives.
      weights: `Components`, the variables that are saved.
      units: D.
      support: of what values entries may have.
      widest: the widest array that a draw of a row needs.
      block: rows at a time, fewer of wide ones.
      context: `rows.Context` of rows that are given one, else None.
      settings, figures: dictionaries for the manifest.
    """

    names: list[str] = ["log_likelihood", "sample", "impute"]
    estimate: tuple[str, ...] = ESTIMATE

    def __init__(
        self, weights: Components, units: int, support: Support, widest: int, context: Context | None = None
    ):  # fmt: skip
        self.weights, self.units, self.support, self.widest, self.context = weights, units, support, widest, context
        self.block: int = min(_BLOCK, max(1, _BLOCK_ENTRIES // widest))
        self.settings: dict[str, Any] = {}
        self.figures: dict[str, Any] = {}

    def costs(self, name: str, by_row: bool = False) -> tuple[int, int, int]:
        """(for each row, for each unit of its count) the draws that a function takes; and how many units it takes at a
        time, of which it makes all where fewer are asked for. `by_row` is of rows that are worked off one by one."""
        raise NotImplementedError(f"{type(self).__name__} must define costs.")

    def log_likelihood(
        self, x: tf.Tensor, num_samples: tf.Tensor, seed: tf.Tensor, context: tf.Tensor | None = None
    ) -> dict[str, tf.Tensor]:
        """value, standard_error and effective_sample_size, each (n,); of densities with log Z shared_standard_error."""

        def block(x, seed):
            return averaged(*self._terms(x, num_samples, seed))[: len(self.estimate)]

        parts = in_blocks(block, self.block, Rows(x, context=context), seed, [[] for _ in self.estimate])
        return dict(zip(self.estimate, parts))

    def sample(self, num_samples: tf.Tensor, seed: tf.Tensor, context: tf.Tensor | None = None) -> dict[str, tf.Tensor]:
        """x, (num_samples, D)."""

        def draw(component, places, seed):
            given = None if context is None else tf.gather(context, places)
            return self._draws(component, tf.size(places), seed, given)

        choice_seed, draw_seed = self._choice_and_draw(seed)
        chosen = random.integers([num_samples], self.weights.count, choice_seed)
        drawn = self.weights.draw(draw, chosen, draw_seed, self.units)
        return {"x": tf.ensure_shape(drawn, [None, self.units])}

    def impute(
        self,
        x: tf.Tensor,
        mask: tf.Tensor,
        num_imputations: tf.Tensor,
        seed: tf.Tensor,
        context: tf.Tensor | None = None,
    ) -> dict[str, tf.Tensor]:
        """x, (num_imputations, n, D)."""

        def block(rows, seed):
            count = tf.shape(rows.values)[0]
            choice_seed, draw_seed = self._choice_and_draw(seed)
            chosen = tf.reshape(self._chosen(rows, num_imputations, choice_seed), [-1])
            row_of = tf.tile(tf.range(count), [num_imputations])

            def draw(component, places, seed):
                return self._completions(component, rows.take(tf.gather(row_of, places)), seed)

            drawn = self.weights.draw(draw, chosen, draw_seed, self.units)
            # rows lead, so that the blocks can be joined
            return [tf.transpose(tf.reshape(drawn, [num_imputations, count, self.units]), [1, 0, 2])]

        # whatever stands in the gaps, NaN too, is gone from here on
        rows = Rows(tf.where(mask, x, self.support.filling), mask, context)
        return {"x": tf.transpose(in_blocks(block, self.block, rows, seed, [[None, self.units]])[0], [1, 0, 2])}

    def _choice_and_draw(self, seed):
        """Two seeds; where there is nothing to choose the second is the seed itself, as the live model has it."""
        return (seed, seed) if self.weights.count == 1 else tf.unstack(random.split(seed))


def averaged(
    value: tf.Tensor,
    standard_error: tf.Tensor,
    effective_sample_size: tf.Tensor,
    shared_error: tf.Tensor | float = 0.0,
) -> tuple[tf.Tensor, ...]:
    """The average over θ_m of densities, as logarithms, and the error that rows share: each (M, n) to (n,)."""
    sums = DensitySums.of_nothing(tf.shape(value)[1:])
    sums = sums.add(value, standard_error**2, effective_sample_size, shared_error)
    return tuple(tf.cast(part, value.dtype) for part in sums.estimate(tf.shape(value)[0]))


def in_blocks(
    function: Callable[[Any, tf.Tensor], Sequence[tf.Tensor]],
    size: int,
    rows: Rows,
    seed: tf.Tensor,
    shapes: Sequence[Sequence[int | None]],
) -> list[tf.Tensor]:
    """function(rows, seed) over blocks of `size` rows, each with its own seed, joined; `shapes`: of a row's parts."""
    blocks = tf.maximum((tf.shape(rows.values)[0] + size - 1) // size, 1)
    shapes = [[None, *shape] for shape in shapes]
    arrays = [tf.TensorArray(tf.float32, blocks, infer_shape=False, element_shape=shape) for shape in shapes]

    def one_block(i, arrays):
        block = rows.map(lambda part: part[i * size : (i + 1) * size])
        parts = function(block.plain, random.fold(seed, i))
        return i + 1, [array.write(i, part) for array, part in zip(arrays, parts, strict=True)]

    _, arrays = loops.while_loop(lambda i, _: i < blocks, one_block, (0, arrays))
    return [tf.ensure_shape(array.concat(), shape) for array, shape in zip(arrays, shapes)]

"""What a kind of units is to a machine: a law of values v given a field x, of which a layer has one for each unit.

    p(v given x) = exp(x·v − u(v) − Γ(x)),      Γ(x) = log Σ_v exp(x·v − u(v))           (an integral for real values)
    E[v given x] = ∇Γ(x)

The field is the bias and the input from the other layer, x = b + Wh, so that the layer's own part of the energy, its
potential, is U(v) = u(v) − b·v. What u has to learn is natural parameters too: with η = (b, η_2, …)

    U(v) = −Σ_k η_k · t_k(v),      t_1(v) = v

and a layer's law is the list (x, η_2, …) of the field and the further ones, each of shape (…, width). All units of a
layer are independent given the field, but for those of one categorical variable.

Two layers of such units make a machine (`machines.machine`). Its annealing (`partition.paths`) takes β times the field
of a hidden layer, and of the visible layer the parameters (1 − β) η + β η'.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.supports import Real

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config, Number, Seed, TensorLike, Weight
    from tfdsmcmc.supports import Support

_U = TypeVar("_U", bound="Units")


class Units:
    """Base class of kinds of units.

    A subclass defines `cumulant`, `increment`, `mean`, `draw` and `fit`; `values` where a unit has finitely many, and
    u = 0 then; `statistics`, `natural`, `parameters` and `initial` where there is more to learn than a bias; `support`,
    `num_uniforms` and `get_config` where they differ. It is a value: two with one configuration are
    equal. Where v has no bound, a machine of two layers of such units need not have a log Z: `exact.machine_of` is to
    refuse the weights that have none.

    Attributes:
      support: `supports.Support`, of what values entries of a row may have.
      parameters: names of the weights beside the biases; those of a hidden layer have `hidden_` before them.
      initial: their initial values, numbers.
    """

    support: Support = Real()
    parameters: tuple[str, ...] = ()
    initial: tuple[float, ...] = ()

    # the law of a layer, from its natural parameters

    def cumulant(self, field: TensorLike, *rest: TensorLike) -> tf.Tensor:
        """Γ, (…,), the sum over the units of a layer."""
        raise NotImplementedError(f"{type(self).__name__} must define cumulant.")

    def increment(self, before: Number, after: Number, field: TensorLike, *rest: TensorLike) -> tf.Tensor:
        """Γ(β'x) − Γ(βx), (…,), of neighbouring β ≤ β', without a loss of digits where they are close."""
        raise NotImplementedError(f"{type(self).__name__} must define increment.")

    def mean(self, field: TensorLike, *rest: TensorLike) -> tf.Tensor:
        """E v, (…, width)."""
        raise NotImplementedError(f"{type(self).__name__} must define mean.")

    def draw(self, uniforms: TensorLike, field: TensorLike, *rest: TensorLike) -> tf.Tensor:
        """v, (n, width), by numbers of `random.open_uniform`, (n, num_uniforms(width)); one law may be that of all."""
        raise NotImplementedError(f"{type(self).__name__} must define draw.")

    def log_prob(self, v: TensorLike, field: TensorLike, *rest: TensorLike) -> tf.Tensor:
        """log p(v given x), (…,)."""
        return self.log_measure(v, [field, *rest]) - self.cumulant(field, *rest)

    # the potential

    def natural(self, bias: Weight, *weights: Weight) -> list[Weight]:
        """(b, η_2, …), a list, of the weights: the bias and the further parameters."""
        return [bias]

    def statistics(self, v: TensorLike) -> list[TensorLike]:
        """(t_1(v), t_2(v), …), a list."""
        return [v]

    def log_measure(self, v: TensorLike, natural: Sequence[TensorLike]) -> tf.Tensor:
        """−U(v), (…,), at natural parameters."""
        return _sum(_product(t, eta) for t, eta in zip(self.statistics(v), natural))

    def log_ratio(self, v: TensorLike, first: Sequence[TensorLike], second: Sequence[TensorLike]) -> tf.Tensor:
        """U(v) − U'(v), (…,), of two lists of natural parameters."""
        return _sum(_product(t, b - a) for t, a, b in zip(self.statistics(v), first, second))

    # layers and rows

    def num_uniforms(self, width: int) -> int:
        """Uniform numbers that a draw of a layer takes."""
        return width

    def values(self, width: int) -> list[np.ndarray] | None:
        """For each independent unit of a layer its values, a list of arrays (q, entries); None where they are not
        finitely many."""
        return None

    def fit(self, x: np.ndarray, smoothing: float) -> list[np.ndarray]:
        """Weights (bias, …), a list of float32 arrays, of independent units with the moments of rows.

        Args:
          x: (N, width).
          smoothing: rows of an even law, as a share of N, that are added so that nothing is infinite.
        """
        raise NotImplementedError(f"{type(self).__name__} must define fit.")

    # what follows from it

    def drawn(self, seed: Seed, num_rows: int | tf.Tensor, *law: TensorLike) -> tf.Tensor:
        """`draw` under a seed of its own, of so many rows."""
        field = law[0]
        return self.draw(random.open_uniform([num_rows, self.num_uniforms(int(field.shape[-1]))], seed), *law)

    def log_states(self, width: int) -> float:
        """log of the number of a layer's values; ∞ where they are not finitely many."""
        values = self.values(width)
        return np.inf if values is None else float(sum(np.log(len(each)) for each in values))

    # a value

    def get_config(self) -> Config:
        return {}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**config)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.get_config() == self.get_config()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.get_config().items())
        return f"{type(self).__name__}({arguments})"


def between(beta: Number, first: Sequence[TensorLike], second: Sequence[TensorLike]) -> list[tf.Tensor]:
    """(1 − β) η + β η' of two lists of natural parameters."""
    return [(1.0 - beta) * a + beta * b for a, b in zip(first, second, strict=True)]


def tempered(beta: Number, law: Sequence[TensorLike]) -> list[tf.Tensor]:
    """A law with β times the field."""
    return [beta * law[0], *law[1:]]


def registered(cls: type[_U]) -> type[_U]:
    """A kind that Keras finds again by its name."""
    return keras.saving.register_keras_serializable("tfdsmcmc.boltzmann.units")(cls)


def _product(t, eta):
    """η·t, (…,), of parameters of the layer or of each row."""
    return tf.linalg.matvec(t, eta) if eta.shape.rank == 1 else tf.reduce_sum(eta * t, -1)


def _sum(terms):
    return functools.reduce(operator.add, terms)

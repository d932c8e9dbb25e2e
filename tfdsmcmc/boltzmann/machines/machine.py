"""A restricted Boltzmann machine as a value: its weights, its densities, its transitions.

A layer is of one kind of units (`boltzmann.units`), with potentials U and, of a field x, the log-normaliser Γ(x):

    −E(v, h) = v'W h − U_v(v) − U_h(h)
    p(v, h) = exp(−E(v, h))/Z
    p(h given v) is the law of the hidden units at the field a + v'W
    p(v given h) is the law of the visible units at the field b + W h
    log p*(v) = log Σ_h exp(−E(v, h)) = −U_v(v) + Γ_h(a + v'W),      p(v) = p*(v)/Z

−log p*(v) is called the free energy of v. With W transposed and the layers exchanged the same holds of h. By default
units are binary, v ∈ {0, 1}^D and h ∈ {0, 1}^M:

    −E(v, h) = v'W h + b'v + a'h
    p(h_j = 1 given v) = σ(a_j + (v'W)_j)
    p(v_i = 1 given h) = σ(b_i + (W h)_i)
    log p*(v) = b'v + Σ_j log(1 + exp(a_j + (v'W)_j))

Sources: Salakhutdinov and Murray, "On the quantitative analysis of deep belief networks", ICML 2008, section 2;
Welling, Rosen-Zvi and Hinton, "Exponential family harmoniums with an application to information retrieval", NIPS 2004
(units of other kinds).
"""

from __future__ import annotations

import collections
import functools
from typing import TYPE_CHECKING, NamedTuple

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc.boltzmann.units import Binary
from tfdsmcmc.boltzmann.units.softplus import softplus_increment, sum_softplus

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, TensorLike, Weight
    from tfdsmcmc.boltzmann.units.base import Units

__all__ = ["Machine", "machine_type", "softplus_increment", "sum_softplus"]

_UNROLLED = 3  # Gibbs steps that are written out: the first then shares a product with whoever needs it too


class Machine(NamedTuple):
    """The weights of a restricted Boltzmann machine, tensors of one type.

    This class itself is that of binary units. `machine_type` makes that of other kinds, which has their further
    parameters as fields. The kinds belong to the class, so that a machine is a nest of tensors alone.

    Attributes:
      kernel: W, (D, M).
      bias: b, (D,), of the visible units.
      hidden_bias: a, (M,).
      visible: `Units`, the kind of the visible layer.
      hidden: `Units`, that of the hidden layer.
    """

    kernel: Weight
    bias: Weight
    hidden_bias: Weight

    if TYPE_CHECKING:  # annotated they would be fields

        @property
        def visible(self) -> Units: ...

        @property
        def hidden(self) -> Units: ...
    else:
        visible = hidden = Binary()

    def transposed(self) -> Machine:
        """The machine whose visible units are the hidden ones of this."""
        (bias, *further), (hidden_bias, *hidden_further) = self.visible_weights, self.hidden_weights
        exchanged = (hidden_bias, bias, *hidden_further, *further)
        return machine_type(self.hidden, self.visible)(tf.transpose(self.kernel), *exchanged)

    def cast(self, dtype: tf.DType) -> Machine:
        """The machine with weights of another type."""
        return self._make(tf.cast(part, dtype) for part in self)

    @property
    def visible_weights(self) -> list[Weight]:
        """The bias and further parameters of the visible units, a list."""
        return [self.bias, *self[3 : 3 + len(self.visible.parameters)]]

    @property
    def hidden_weights(self) -> list[Weight]:
        """Those of the hidden units."""
        return [self.hidden_bias, *self[3 + len(self.visible.parameters) :]]

    @property
    def visible_natural(self) -> list[Weight]:
        """Natural parameters of the visible units, a list that begins with b."""
        return self.visible.natural(*self.visible_weights)

    @property
    def hidden_natural(self) -> list[Weight]:
        """Those of the hidden units, a list that begins with a."""
        return self.hidden.natural(*self.hidden_weights)

    def hidden_logits(self, v: TensorLike) -> tf.Tensor:
        """a + v'W, (n, M), of v (n, D): the field of the hidden units, of binary ones the logits."""
        return tf.matmul(v, self.kernel) + self.hidden_bias

    def visible_logits(self, h: TensorLike) -> tf.Tensor:
        """b + W h, (n, D), of h (n, M): the field of the visible units, of binary ones the logits."""
        return tf.matmul(h, self.kernel, transpose_b=True) + self.bias

    def hidden_law(self, v: TensorLike) -> list[Weight]:
        """The law of h given v, a list of its natural parameters."""
        return [self.hidden_logits(v), *self.hidden_natural[1:]]

    def visible_law(self, h: TensorLike) -> list[Weight]:
        """The law of v given h, a list of its natural parameters."""
        return [self.visible_logits(h), *self.visible_natural[1:]]

    def energy(self, v: TensorLike, h: TensorLike) -> tf.Tensor:
        """E(v, h), (n,), of v (n, D) and h (n, M)."""
        hidden = self.hidden.log_measure(h, self.hidden_law(v))
        return -hidden - self.visible.log_measure(v, self.visible_natural)

    def unnormalized_log_prob(self, v: TensorLike) -> tf.Tensor:
        """log p*(v), (n,), of v (n, D)."""
        return self.visible.log_measure(v, self.visible_natural) + self.hidden.cumulant(*self.hidden_law(v))

    def uniforms(self, num_rows: int | tf.Tensor, seed: Seed) -> list[tf.Tensor]:
        """Numbers for a draw of the hidden and one of the visible units, (n, ·) each."""
        units, hidden_units = self.kernel.shape
        widths = [self.hidden.num_uniforms(hidden_units), self.visible.num_uniforms(units)]
        return random.open_uniforms(num_rows, widths, seed)

    def gibbs(self, v: TensorLike, steps: int | tf.Tensor, seed: Seed) -> tf.Tensor:
        """States of Gibbs chains of full steps, h given v and then v given h, all of them drawn.

        Args:
          v: (n, D), where the chains start.
          steps: T, an integer or an int32 scalar tensor.
          seed: int32 of shape (2,).

        Returns:
          (n, D).
        """
        if isinstance(steps, int) and steps <= _UNROLLED:
            for i in range(steps):
                v = self._full_step(v, random.fold(seed, i))
            return v

        def step(i, v):
            return i + 1, tf.ensure_shape(self._full_step(v, random.fold(seed, i)), v.shape)

        return loops.while_loop(lambda i, _: i < steps, step, (tf.constant(0), v))[1]

    def _full_step(self, v, seed):
        hidden, visible = self.uniforms(tf.shape(v)[0], seed)
        h = self.hidden.draw(hidden, *self.hidden_law(v))
        return self.visible.draw(visible, *self.visible_law(h))


@functools.cache
def machine_type(visible: Units, hidden: Units) -> type[Machine]:
    """The class of machines of these kinds of units, a subclass of `Machine`, and `Machine` itself of binary ones.

    Its name tells the kinds: TensorFlow takes two nests of one name and one structure for the same.

    Args:
      visible: `Units`.
      hidden: `Units`.
    """
    if visible == hidden == Machine.visible:
        return Machine
    names = [*Machine._fields, *visible.parameters, *(f"hidden_{name}" for name in hidden.parameters)]
    weights = collections.namedtuple("Weights", names)
    kinds = {"visible": visible, "hidden": hidden, "__slots__": ()}
    return type(f"Machine of {visible!r} and {hidden!r}", (weights, Machine), kinds)

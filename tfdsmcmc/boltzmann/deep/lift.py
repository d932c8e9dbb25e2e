"""Draws of the units above some machines, layer by layer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar

import tensorflow as tf

from tfdsmcmc import random

if TYPE_CHECKING:
    import keras

    from tfdsmcmc._common.types import Seed, TensorLike
    from tfdsmcmc.boltzmann.machines.rbm import RBM
    from tfdsmcmc.supports import Support


class Lift:
    """Q(h^l given v) = Π_l Π_j Bernoulli(σ(a^l + (h^{l−1})'R^l)), h^0 = v: the rows of a machine above others.

    Args:
      rbms: the machines, bottom first, each as wide as the one below has hidden units.
      kernels: the variables R^l of each; by default its W^l.

    Attributes:
      units: D, of the rows.
      support: what values their entries have.
    """

    units: int
    support: Support
    kernels: tuple[keras.Variable, ...]

    def __init__(self, rbms: Iterable[RBM], kernels: Iterable[keras.Variable] | None = None):
        self.rbms: tuple[RBM, ...] = tuple(rbms)
        self.kernels = tuple(rbm.kernel for rbm in rbms) if kernels is None else tuple(kernels)
        self.units, self.support = self.rbms[0].units, self.rbms[0].support

    def __call__(self, x: TensorLike, seed: Seed) -> tf.Tensor:
        """h^L, (n, H_L), of rows (n, D)."""
        seeds = tf.unstack(random.split(seed, len(self.rbms)))
        for rbm, kernel, each in zip(self.rbms, self.kernels, seeds):
            x = random.bernoulli(rbm.machine._replace(kernel=kernel.value).hidden_logits(x), each)
        return x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Lift) and self._parts == other._parts

    @property
    def _parts(self):
        return [id(part) for part in (*self.rbms, *self.kernels)]

    __hash__: ClassVar[None] = None

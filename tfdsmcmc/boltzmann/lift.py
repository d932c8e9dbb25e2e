"""Draws of the units above some machines, layer by layer."""

from __future__ import annotations

import tensorflow as tf

from tfdsmcmc import random


class Lift:
    """Q(h^l given v) = Π_l Π_j Bernoulli(σ(a^l + (h^{l−1})'W^l)), h^0 = v: the rows of a machine above others.

    Args:
      rbms: the machines, bottom first, each as wide as the one below has hidden units.

    Attributes:
      units: D, of the rows.
    """

    def __init__(self, rbms):
        self.rbms = tuple(rbms)
        self.units = self.rbms[0].units

    def __call__(self, x, seed):
        """h^L, (n, H_L), of rows (n, D)."""
        for rbm, each in zip(self.rbms, tf.unstack(random.split(seed, len(self.rbms)))):
            x = random.bernoulli(rbm.machine.hidden_logits(x), each)
        return x

    def __eq__(self, other):
        return isinstance(other, Lift) and [*map(id, self.rbms)] == [*map(id, other.rbms)]

    __hash__ = None

"""Gibbs sweeps over the hidden units of a deep belief network, and over the missing entries of its data.

    (Π_l p(h^{l−1} given h^l))^β · (Π_l Q(h^l given h^{l−1}))^(1 − β)        l to the topmost layer L in both

Given all else, h^l depends on its children through p(h^{l−1} given h^l) and on its parents through
p(h^l given h^{l+1}), of the topmost machine too, whose conditional law of h^{L−1} given h^L is of the same form. These
are the factors of a sigmoid belief network, whose units `gibbs_sweeps` draws one by one. The factors of Q are those of
another, upwards, and its topmost layer is drawn as the machine's own, Q(h^L given h^{L−1}) = p(h^L given h^{L−1}).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import loops
from tfdsmcmc.boltzmann.deep.stack import ascended
from tfdsmcmc.boltzmann.units import Binary
from tfdsmcmc.layers import SBN
from tfdsmcmc.networks import evaluated_at
from tfdsmcmc.sweeps.gibbs import Factor, sweep

if TYPE_CHECKING:
    import keras

    from tfdsmcmc._common.types import Number, Seed
    from tfdsmcmc.boltzmann.deep.stack import Stack
    from tfdsmcmc.boltzmann.machines.machine import Machine


def swept(stack: Stack, v: tf.Tensor, observed: tf.Tensor, steps: int | tf.Tensor, seed: Seed) -> tf.Tensor:
    """The visible units after so many sweeps at β = 1, from random bits where they are not observed.

    Args:
      stack: `Stack` of two machines or more.
      v: (n, D) float32.
      observed: (n, D) booleans.
      steps: int32 scalar.
      seed: int32 of shape (2,).
    """
    start_seed, up_seed, step_seed = tf.unstack(random.split(seed, 3))

    def kept(drawn):
        return tf.where(observed, v, drawn)

    def one(i, state):
        hidden_seed, visible_seed = tf.unstack(random.split(random.fold(step_seed, i)))
        state = sweep_hidden(stack, state, 1.0, hidden_seed)
        state[0] = kept(random.bernoulli(stack.machines[0].visible_logits(state[1]), visible_seed))
        return i + 1, state

    state = ascended(stack, kept(random.bernoulli(tf.zeros_like(v), start_seed)), up_seed)
    return loops.while_loop(lambda i, _: i < steps, one, (tf.constant(0), state))[1][0]


def sweep_hidden(stack: Stack, state: Sequence[tf.Tensor], beta: Number, seed: Seed) -> list[tf.Tensor]:
    """Draws every unit of h^1, …, h^{L−1} once, from below: a transition that leaves the product above invariant.

    Args:
      stack: `Stack` of two machines or more.
      state: [v, h^1, …, h^{L−1}]; h^L is drawn and forgotten.
      beta: β, a scalar; the number 1.0 leaves the factors of Q out.
      seed: int32 of shape (2,).
    """
    machines, state = stack.machines, list(state)
    down, up, variables = layers_of(widths_of(machines))
    factors = [Factor(layer, place, place + 1, beta) for place, layer in enumerate(down)]
    if not (isinstance(beta, float) and beta == 1.0):
        factors += [Factor(layer, place + 1, place, 1.0 - beta) for place, layer in enumerate(up)]
    top_seed, seed = tf.unstack(random.split(seed))
    top = random.bernoulli(machines[-1].hidden_logits(state[-1]), top_seed)
    with evaluated_at(variables, _weights_of(stack)):
        for place in range(1, len(machines)):
            drawn = sweep(factors, [*state, top], place, random.fold(seed, place))
            state[place] = tf.ensure_shape(drawn, state[place].shape)
    return state


@functools.cache
def layers_of(widths: tuple[int, ...]) -> tuple[list[SBN], list[SBN], list[keras.Variable]]:
    """(layers of p(h^{l−1} given h^l), layers of Q(h^l given h^{l−1}), their variables), for l to L.

    The variables hold nothing: `evaluated_at` gives them their values.

    Args:
      widths: D, H_1, …, H_L; a first call for them is made outside of programs, which may not make variables.
    """
    pairs = [*zip(widths, widths[1:]), *zip(widths[1:], widths)]
    layers = [SBN(units, kernel_initializer="zeros") for units, _ in pairs]
    for layer, (_, parents) in zip(layers, pairs):
        layer.build((None, parents))
    count = len(widths) - 1
    return layers[:count], layers[count:], [part for layer in layers for part in (layer.kernel, layer.bias)]


def widths_of(machines: Sequence[Machine]) -> tuple[int, ...]:
    """D, H_1, …, H_L, of machines of binary units alone, as these sweeps take them."""
    check_binary("Gibbs sweeps of a deep belief network's units, and its export,", machines)
    return tuple(int(n) for n in (machines[0].kernel.shape[0], *(machine.kernel.shape[1] for machine in machines)))


def check_binary(what: str, machines: Sequence[Machine]) -> None:
    """Raises a ValueError for machines with other than binary units."""
    kinds = [(machine.visible, machine.hidden) for machine in machines]
    if other := [kind for pair in kinds for kind in pair if kind != Binary()]:
        raise ValueError(f"{what} take binary units alone. Received: {other[0]!r}")


def _weights_of(stack):
    """The values of these variables."""
    down = [part for machine in stack.machines for part in (tf.transpose(machine.kernel), machine.bias)]
    kernels = [*stack.recognition, stack.machines[-1].kernel]
    return down + [part for kernel, machine in zip(kernels, stack.machines) for part in (kernel, machine.hidden_bias)]

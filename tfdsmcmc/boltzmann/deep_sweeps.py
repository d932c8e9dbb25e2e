"""Gibbs sweeps over the hidden units of a deep belief network, and over the missing entries of its data.

Given all else, h^l depends on its children through p(h^{l−1} given h^l) and on its parents through
p(h^l given h^{l+1}), of the topmost machine too, whose conditional law of h^{L−1} given h^L is of the same form. These
are the factors of a sigmoid belief network, whose units `gibbs_sweeps` draws one by one.
"""

from __future__ import annotations

import functools

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.gibbs_sweeps import Factor, sweep
from tfdsmcmc.layers import SBN
from tfdsmcmc.networks import evaluated_at


def swept(machines, v, observed, steps, seed):
    """The visible units after so many sweeps, from random bits where they are not observed.

    Args:
      machines: list of two `Machine`s or more, bottom first.
      v: (n, D) float32.
      observed: (n, D) booleans.
      steps: int32 scalar.
      seed: int32 of shape (2,).
    """
    layers, variables = directed(widths_of(machines))
    start_seed, up_seed, step_seed = tf.unstack(random.split(seed, 3))

    def kept(drawn):
        return tf.where(observed, v, drawn)

    def one(i, state):
        return i + 1, _sweep(machines, factors, kept, state, random.fold(step_seed, i))

    factors = [Factor(layer, place, place + 1) for place, layer in enumerate(layers)]
    state = [kept(random.bernoulli(tf.zeros_like(v), start_seed))]
    for place, machine in enumerate(machines):
        state.append(random.bernoulli(machine.hidden_logits(state[-1]), random.fold(up_seed, place)))
    transposed = [part for machine in machines for part in (tf.transpose(machine.kernel), machine.bias)]
    with evaluated_at(variables, transposed):
        return tf.while_loop(lambda i, _: i < steps, one, (tf.constant(0), state))[1][0]


def _sweep(machines, factors, kept, state, seed):
    """Every h^l from below, then the visible units."""
    state = list(state)
    for place in range(1, len(machines)):
        drawn = sweep(factors, state, place, random.fold(seed, place))
        state[place] = tf.ensure_shape(drawn, state[place].shape)
    top_seed, visible_seed = (random.fold(seed, len(machines) + i) for i in range(2))
    state[-1] = random.bernoulli(machines[-1].hidden_logits(state[-2]), top_seed)
    state[0] = kept(random.bernoulli(machines[0].visible_logits(state[1]), visible_seed))
    return state


@functools.cache
def directed(widths):
    """(a layer of p(h^{l−1} given h^l) for each machine, their variables), which `evaluated_at` gives their values.

    Args:
      widths: D, H_1, …, H_L; a first call for them is made outside of programs, which may not make variables.
    """
    layers = [SBN(units, kernel_initializer="zeros") for units in widths[:-1]]
    for layer, parents in zip(layers, widths[1:]):
        layer.build((None, parents))
    return layers, [variable for layer in layers for variable in (layer.kernel, layer.bias)]


def widths_of(machines):
    """D, H_1, …, H_L."""
    return tuple(int(n) for n in (machines[0].kernel.shape[0], *(machine.kernel.shape[1] for machine in machines)))

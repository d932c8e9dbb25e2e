"""The densities of a deep belief network as functions of its machines, bottom first.

With L machines, h^0 = v, and of the topmost p*_top(h^{L−1}) = Σ_{h^L} exp(−E_L(h^{L−1}, h^L)),

    p(v, h^1, …, h^{L−1}) = Π_{l<L} p(h^{l−1} given h^l) · p*_top(h^{L−1})/Z_top
    p(h^{l−1} given h^l) = Π_i Bernoulli(σ(b^l + W^l h^l)_i)
    Q(h^l given h^{l−1}) = Π_j Bernoulli(σ(a^l + (h^{l−1})'R^l)_j),      R^l = W^l while machines are learnt one by one

The hidden biases a^l of the lower machines serve Q alone, and so do the R^l where they are weights of their own (see
`boltzmann.deep.wake_sleep`). With l̂ = Σ_{l<L} log p(h^{l−1} given h^l)
+ log p*_top(h^{L−1}),

    B(v) = E_Q[l̂ + Σ_{l<L} H(Q(h^l given h^{l−1}))] − log Z_top ≤ log p(v)

of which the entropies H are known given h^{l−1}; and with weights w = exp(l̂)/Π_l Q(h^l given h^{l−1}) of draws from Q

    log (1/K) Σ_k w_k − log Z_top

lies between the two in expectation, and at log p(v) as K → ∞.

Sources: Hinton, Osindero and Teh, "A fast learning algorithm for deep belief nets", Neural Computation 18 (2006);
Salakhutdinov and Murray, "On the quantitative analysis of deep belief networks", ICML 2008, section 4.2.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.boltzmann.machines.machine import sum_softplus
from tfdsmcmc.distributions.independent_bernoulli import bernoulli_log_prob

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed, Weight
    from tfdsmcmc.boltzmann.machines.machine import Machine


class Stack(NamedTuple):
    """The weights of a deep belief network.

    Attributes:
      machines: list of `Machine`, bottom first.
      recognition: list of R^l, (D, H_1), …, of all machines but the topmost.
    """

    machines: list[Machine]
    recognition: Sequence[Weight]

    def upward_logits(self, level: int, below: tf.Tensor) -> tf.Tensor:
        """a^l + (h^{l−1})'R^l, (n, H_l), of the machine at a place from 0."""
        return tf.matmul(below, self.recognition[level]) + self.machines[level].hidden_bias


def ascended(stack: Stack, v: tf.Tensor, seed: Seed) -> list[tf.Tensor]:
    """Draws from Q for each row of v, (n, D): [v, h^1, …, h^{L−1}]."""
    states = [v]
    for level in range(len(stack.machines) - 1):
        states.append(random.bernoulli(stack.upward_logits(level, states[-1]), random.fold(seed, level)))
    return states


def heights(stack: Stack, states: Sequence[tf.Tensor]) -> tf.Tensor:
    """l̂, (n,), of states [v, h^1, …, h^{L−1}]."""
    log_p = stack.machines[-1].unnormalized_log_prob(states[-1])
    for machine, below, above in zip(stack.machines, states, states[1:]):
        log_p += machine.visible.log_prob(below, *machine.visible_law(above))
    return log_p


def recognised(stack: Stack, states: Sequence[tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
    """(Σ_l log Q(h^l given h^{l−1}), Σ_l H(Q(h^l given h^{l−1}))), (n,) each, of such states."""
    log_q = entropy = tf.zeros(tf.shape(states[0])[0])
    for level, (below, above) in enumerate(zip(states, states[1:])):
        logits = stack.upward_logits(level, below)
        log_q += bernoulli_log_prob(above, logits)
        entropy += sum_softplus(logits) - tf.reduce_sum(logits * tf.sigmoid(logits), -1)
    return log_q, entropy


def bound_terms(stack: Stack, v: tf.Tensor, num_samples: int | tf.Tensor, seed: Seed) -> tf.Tensor:
    """l̂ plus the entropies for draws from Q, (M, n)."""
    states = ascended(stack, tf.tile(v, [num_samples, 1]), seed)
    return tf.reshape(heights(stack, states) + recognised(stack, states)[1], [num_samples, -1])


def log_weights(stack: Stack, v: tf.Tensor, num_samples: int | tf.Tensor, seed: Seed) -> tf.Tensor:
    """log w of draws from Q, (K, n)."""
    states = ascended(stack, tf.tile(v, [num_samples, 1]), seed)
    return tf.reshape(heights(stack, states) - recognised(stack, states)[0], [num_samples, -1])


def dreamt(machines: Sequence[Machine], h: tf.Tensor, seed: Seed) -> list[tf.Tensor]:
    """One pass down from draws h of the topmost machine's visible units: [v, h^1, …, h^{L−1}], the last as given."""
    return _passed_down(machines, h, seed)[0]


def descended(machines: Sequence[Machine], h: tf.Tensor, seed: Seed) -> tuple[tf.Tensor, tf.Tensor]:
    """The end of such a pass: (v, E[v given h^1]), (n, D) each.

    Of a single machine h is v itself, and its means are not known: v comes twice.
    """
    states, law = _passed_down(machines, h, seed)
    return states[0], h if law is None else machines[0].visible.mean(*law)


def _passed_down(machines, h, seed):
    """(the states of `dreamt`, the law that v was drawn by or None)."""
    states, law = [h], None
    for level, machine in reversed(list(enumerate(machines[:-1]))):
        law = machine.visible_law(states[0])
        states.insert(0, machine.visible.drawn(random.fold(seed, level), tf.shape(h)[0], *law))
    return states, law

"""The densities of a deep belief network as functions of its machines, bottom first.

With L machines, h^0 = v, and of the topmost p*_top(h^{L−1}) = Σ_{h^L} exp(−E_L(h^{L−1}, h^L)),

    p(v, h^1, …, h^{L−1}) = Π_{l<L} p(h^{l−1} given h^l) · p*_top(h^{L−1})/Z_top
    p(h^{l−1} given h^l) = Π_i Bernoulli(σ(b^l + W^l h^l)_i)
    Q(h^l given h^{l−1}) = Π_j Bernoulli(σ(a^l + (h^{l−1})'W^l)_j)

The hidden biases a^l of the lower machines serve Q alone. With l̂ = Σ_{l<L} log p(h^{l−1} given h^l)
+ log p*_top(h^{L−1}),

    B(v) = E_Q[l̂ + Σ_{l<L} H(Q(h^l given h^{l−1}))] − log Z_top ≤ log p(v)

of which the entropies H are known given h^{l−1}; and with weights w = exp(l̂)/Π_l Q(h^l given h^{l−1}) of draws from Q

    log (1/K) Σ_k w_k − log Z_top

lies between the two in expectation, and at log p(v) as K → ∞.

Sources: Hinton, Osindero and Teh, "A fast learning algorithm for deep belief nets", Neural Computation 18 (2006);
Salakhutdinov and Murray, "On the quantitative analysis of deep belief networks", ICML 2008, section 4.3.
"""

from __future__ import annotations

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.boltzmann.machine import sum_softplus
from tfdsmcmc.distributions.independent_bernoulli import bernoulli_log_prob


def climbed(machines, v, seed):
    """Draws from Q for each row of v, (n, D).

    Returns:
      (l̂, Σ_l H(Q(h^l given h^{l−1})), Σ_l log Q(h^l given h^{l−1})), (n,) each.
    """
    below, entropy, log_q = v, tf.zeros(tf.shape(v)[0]), tf.zeros(tf.shape(v)[0])
    log_p = tf.zeros(tf.shape(v)[0])
    for level, machine in enumerate(machines[:-1]):
        logits = machine.hidden_logits(below)
        h = random.bernoulli(logits, random.fold(seed, level))
        entropy += sum_softplus(logits) - tf.reduce_sum(logits * tf.sigmoid(logits), -1)
        log_q += bernoulli_log_prob(h, logits)
        log_p += bernoulli_log_prob(below, machine.visible_logits(h))
        below = h
    return log_p + machines[-1].unnormalized_log_prob(below), entropy, log_q


def bound_terms(machines, v, num_samples, seed):
    """l̂ plus the entropies for draws from Q, (M, n)."""
    return _tiled(lambda height, entropy, log_q: height + entropy, machines, v, num_samples, seed)


def log_weights(machines, v, num_samples, seed):
    """log w of draws from Q, (K, n)."""
    return _tiled(lambda height, entropy, log_q: height - log_q, machines, v, num_samples, seed)


def descended(machines, h, seed):
    """One pass down from draws h of the topmost machine's visible units: (v, p(v given h^1)), (n, D) each.

    Of a single machine h is v itself, and its means are not known: v comes twice.
    """
    means = h
    for level, machine in reversed(list(enumerate(machines[:-1]))):
        logits = machine.visible_logits(h)
        means, h = tf.sigmoid(logits), random.bernoulli(logits, random.fold(seed, level))
    return h, means


def _tiled(combined, machines, v, num_samples, seed):
    found = combined(*climbed(machines, tf.tile(v, [num_samples, 1]), seed))
    return tf.reshape(found, [num_samples, -1])

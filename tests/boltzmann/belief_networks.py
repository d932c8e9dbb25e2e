"""Deep belief networks of asymmetric weights, and what enumeration of all hidden units says of them."""

import itertools

import numpy as np

from tests.boltzmann.oracle import Enumerated, tiny_rbm
from tests.oracles import binary_states, log_bernoulli, log_sum, sigmoid
from tfdsmcmc.boltzmann import DBN

ROWS = np.random.default_rng(0).integers(0, 2, (10, 3)).astype(np.uint8)
V = binary_states(3)
WIDTHS = [(3, 2, 3), (3, 2, 2, 2), (3, 2)]


def tiny_dbn(widths=(3, 2, 3), scale=1.2, own_recognition=False):
    """A network of asymmetric weights; those of its recognition are its own, and differ, where asked."""
    rbms = [tiny_rbm(*pair, seed=seed, scale=scale) for seed, pair in enumerate(zip(widths, widths[1:]))]
    dbn = DBN(rbms, own_recognition)
    for seed, kernel in enumerate(dbn.recognition_kernels if own_recognition else ()):
        kernel.assign(np.random.default_rng(100 + seed).normal(0.2, scale, kernel.shape))
    return dbn


class Truth:
    """log p(v) and the bound B(v) of every v, (2^D,), in float64."""

    def __init__(self, dbn):
        machines, kernels = [Enumerated(machine) for machine in dbn.machines], [*map(np.float64, dbn.stack.recognition)]
        top = machines[-1]
        self.log_z = top.log_z
        layers = [binary_states(len(machine.bias)) for machine in machines]
        terms, log_q = [], []
        for places in itertools.product(*(range(len(layer)) for layer in layers[1:])):
            h = [layer[place] for layer, place in zip(layers[1:], places)]
            below, log_p, q, entropy = layers[0], 0.0, 0.0, 0.0
            for machine, kernel, above in zip(machines, kernels, h):
                log_p = log_p + log_bernoulli(below, machine.bias + machine.kernel @ above)
                p = sigmoid(machine.hidden_bias + below @ kernel)
                entropy = entropy - (p * np.log(p) + (1 - p) * np.log1p(-p)).sum(-1)
                q = q + np.log(np.where(above == 1, p, 1 - p)).sum(-1)
                below = above
            at = places[-1] if places else np.arange(len(layers[0]))
            terms.append(log_p + top.log_unnormalized[at] + np.zeros(len(layers[0])))
            log_q.append(q + np.zeros(len(layers[0])))
            terms[-1] = np.stack([terms[-1], terms[-1] + entropy])
        terms, log_q = np.stack(terms), np.stack(log_q)
        self.log_p = log_sum(terms[:, 0]) - self.log_z
        self.bound = (np.exp(log_q) * terms[:, 1]).sum(0) - self.log_z
        self.q, self.terms = np.exp(log_q), terms[:, 1] - self.log_z

"""Exact answers for tiny sigmoid belief networks: enumeration of every latent state, float64, NumPy alone.

The oracle reads the weight arrays of the networks and shares no other code with the package. Arrays over latent
states have S = 2^(number of latent units) rows; `Oracle.z` lists the states, nearest to the data first. Gradients
are lists in the order of the networks' trainable variables: kernel and bias, layer by layer.
"""

from __future__ import annotations

import itertools

import numpy as np
import scipy.special
import tensorflow_probability as tfp

import tfdsmcmc as ds


def binary_states(units):
    """Every vector of {0, 1}^units, (2^units, units), the first unit changing slowest."""
    return (np.arange(2**units)[:, None] >> np.arange(units)[::-1]) & 1


def state_numbers(values):
    """The row of `binary_states` at which each vector of zeros and ones stands."""
    values = np.asarray(values).astype(np.int64)
    return values @ (1 << np.arange(values.shape[-1])[::-1])


def flat(parts, axes=0):
    """A list of arrays as one, all axes but the first ones flattened."""
    parts = [np.asarray(part) for part in parts]
    return np.concatenate([part.reshape(*part.shape[:axes], -1) for part in parts], -1)


def log_bernoulli(y, logits):
    """Σ_j log Bernoulli(y_j; σ(logits_j)) over the last axis."""
    return -np.logaddexp(0.0, (1 - 2 * np.asarray(y, np.float64)) * logits).sum(-1)


def log_sum(values, axis=0):
    """log Σ exp over an axis."""
    return np.logaddexp.reduce(values, axis)


def sigmoid(logits):
    return np.exp(-np.logaddexp(0.0, -np.asarray(logits, np.float64)))


PUBLISHED_PRIOR = tfp.distributions.StudentT(df=2.2, loc=0.0, scale=0.09)


def tiny_model(latent_units=(2,), units=3, seed=0, scale=1.2, **arguments):
    """A model of SBN layers with asymmetric random weights.

    Args:
      latent_units: widths, nearest to the data first.
      units: width of the data.
      seed: of the weights.
      scale: standard deviation of the weights.
      **arguments: of `DeepGenerativeModel`; the prior is by default the published one, which has no scales to draw.
    """
    widths = [*reversed(latent_units), units]
    if arguments.get("prior") is None:
        arguments["prior"] = PUBLISHED_PRIOR
    model = ds.DeepGenerativeModel(
        generative=ds.GenerativeNetwork([ds.layers.SBN(width) for width in widths]),
        recognition=ds.RecognitionNetwork([ds.layers.SBN(width) for width in latent_units]),
        **arguments,
    )
    randomize(model, seed, scale)
    return model


def randomize(layer, seed=0, scale=1.2):
    """Gives the weights of a built layer, network or model asymmetric random values."""
    rng = np.random.default_rng(seed)
    for variable in layer.trainable_variables:
        variable.assign(rng.normal(0.3, scale, variable.shape))


def self_normalized(log_q, log_weights, values, num_samples):
    """Exact mean and standard deviation of Σ_k w_k v(z_k) / Σ_k w_k over K independent draws z_k ~ q.

    All multisets of K states are enumerated.

    Args:
      log_q: (S,), log q of each state.
      log_weights: (S,), log w of each state.
      values: (S, …), v of each state.
      num_samples: K.

    Returns:
      (mean, standard deviation), each (…).
    """
    counts, p = multisets(log_q, num_samples)
    weights = counts * np.exp(log_weights - log_weights.max())
    estimates = np.tensordot(weights / weights.sum(1, keepdims=True), values, 1)
    mean = np.tensordot(p, estimates, 1)
    return mean, np.sqrt(np.tensordot(p, (estimates - mean) ** 2, 1))


def multisets(log_q, num_samples):
    """How often each state can come up in K independent draws from q: counts (M, S) and their probabilities (M,)."""
    states = len(log_q)
    draws = np.array(list(itertools.combinations_with_replacement(range(states), num_samples)))
    counts = (draws[:, :, None] == np.arange(states)).sum(1)
    log_p = counts @ log_q + scipy.special.gammaln(num_samples + 1) - scipy.special.gammaln(counts + 1).sum(1)
    return counts, np.exp(log_p)


def self_normalized_limit(log_q, log_weights, values, num_samples):
    """The same for large K, to the leading order: v̄ − Σ q w² (v − v̄) / K and √(Σ q w² (v − v̄)² / K), where
    Σ q w = 1 and v̄ = Σ q w v (Owen 2013, section 9.2).

    Args:
      log_q: (S, n), rows side by side.
      log_weights: (S, n).
      values: (S, n, m).
      num_samples: K.

    Returns:
      (mean, standard deviation), each (n, m).
    """
    p = np.exp(log_q + log_weights - log_sum(log_q + log_weights))
    ratio = p**2 / np.exp(log_q) / num_samples
    assert 1 / ratio.sum(0).max() > 500, "too few effective samples for the leading order"
    centred = values - np.einsum("sn,snm->nm", p, values)
    mean = np.einsum("sn,snm->nm", p, values) - np.einsum("sn,snm->nm", ratio, centred)
    return mean, np.sqrt(np.einsum("sn,snm->nm", ratio, centred**2))


class Oracle:
    """Exact quantities of a model of SBN layers at its present weights.

    Args:
      model: anything with `generative` and, for q, `recognition`.

    Attributes:
      z: list of arrays (S, H_l), nearest to the data first.
    """

    def __init__(self, model):
        self.theta = _weights(model.generative)
        self.phi = _weights(model.recognition)
        self.units = self.theta[-1][1].size
        widths = [bias.size for _, bias in self.theta[-2::-1]]
        self.z = np.split(binary_states(sum(widths)), np.cumsum(widths)[:-1], axis=1)

    def state(self, z):
        """Which of the S states each draw is, for z a list of arrays (…, H_l)."""
        return state_numbers(np.concatenate([np.asarray(part) for part in z], -1))

    # ---- the generative network

    def log_joint(self, x):
        """log p(x, z), (S, n)."""
        x = np.asarray(x, np.float64)
        pairs = self._generative_pairs(x)
        return sum(log_bernoulli(y, parents @ w + b) for y, parents, (w, b) in pairs)

    def log_likelihood(self, x):
        """log p(x), (n,)."""
        return log_sum(self.log_joint(x))

    def posterior(self, x):
        """p(z given x), (S, n)."""
        joint = self.log_joint(x)
        return np.exp(joint - log_sum(joint))

    def joint_gradient(self, x):
        """∇ log p(x, z) in θ: list of arrays (S, n, …)."""
        return _gradients(self._generative_pairs(np.asarray(x, np.float64)), len(self.z[0]), len(x))

    def likelihood_gradient(self, x):
        """∇ log p(x) in θ: list of arrays (n, …)."""
        posterior = self.posterior(x)
        return [np.einsum("sn,sn...->n...", posterior, g) for g in self.joint_gradient(x)]

    def missing(self, x, mask):
        """p(x_missing given x_observed) of one row.

        Args:
          x: (D,).
          mask: (D,), True where x is observed.

        Returns:
          (rows, probabilities): every completion of x and its probability.
        """
        mask = np.asarray(mask, bool)
        completions = binary_states(int((~mask).sum()))
        rows = np.repeat(np.asarray(x, np.float64)[None], len(completions), 0)
        rows[:, ~mask] = completions
        log_p = self.log_likelihood(rows)
        return rows, np.exp(log_p - log_sum(log_p))

    def _generative_pairs(self, x):
        """(value, parents, weights) of each layer, top first; arrays broadcast to (S, n, units)."""
        values = [*(part[:, None] for part in reversed(self.z)), x[None]]
        parents = [np.zeros((1, 1, 0)), *values[:-1]]
        return list(zip(values, parents, self.theta))

    # ---- the recognition network

    def log_q(self, x):
        """log q(z given x), (S, n)."""
        return sum(log_bernoulli(y, above @ w + b) for y, above, (w, b) in self._recognition_pairs(x))

    def log_weights(self, x, latent_power=1.0):
        """log p(x given z_1) + Σ_l β^l (log p(z_l given z_{l+1}) − log q(z_l given z_{l−1})), (S, n)."""
        likelihood, *p = (log_bernoulli(y, above @ w + b) for y, above, (w, b) in reversed(self._generative_pairs(x)))
        q = [log_bernoulli(y, above @ w + b) for y, above, (w, b) in self._recognition_pairs(x)]
        return likelihood + sum(latent_power**i * (p[i - 1] - q[i - 1]) for i in range(1, len(q) + 1))

    def relative_weights(self, x):
        """Of the importance weight w/p(x), whose mean is 1: its standard deviation and its largest value, (n,)."""
        ratio = np.exp(self.log_weights(x) - self.log_likelihood(x))
        return np.sqrt((np.exp(self.log_q(x)) * ratio**2).sum(0) - 1), ratio.max(0)

    def q_gradient(self, x):
        """∇ log q(z given x) in φ: list of arrays (S, n, …)."""
        return _gradients(self._recognition_pairs(x), len(self.z[0]), len(x))

    def wake_gradient(self, x):
        """E[∇ log q(z given x) given x] in φ, z from the exact posterior: list of arrays (n, …)."""
        posterior = self.posterior(x)
        return [np.einsum("sn,sn...->n...", posterior, g) for g in self.q_gradient(x)]

    def elbo(self, x):
        """E_q[log p(x, z) − log q(z given x)], (n,)."""
        return (np.exp(self.log_q(x)) * self.log_weights(x)).sum(0)

    def elbo_gradient(self, x):
        """∇ of `elbo` in φ: list of arrays (n, …)."""
        weighted = np.exp(self.log_q(x)) * self.log_weights(x)
        return [np.einsum("sn,sn...->n...", weighted, g) for g in self.q_gradient(x)]

    def _recognition_pairs(self, x):
        values = [part[:, None] for part in self.z]
        parents = [np.asarray(x, np.float64)[None], *values[:-1]]
        return list(zip(values, parents, self.phi))


def _weights(network):
    return [tuple(part.numpy().astype(np.float64) for part in (la.kernel, la.bias)) for la in network.layers]


def _gradients(pairs, states, rows):
    gradients = []
    for y, parents, (w, b) in pairs:
        residual = np.broadcast_to(y - sigmoid(parents @ w + b), (states, rows, b.size))
        parents = np.broadcast_to(parents, (states, rows, w.shape[0]))
        gradients += [parents[..., :, None] * residual[..., None, :], residual]
    return gradients

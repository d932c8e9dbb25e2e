"""The stationary law of a kernel on one weight, without Monte Carlo: its transition operator by Gauss quadrature.

A step maps (θ, v) and two standard normal draws, the gradient's ε and the kernel's ε', to (θ', v'). The operator
(P f)(θ, v) = E f(θ', v') is written in products of polynomials, orthonormal in θ under the target π and in the
scaled momentum under N(0, 1), from the kernel's own steps at the nodes of the Gauss rules. The stationary moments m of
these functions satisfy m = m P with first entry 1.

The log target is −θ²/2 + cos(2θ)/2, whose gradient −θ − sin 2θ is Lipschitz, as a stationary law at a finite step
needs; T = 1, ℓ = h², and per unit of time the friction is 1.
"""

from __future__ import annotations

import numpy as np
import scipy.optimize
import tensorflow as tf

from tests.mcmc.chains import inject_noise
from tfdsmcmc import mcmc

GRID = np.linspace(-9.0, 9.0, 4001)
DENSITY = np.exp(-(GRID**2) / 2 + np.cos(2 * GRID) / 2)
DENSITY /= DENSITY.sum()
EXACT_VARIANCE = DENSITY @ GRID**2


def gradient(theta):
    return -theta - np.sin(2 * theta)


class Stationary:
    """Stationary expectations of a momentum kernel at step h.

    Args:
      monkeypatch: pytest's.
      cls: SGHMC or SGNHT.
      integrator: its integrator.
      h: √ℓ; the friction a is h.
      noise: standard deviation of the gradient noise.
      thermostat: for SGNHT the value at which a heavy thermostat is held.
      degrees: numbers of polynomials in θ and in the momentum. The bias of E θ² differs by less than 1 % from
        that with more of them; with (16, 10) by less than 3 %, and by 0.5 % under gradient noise.

    Attributes:
      variance: E θ².
      kinetic_temperature: E v²/η.
      drift: for SGNHT the mean of (ξ' − ξ) μ/η.
    """

    def __init__(self, monkeypatch, cls, integrator, h, noise=0.0, thermostat=None, degrees=(24, 14)):
        mass = {} if thermostat is None else {"thermostat_mass": 1e6}
        theta_family = orthonormal_recurrence(GRID, DENSITY, 3 * degrees[0])
        momentum_family = (np.zeros(3 * degrees[1]), np.sqrt(np.arange(3 * degrees[1])))
        t, t_weights = gauss_rule(*theta_family)
        p, p_weights = gauss_rule(*momentum_family)
        e, e_weights = gauss_rule(*(axis[:7] for axis in momentum_family))
        theta, momentum, kick, injected = np.meshgrid(t, p, e if noise else [0.0], e, indexing="ij")
        noise_weights = np.multiply.outer(e_weights if noise else [1.0], e_weights)

        inject_noise(monkeypatch, cls, injected)
        rate = tf.constant(h * h, tf.float64)
        kernel = cls(lambda x, seed: gradient(x) + noise * kick, rate, friction=h, integrator=integrator, **mass)
        # the splitting's v belongs half a kick earlier than θ
        half = h * h / 2 if integrator == "splitting" else 0.0
        results = kernel.bootstrap_results(tf.constant(theta))
        results = results._replace(momentum=tf.constant(h * momentum - half * gradient(theta)))
        if mass:
            results = results._replace(thermostat=tf.constant(np.full(theta.shape, thermostat)))
        new_theta, new_results = kernel.one_step(tf.constant(theta), results, seed=0)
        new_theta, new_momentum = new_theta.numpy(), new_results.momentum.numpy()

        functions = [
            evaluate(new_theta, theta_family, degrees[0]),
            evaluate((new_momentum + half * gradient(new_theta)) / h, momentum_family, degrees[1]),
        ]
        images = np.einsum("tpabi,tpabj,ab->tpij", *functions, noise_weights, optimize=True)
        bases = evaluate(t, theta_family, degrees[0]), evaluate(p, momentum_family, degrees[1])
        self._project = [basis * weights[:, None] for basis, weights in zip(bases, (t_weights, p_weights))]
        size = degrees[0] * degrees[1]
        operator = np.einsum("tk,pl,tpij->klij", *self._project, images, optimize=True).reshape(size, size)
        equations = np.eye(size) - operator.T
        equations[0] = np.eye(size)[0]
        self._moments = np.linalg.solve(equations, np.eye(size)[0])

        def mean(values):
            return self._moments @ self._coefficients(np.einsum("tpab,ab->tp", values, noise_weights))

        self.variance = mean(theta**2)
        self.kinetic_temperature = mean(new_momentum**2) / h**2
        if mass:
            self.drift = mean(new_results.thermostat.numpy() - thermostat) * mass["thermostat_mass"] / h**2

    def _coefficients(self, values):
        return np.einsum("tk,pl,tp->kl", *self._project, values, optimize=True).ravel()


def balanced(monkeypatch, integrator, h, noise):
    """The `Stationary` of SGNHT with a heavy thermostat, held where its mean drift vanishes."""

    def at(thermostat):
        return Stationary(monkeypatch, mcmc.SGNHT, integrator, h, noise, thermostat, degrees=(16, 10))

    return at(scipy.optimize.newton(lambda thermostat: at(thermostat).drift, 2.05 * h, x1=2.1 * h, tol=1e-4 * h))


def orthonormal_recurrence(points, weights, count):
    """(α, √β) of x p_k = √β_{k+1} p_{k+1} + α_k p_k + √β_k p_{k−1}, by Stieltjes' procedure; √β_0 = 0."""
    alpha, beta = np.zeros(count), np.zeros(count)
    previous, current = np.zeros_like(points), np.ones_like(points)
    for k in range(count):
        alpha[k] = weights @ (points * current**2)
        following = (points - alpha[k]) * current - beta[k] * previous
        norm = np.sqrt(weights @ following**2)
        previous, current = current, following / norm
        if k + 1 < count:
            beta[k + 1] = norm
    return alpha, beta


def gauss_rule(alpha, beta):
    """Nodes and weights of the Gauss rule, by Golub and Welsch."""
    nodes, vectors = np.linalg.eigh(np.diag(alpha) + np.diag(beta[1:], 1) + np.diag(beta[1:], -1))
    return nodes, vectors[0] ** 2


def evaluate(x, family, count):
    """The first polynomials of a family at x, on a new last axis."""
    alpha, beta = family
    values = [np.ones_like(x)]
    for k in range(count - 1):
        lower = beta[k] * values[k - 1] if k else 0.0
        values.append(((x - alpha[k]) * values[k] - lower) / beta[k + 1])
    return np.stack(values, -1)

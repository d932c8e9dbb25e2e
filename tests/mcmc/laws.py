"""The laws of the chains on a Gaussian log target −λθ²/2, derived by hand from the kernels' equations.

The gradient carries independent noise of standard deviation s; ε and ε' are the standard normal draws of the
gradient and of the kernel. With a constant friction ξ a step is linear in (θ, v, ε, ε'), k = ℓλ, c = exp(−ξ):

    splitting   w = v − kθ + ℓsε                    θ' = θ + (w + v')/2,    v' = c w + σε',    σ² = aη (1 − c²)/ξ
    Euler       v' = (1 − ξ) v − kθ + ℓsε + √(2aη) ε',    θ' = θ + v'

SGHMC is the case ξ = a. The covariance C of (θ, v) is carried from step to step by C ← M C Mᵀ + B Bᵀ, and the
stationary one solves the discrete Lyapunov equation. Where SGHMC makes up for gradient noise of variance ŝ², σ² is
less by ¼(1 + c)²ℓ²ŝ² in the splitting and 2aη by ℓ²ŝ² in Euler.

SGNHT with a heavy thermostat keeps ξ where the thermostat's mean drift vanishes: E v'² = η for Euler, and
(E w² + E v'²)/2 = η for the splitting, whose two half steps see w and v'.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
import scipy.optimize


def one_step_map(integrator, rate, curvature, temperature, friction, noise=0.0, thermostat=None, removed=0.0):
    """(M, B): (θ', v') = M (θ, v) + B (ε, ε'). The thermostat is ξ, by default the friction a; `removed` is ŝ²."""
    xi = friction if thermostat is None else thermostat
    k, eta = rate * curvature, rate * temperature
    if integrator == "euler":
        kick, injected = rate * noise, np.sqrt(2 * friction * eta - rate**2 * removed)
        return np.array([[1 - k, 1 - xi], [-k, 1 - xi]]), np.array([[kick, injected], [kick, injected]])
    c = np.exp(-xi)
    sigma = np.sqrt(friction * eta * (1 - c**2) / xi - ((1 + c) / 2 * rate) ** 2 * removed)
    kicked = np.array([-k, 1.0])  # w without its noise
    matrix = np.array([[1, 0] + (1 + c) / 2 * kicked, c * kicked])
    return matrix, np.array([[(1 + c) / 2 * rate * noise, sigma / 2], [c * rate * noise, sigma]])


def stationary_covariance(*args, **kwargs):
    """The covariance of (θ, v) in the long run, of the arguments of `one_step_map`."""
    matrix, noise = one_step_map(*args, **kwargs)
    assert np.abs(np.linalg.eigvals(matrix)).max() < 1, "the chain is not stable"
    return scipy.linalg.solve_discrete_lyapunov(matrix, noise @ noise.T)


def covariance_after(steps, start, *args, **kwargs):
    """The covariance of (θ, v) after some steps from a given one."""
    matrix, noise = one_step_map(*args, **kwargs)
    covariance = start
    for _ in range(steps):
        covariance = matrix @ covariance @ matrix.T + noise @ noise.T
    return covariance


def estimated_noise(steps, decay, integrator, rate, curvature, temperature, friction, noise):
    """(E ŝ², covariance of (θ, v)) after some steps of SGHMC that estimates the noise, from θ = 0, v ~ N(0, η).

    The step after (θ, v) changes the gradient by s(ε₁ − ε) − λ(θ' − θ), where ε is the kick's own draw and in θ' too.
    ŝ² is linear in the squares of these changes, and as long as no injected variance is cut off at 0 it is linear in
    ŝ²: so the expectations of ŝ² and of the squares of the state are carried on exactly.
    """
    estimate, squared_change, covariance = 0.0, 0.0, np.diag([0.0, rate * temperature])
    for step in range(steps):
        if step:
            estimate += max(1 - decay, 1 / step) * (0.5 * squared_change - estimate)
        law = (integrator, rate, curvature, temperature, friction, noise)
        matrix, columns = one_step_map(*law, removed=estimate)
        shift = curvature * (matrix[0] - np.array([1, 0]))
        own = np.array([noise, 0]) + curvature * columns[0]
        squared_change = noise**2 + shift @ covariance @ shift + own @ own
        covariance = matrix @ covariance @ matrix.T + columns @ columns.T
    return estimate, covariance


def balanced_thermostat(integrator, rate, curvature, temperature, friction, noise=0.0):
    """ξ at which the mean drift of the thermostat vanishes, the smaller root."""
    eta = rate * temperature

    def drift(xi):
        law = (integrator, rate, curvature, temperature, friction, noise, xi)
        covariance = stationary_covariance(*law)
        squares = [covariance[1, 1]]
        if integrator == "splitting":
            kicked = np.array([-rate * curvature, 1.0])
            squares.append(kicked @ covariance @ kicked + (rate * noise) ** 2)
        return np.mean(squares) / eta - 1

    largest = 1 - rate * curvature / 4  # where Euler's friction is most effective
    return scipy.optimize.brentq(drift, friction / 2, largest, xtol=1e-13)


def scalar_thermostat(steps, mass, integrator, rate, curvature, temperature, friction, noise=0.0):
    """(ξ after each step, covariance of (θ, v) at the end) of SGNHT with one thermostat for infinitely many entries.

    By the law of large numbers the mean of v⊙v is its expectation: ξ is a number and the entries stay Gaussian. They
    start at θ = 0, v ~ N(0, η), ξ = a.
    """
    eta = rate * temperature
    kicked = np.array([-rate * curvature, 1.0])
    xi, covariance, path = friction, np.diag([0.0, eta]), []
    for _ in range(steps):
        if integrator == "splitting":
            xi += (kicked @ covariance @ kicked + (rate * noise) ** 2 - eta) / (2 * mass)
        law = (integrator, rate, curvature, temperature, friction, noise, xi)
        covariance = covariance_after(1, covariance, *law)
        xi += (covariance[1, 1] - eta) / (mass if integrator == "euler" else 2 * mass)
        path.append(xi)
    return np.array(path), covariance

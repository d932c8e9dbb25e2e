"""Running chains in the tests: many independent ones side by side in a tensor, as the kernels work elementwise."""

from __future__ import annotations

import sys

import numpy as np
import tensorflow as tf

from tests.chance import assert_means
from tfdsmcmc import random


def gaussian(curvature, noise=0.0):
    """gradient_fn of log target −λθ²/2 with Gaussian noise of standard deviation `noise`; both broadcast."""

    def gradient_fn(x, seed):
        gradient = -tf.constant(curvature, x.dtype) * x
        if np.any(noise):
            gradient += tf.constant(noise, x.dtype) * random.normal(tf.shape(x), seed, x.dtype)
        return gradient

    return gradient_fn


def run(kernel, state, steps, seed=0, trace=None, **start):
    """Advances a chain in one XLA program.

    Args:
      kernel: transition kernel.
      state: initial state.
      steps: number of steps.
      seed: integer.
      trace: None, or a function results → scalar.
      **start: kernel results to replace at the start.

    Returns:
      (state, results), and with a `trace` its values, (steps,).
    """
    results = kernel.bootstrap_results(state, seed=random.fold(seed, 0))._replace(**start)

    def body(i, state, results, traced):
        state, results = kernel.one_step(state, results, seed=random.fold(seed, i + 1))
        return i + 1, state, results, traced if trace is None else traced.write(i, trace(results))

    @tf.function(jit_compile=True, autograph=False)
    def loop(state, results):
        traced = tf.TensorArray(tf.float32, size=0 if trace is None else steps)
        _, state, results, traced = tf.while_loop(lambda i, *_: i < steps, body, (0, state, results, traced))
        return (state, results) if trace is None else (state, results, traced.stack())

    return loop(state, results)


def inject_noise(monkeypatch, cls, *noise):
    """Has the kernels of a class use the given noise, one array for each part, for their standard normal draws."""

    def normals(parts, seed):
        del seed
        return [tf.constant(n, part.dtype) for n, part in zip(noise, parts, strict=True)]

    monkeypatch.setattr(sys.modules[cls.__module__], "normals", normals)


def measured_map(monkeypatch, kernel, curvature, noise=0.0, thermostat=None):
    """(M, B) of a kernel's step (θ', v') = M (θ, v) + B (ε, ε') on a Gaussian, as in laws.py, from unit inputs.

    For SGNHT the mass has to be huge, for ξ to stay at `thermostat` within the step.
    """
    theta, momentum, kick, injected = np.eye(4)
    inject_noise(monkeypatch, type(kernel), injected)
    kernel = kernel.copy(gradient_fn=lambda x, seed: -curvature * x + noise * kick)
    start = kernel.bootstrap_results(tf.constant(theta))._replace(momentum=tf.constant(momentum))
    if thermostat is not None:
        start = start._replace(thermostat=tf.constant(np.full(4, thermostat)))
    theta, results = kernel.one_step(tf.constant(theta), start, seed=0)
    both = np.stack([theta, results.momentum])
    return both[:, :2], both[:, 2:]


def assert_variance(draws, variance):
    """z-test that independent centred normal draws over the leading axis have the given variance.

    A standard error is √(2/n) of the variance: 1.1 % for 16,384 draws, so that the test catches an error of some 6 %.
    """
    assert_means(np.square(draws, dtype=np.float64) / variance, np.ones(np.shape(variance)), deviation=np.sqrt(2.0))

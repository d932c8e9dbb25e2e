"""What the prior of a weight must honour, `priors.WeightPrior`: `run_prior_test` checks it in one call."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.stats
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.priors import WeightPrior


def run_prior_test(prior, shapes=((3, 4), (5,)), configured=True):
    """Checks a prior at weights of some shapes, with auxiliary tensors of its own.

    Args:
      prior: `WeightPrior`.
      shapes: of the weights.
      configured: whether its configuration is plain data.
    """
    assert isinstance(prior, WeightPrior)
    for number, shape in enumerate(shapes):
        weight = tf.constant(np.random.default_rng(number).normal(0, 0.7, shape), tf.float32)
        auxiliary = _check_auxiliary(prior, weight)
        _check_density(prior, weight, auxiliary)
        if prior.conditionally_normal:
            _check_normal(prior, weight, auxiliary)
        else:
            with pytest.raises(NotImplementedError, match="not normal"):
                prior.conditional_normal(auxiliary)
    if configured:
        twin = type(prior).from_config(json.loads(json.dumps(prior.get_config())))
        np.testing.assert_array_equal(twin.log_prob(weight, auxiliary), prior.log_prob(weight, auxiliary))
        assert twin.get_config() == prior.get_config()


def _check_auxiliary(prior, weight):
    """As many as it says, of shapes that stay, finite; the same under one seed, others under another; jitted alike."""
    seed = random.as_seed(3)
    auxiliary = prior.initial_auxiliary(weight, seed)
    assert len(auxiliary) == prior.auxiliary_count
    compiled = tf.function(prior.update_auxiliary, jit_compile=True, autograph=False)
    for update in (prior.update_auxiliary, compiled):
        moved, again, other = (update(weight, auxiliary, own) for own in (seed, seed, random.as_seed(4)))
        assert [part.shape for part in moved] == [part.shape for part in auxiliary]
        for one, two, third in zip(moved, again, other, strict=True):
            assert np.all(np.isfinite(one))
            np.testing.assert_array_equal(one, two)
            assert np.any(np.asarray(one) != np.asarray(third))
    for one, two in zip(prior.update_auxiliary(weight, auxiliary, seed), compiled(weight, auxiliary, seed)):
        np.testing.assert_allclose(one, two, rtol=1e-3)
    drawn = prior.draw_auxiliary(weight, seed)
    assert [part.shape for part in drawn] == [part.shape for part in auxiliary]
    return moved


def _check_density(prior, weight, auxiliary):
    """A float32 scalar whose gradient is that of differences; nothing at all for a weight without entries."""

    def log_prob(value):
        return prior.log_prob(value, auxiliary)

    with tf.GradientTape() as tape:
        tape.watch(weight)
        value = log_prob(weight)
    assert value.shape == () and value.dtype == tf.float32 and np.isfinite(value)
    gradient = tape.gradient(value, weight, unconnected_gradients="zero").numpy()
    own, step = weight.numpy(), 1e-2
    for place in list(np.ndindex(*own.shape))[:4]:
        moved = [own.copy(), own.copy()]
        moved[0][place] += step
        moved[1][place] -= step
        up, down = (float(log_prob(tf.constant(part))) for part in moved)
        np.testing.assert_allclose(gradient[place], (up - down) / (2 * step), rtol=0.05, atol=0.05)


def _check_normal(prior, weight, auxiliary):
    """log p(w given λ) is that of the independent normal entries that the prior states."""
    mean, variance = (np.broadcast_to(part, weight.shape) for part in prior.conditional_normal(auxiliary))
    want = scipy.stats.norm.logpdf(weight.numpy(), mean, np.sqrt(variance)).sum()
    np.testing.assert_allclose(prior.log_prob(weight, auxiliary), want, rtol=1e-4)

"""Imputation by traced programs, as it runs for users: one row, several models, long sums."""

import logging
from typing import NamedTuple

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.imputation.support import SBN, Pair
from tests.imputation.test_posterior import Sample, Samples
from tests.oracles import randomize
from tfdsmcmc.imputation import plans, resampling
from tfdsmcmc.rows import Rows

METHODS = ("gibbs", "metropolis", "resampling")


def bernoulli(probabilities):
    """A model without latent layers whose units are independent, with the given probabilities."""
    networks = Pair(ds.GenerativeNetwork([SBN(len(probabilities))]), ds.RecognitionNetwork([]))
    networks.generative.trainable_variables[-1].assign(np.log(probabilities) - np.log1p(-np.array(probabilities)))
    return networks


@pytest.mark.slow
def test_a_single_row_draws_in_a_graph_what_it_draws_op_by_op():
    """With every method, with the model's own weights and over a posterior, whose evidence is estimated by resampling:
    a batch of one row must not lose its shape in a loop."""
    networks = Pair(ds.GenerativeNetwork([SBN(1), SBN(3)]), ds.RecognitionNetwork([SBN(1)]))
    randomize(networks.generative, 1)
    theta, phi = ([v.numpy() for v in part.trainable_variables] for part in (networks.generative, networks.recognition))
    posterior = Samples([Sample([w + 1 for w in theta], phi), Sample(theta, phi)])
    short = {"burn_in": 1, "num_samples": 2, "thinning": 1, "evidence_samples": 2, "num_imputations": 3}
    for method in METHODS:
        for samples in (None, posterior):
            found = []
            for op_by_op in (True, False):
                tf.config.run_functions_eagerly(op_by_op)
                arguments = {**short, "method": method, "posterior": samples}
                found.append(ds.imputation.impute(networks, [[1, np.nan, 0]], **arguments))
            for one, other in zip(*found):
                np.testing.assert_allclose(one, other, rtol=1e-5) if one is not None else None
            assert found[1].x.shape == (3, 1, 3) and set(np.unique(found[1].x)) <= {0.0, 1.0}
            np.testing.assert_array_equal(found[1].x[:, 0, [0, 2]], [[1, 0]] * 3)


def test_sums_over_long_chains_lose_nothing():
    """Without latent layers the mean of a unit is a constant, and so is its average over any number of sweeps: to six
    digits over 1,500. Sums in float32 are off in the fourth or fifth."""
    tf.config.run_functions_eagerly(False)
    exact = [0.3, 0.05]
    arguments = {"num_chains": 1, "burn_in": 0, "num_samples": 1500}
    result = ds.imputation.impute(bernoulli(exact), [[np.nan, np.nan]], method="metropolis", **arguments)
    np.testing.assert_allclose(result.probabilities[0], exact, rtol=2e-6)
    np.testing.assert_array_equal(result.acceptance_rate, [1.0])


def test_sums_over_many_chunks_lose_nothing(monkeypatch):
    """A weight of 1 and 4,000 of 5 · 10⁻⁸, one draw a chunk: their sum is 1.0002, in float32 it stays 1."""
    tf.config.run_functions_eagerly(False)
    seed, number, small = tf.constant([1, 2]), 4000, 5e-8
    first_seed = ds.random.split(ds.random.fold(seed, 0))[0, 0]

    def known(generative, recognition, rows, count, own_seed):
        first = tf.cast(tf.equal(own_seed[0], first_seed), tf.float32)
        log_weights = tf.fill([count, 1], tf.math.log(first + (1 - first) * small))
        return tf.zeros([count, 1, 1]), tf.fill([count, 1, 1], 1 - first), log_weights

    monkeypatch.setattr(resampling, "weighted_draws", known)
    plan = resampling.Resampling(1, number + 1, 1)
    rows = Rows(tf.zeros([1, 1]), tf.zeros([1, 1], tf.bool))
    results = tf.function(lambda: plan(None, None, rows, seed))()
    part = plan.summary([result.numpy() for result in results])
    total = 1 + number * small
    np.testing.assert_allclose(part.probabilities, [[number * small / total]], rtol=1e-5)
    np.testing.assert_allclose(part.log_likelihood, [np.log(total / (number + 1))], rtol=1e-6)


class Nothing(NamedTuple):
    """A plan that leaves the rows as they are."""

    def __call__(self, generative, recognition, rows, seed):
        return (rows.values,)

    def summary(self, results):
        return plans.Part(results[0][:, None], results[0], np.ones(len(results[0])), None, None)


def test_models_may_be_many():
    """TensorFlow warns where one function is traced five times; each model has a function of its own."""
    tf.config.run_functions_eagerly(False)
    messages, handler, logger = [], logging.Handler(), tf.get_logger()
    handler.emit = lambda record: messages.append(record.getMessage())
    logger.addHandler(handler)
    try:
        for _ in range(8):
            rows = Rows(np.zeros((1, 2), np.float32), np.zeros((1, 2), bool))
            plans.run(bernoulli([0.4, 0.6]).density(), Nothing(), rows, ds.random.as_seed(0), 1)
    finally:
        logger.removeHandler(handler)
    assert not [message for message in messages if "retracing" in message]

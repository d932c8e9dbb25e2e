"""Online variational Bayes: its definition, its rate, and what it shares with that of all rows."""

import itertools

import keras
import numpy as np
import pytest
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from tests.augmentation.tiny_runs import ROWS, SOURCE, fitted, step_of
from tests.conformance.steps import SEED, advanced, begun
from tfdsmcmc.augmentation import MeanFieldVB, OnlineVB
from tfdsmcmc.augmentation.shared import symmetric
from tfdsmcmc.augmentation.shared.layer_shapes import shape_of
from tfdsmcmc.augmentation.variational.mean_field_step import KINDS
from tfdsmcmc.training.feeding.batch import Batch
from tfdsmcmc.training.feeding.feed import feed_of


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_online_with_all_rows_and_rate_1_is_batch(covariance):
    """Three passes, the online one in a single minibatch, the other in blocks of four rows."""
    batch = advanced(begun(step_of(MeanFieldVB(covariance, rounds=2)), SOURCE), SOURCE, 4, epochs=3)
    online = advanced(begun(step_of(OnlineVB(1.0, covariance, rounds=2)), SOURCE), SOURCE, 10, epochs=3)
    for name in ("weights", "covariances", "scales", "units"):
        for one, other in zip(*(tf.nest.flatten(getattr(run.state, name)) for run in (batch, online)), strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5, err_msg=name)
    assert not np.allclose(online.weights[0][-1], step_of(OnlineVB()).keep.generative.weights[-1])


@pytest.mark.slow
def test_the_metric_is_a_mean_over_the_rows_read():
    """Minibatches of eight of ten rows: eight rows count, then two."""
    step = step_of(OnlineVB(0.5))
    run = begun(step, SOURCE)
    (block,) = feed_of(SOURCE, 8, 2, SEED, shuffle=False).blocks(np.arange(2), 0)
    state, bounds, counts = run.state, [], []
    for i in range(2):
        batch = block._replace(rows=block.rows.map(tf.constant)).batch(i, tf.constant(10.0))
        state, metrics = step.step(state, batch, SEED)
        bounds.append(float(metrics["bound"]))
        counts.append(int(batch.counted.sum()))
    assert counts == [8, 2] and np.ptp(bounds) > 0.1
    run.advance(block)
    np.testing.assert_allclose(float(run.means[0].result()), np.average(bounds, weights=counts), rtol=1e-5)


def test_a_short_last_minibatch_has_its_share_of_the_rate():
    """A minibatch of two of four rows moves by half the rate, and what fills it up has no say."""
    index = np.array([8, 9, 0, 1])
    rows, index = SOURCE.take(index).floats().map(tf.constant), tf.constant(index, tf.int32)
    counted = tf.constant([True, True, False, False])
    batch = Batch(rows, index, counted, tf.constant(False), tf.constant(True), tf.constant(10.0))
    two = batch._replace(rows=rows.map(lambda part: part[:2]), index=batch.index[:2], counted=batch.counted[:2])
    found = []
    for rate, part in ((0.6, batch), (0.3, two)):
        step = step_of(OnlineVB(rate))
        found.append(step.step(begun(step, SOURCE).state, part, SEED)[0])
    for one, other in zip(*(tf.nest.flatten([state.weights, state.sums]) for state in found), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("batch_size", [4, 7, 64])
def test_online_learning_by_its_definition(batch_size):
    """Two epochs in NumPy, row by row: minibatches of four and two of ten rows, of seven and three, of all ten.

    A fully visible network, whose rows have no factors but the tilts: Λ ← (1 − ρ) Λ + ρ (diag(1/ν) + N/n Σ γ̄ r rᵀ) and
    Λμ likewise, ρ in proportion to the rows n that count.
    """
    generative = ds.GenerativeNetwork([ds.layers.DARN(3, seed=1)])
    prior = {"bias": tfp.distributions.Normal(0.0, 2.0), "": tfp.distributions.Normal(0.0, 0.7)}
    model = ds.DeepGenerativeModel(generative, ds.RecognitionNetwork([]), prior=prior)
    model.compile(**ds.methods.online_vb(0.4))
    (layer,), size = generative.layers, min(batch_size, 10)
    shape = shape_of(layer)
    mean = shape.vectors([part.numpy() for part in layer.weights]).numpy().astype(float)
    found = model.fit(ROWS, batch_size=batch_size, epochs=2, shuffle=False, verbose=0) and model.run.state
    for j, used in enumerate(shape.mask > 0):
        r = np.concatenate([ROWS, np.ones((10, 1))], 1)[:, used]
        prior_precision = np.diag(1 / np.where(np.arange(4) == 3, 2.0, 0.7)[used] ** 2)
        precision, linear = prior_precision, np.zeros(used.sum())
        mu, sigma = mean[j, used], 0.01 * np.eye(used.sum())
        for epoch, first in itertools.product(range(2), range(0, 10, size)):
            # an epoch begins behind the rows that filled up the one before it, which do not count
            places = range(first, min(first + size, 10))
            rows = [(n + epoch * -(-10 // size) * size) % 10 for n in places]
            outer, pull = np.zeros_like(sigma), np.zeros_like(mu)
            for n in rows:
                tilt = np.sqrt(r[n] @ (sigma + np.outer(mu, mu)) @ r[n])
                outer += np.tanh(tilt / 2) / (2 * tilt) * np.outer(r[n], r[n])
                pull += (ROWS[n, j] - 0.5) * r[n]
            rho, scale = 0.4 * len(rows) / size, 10 / len(rows)
            precision = (1 - rho) * precision + rho * (prior_precision + scale * outer)
            linear = (1 - rho) * linear + rho * scale * pull
            sigma = np.linalg.inv(precision)
            mu = sigma @ linear
        covariance = symmetric.expanded(found.covariances[0])[j].numpy()
        np.testing.assert_allclose(covariance[np.ix_(used, used)], sigma, rtol=2e-4, atol=1e-6)
        np.testing.assert_allclose(shape.vectors(found.weights)[j].numpy()[used], mu, rtol=2e-4, atol=1e-5)


# a rate that is 0 in the middle of a run, and one above 1 there
IN_BETWEEN = [
    keras.optimizers.schedules.PiecewiseConstantDecay([3000, 4000], [0.5, value, 0.5]) for value in (0.0, 1.5)
]


@pytest.mark.parametrize(
    "rate",
    [0.0, -0.1, 1.1, float("nan"), True, "0.1", ds.mcmc.schedules.PolynomialDecay(2.0), *IN_BETWEEN],
)
def test_rates_outside_of_0_1(rate):
    with pytest.raises(ValueError, match="Received: "):
        ds.methods.online_vb(rate)


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
def test_the_mean_over_minibatches_is_that_of_all_rows(covariance):
    """At fixed factors of the rows and fixed means, λ̂ of a minibatch, scaled by N/B, has that of all as its mean."""
    kind, rng = KINDS[covariance], np.random.default_rng(0)
    gamma, targets, r = (tf.constant(rng.random((12, width))) for width in (3, 3, 4))
    precision, mean = tf.constant(rng.random((3, 4)) + 0.5), tf.constant(rng.normal(size=(3, 4)))
    mask = np.ones((3, 4))

    def best(rows):
        parts = [part[rows] for part in (gamma, targets, r)]
        naturals = kind.initial_naturals(precision)
        return kind.online_update(naturals, *parts, precision, mean, mask, 12 / len(parts[0]), 1.0)[0]

    whole = best(slice(None))
    parts = [best(slice(first, first + 4)) for first in (0, 4, 8)]
    # a weight of a diagonal covariance comes after others, which have moved to those of their own minibatch
    columns = slice(None) if covariance == "full" else slice(0, 1)
    for of_all, *of_some in zip(whole, *parts, strict=True):
        np.testing.assert_allclose(np.mean(of_some, 0)[..., columns], of_all.numpy()[..., columns], rtol=1e-10)


@pytest.mark.slow
def test_online_learning_comes_near_to_batch_learning():
    """Minibatches of 25 of 200 rows at a falling rate end near the bound of batch learning."""
    rng = np.random.default_rng(3)
    rows = (np.repeat([[1, 1, 0], [0, 0, 1]], 100, 0) ^ (rng.random((200, 3)) < 0.1)).astype(np.uint8)
    rate = ds.mcmc.schedules.PolynomialDecay(1.0, 10.0, 0.8)
    online = fitted(ds.methods.online_vb(rate), 40, rows, 25)[1]["bound"]
    batch = fitted(ds.methods.vb(rounds=4), 40, rows, 100)[1]["bound"]
    assert batch[-1] - 0.02 < online[-1] < batch[-1] + 0.005
    assert batch[-1] > batch[0] + 0.2

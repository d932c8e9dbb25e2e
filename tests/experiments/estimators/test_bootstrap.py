"""The bootstrap of the estimator study against the exact law of estimates from few draws."""

import json

import numpy as np
import pytest

from experiments.estimators import bootstrap
from experiments.estimators.__main__ import main
from tests.chance import assert_near
from tests.oracles import Oracle, flat, multisets, self_normalized, tiny_model


def test_bootstrap_finds_the_exact_bias_and_deviation():
    """From a pool of 200,000 draws, whose own error is far below that of 20,000 replicates; K = 1 and 4, of which all
    multisets are enumerated. Catches a sign, a missing 1/K, weights that are not normalised."""
    model, row = tiny_model((2,), seed=2, scale=0.9), np.array([[1, 0, 1]], np.float32)
    oracle = Oracle(model)
    log_weights, replicates = oracle.log_weights(row)[:, 0], 20_000
    log_q = oracle.log_q(row)[:, 0]
    draws = np.random.default_rng(1).choice(4, 200_000, p=np.exp(log_q))
    bias, deviation = bootstrap.bootstrap(log_weights[draws], (1, 4), replicates, np.random.default_rng(2))
    for i, count in enumerate((1, 4)):
        counts, p = multisets(log_q, count)
        values = np.log(counts @ np.exp(log_weights) / count)
        mean = p @ values
        exact = np.sqrt(p @ (values - mean) ** 2)
        assert mean - oracle.log_likelihood(row)[0] < -0.02
        assert_near(bias[i], mean - oracle.log_likelihood(row)[0], 1.5 * exact / np.sqrt(replicates) + 1e-3)
        np.testing.assert_allclose(deviation[i], exact, rtol=0.05)


def test_bootstrap_finds_the_exact_bias_and_deviation_of_gradients():
    """Of one row, in two blocks, and of a batch of two, whose biases add up and whose deviations do as squares."""
    model, rows = tiny_model((2,), seed=2, scale=0.9), np.array([[1, 0, 1], [0, 0, 1]], np.float32)
    oracle, pools, means, variances, targets = Oracle(model), [], [], [], []
    for number, row in enumerate(rows):
        row = row[None]
        log_weights, log_q = oracle.log_weights(row)[:, 0], oracle.log_q(row)[:, 0]
        gradients = flat(oracle.joint_gradient(row), 2)[:, 0]
        pool = np.random.default_rng(number).choice(4, 4000, p=np.exp(log_q))
        blocks = [(part, gradients[pool][part]) for part in (slice(0, 1500), slice(1500, 4000))]
        pools.append((log_weights[pool], blocks))
        moments = [self_normalized(log_q, log_weights, gradients, count) for count in (1, 4)]
        means.append([mean for mean, _ in moments])
        variances.append([sd**2 for _, sd in moments])
        targets.append(flat(oracle.likelihood_gradient(row), 1)[0])
    for count in (1, 2):
        target = np.sum(targets[:count], 0)
        bias, deviation = bootstrap.bootstrap_of_gradients(pools[:count], (1, 4), 4000, np.random.default_rng(3))
        for i in range(2):
            mean, sd = np.sum([m[i] for m in means[:count]], 0), np.sqrt(np.sum([v[i] for v in variances[:count]], 0))
            np.testing.assert_allclose(bias[i], np.linalg.norm(mean - target) / np.linalg.norm(target), rtol=0.15)
            np.testing.assert_allclose(deviation[i], np.linalg.norm(sd) / np.linalg.norm(target), rtol=0.1)


def test_the_pool_has_the_weights_and_gradients_of_its_draws():
    """Each draw's log-weight and gradient belong to one and the same state."""
    model, row = tiny_model((2, 1), seed=4), np.array([1, 0, 1], np.float32)
    oracle = Oracle(model)
    log_weights, blocks = bootstrap.pooled(model, row, 600, [1, 2])
    parts, gradients = zip(*blocks)
    assert parts == (slice(0, 500), slice(500, 1000))
    gradients = np.concatenate(gradients)
    exact = np.concatenate([oracle.log_weights(row[None]), flat(oracle.joint_gradient(row[None]), 2)[:, 0]], 1)
    for found in np.concatenate([log_weights[:, None], gradients], 1)[::12]:
        assert np.abs(exact - found).max(1).min() < 1e-4


def test_rows_and_batch_draw_for_themselves_and_what_is_not_known_is_not_said(monkeypatch):
    """The same rows: no seed serves twice, and the error of a batch, or of one row, is no 0."""
    seeds, rows = [], np.zeros((2, 3), np.float32)

    def pooled(model, row, size, seed):
        seeds.append(tuple(np.asarray(seed)))
        rng = np.random.default_rng(len(seeds))
        return rng.standard_normal(size), [(slice(0, size), rng.standard_normal((size, 4)))]

    monkeypatch.setattr(bootstrap, "pooled", pooled)
    found = bootstrap.study(None, rows, rows, 5, (1, 3), 7)
    assert len(set(seeds)) == 4
    for part in ("bias", "standard_deviation"):
        assert found["gradient_of_batch"][part]["error"] is None and len(found["gradient_of_batch"][part]["mean"]) == 2
        assert min(found["gradient"][part]["error"]) > 0 and min(found["log_likelihood"][part]["error"]) > 0
    alone = bootstrap.study(None, rows[:1], rows, 5, (1, 3), 7)
    assert alone["gradient"]["bias"]["error"] is None
    json.dumps(found)


@pytest.mark.slow
def test_the_study_draws_its_figures(tmp_path):
    options = "--updates 12 --posterior-samples 2 --rows 2 --batch 2 --pool 50 --test-rows 20 --architecture"
    main([*options.split(), "SBN/SBN 4", "--output", str(tmp_path)])
    pictures = {file.stem for file in tmp_path.glob("*.png")}
    expected = {"training_samples", "test_samples", "likelihood", "gradient", "gradient_of_batch", "posterior_samples"}
    assert pictures == expected
    results = json.loads((tmp_path / "results.json").read_text())
    assert len(results["test"]) == 5 and len(results["test_samples"]) == 10
    for found in results["test"]:
        assert found["bound"]["value"] < found["value"]

"""The tail that is kept against all the weights; k̂ of a known law; what is warned of, and where."""

import inspect
import re
import warnings

import arviz
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.chance import assert_near
from tests.likelihood.support import quick_model
from tests.oracles import binary_states
from tfdsmcmc.likelihood import UnreliableImportanceWeights, importance, importance_sampling, pareto

X = binary_states(3)


def streamed(log_weights, blocks):
    """k̂ of (rows, K) log-weights that come in a number of blocks of draws."""
    tail = pareto.Tail(len(log_weights), log_weights.shape[1])
    for block in np.array_split(log_weights.T, blocks):
        tail.add(block)
    assert tail.largest.shape[1] <= pareto.tail_size(log_weights.shape[1]) + 1
    return pareto.pareto_k(tail.largest, log_weights.shape[1])


@pytest.mark.parametrize("num_samples", [21, 25, 100, 224, 225, 226, 400, 1000, 10_007])
@pytest.mark.parametrize("blocks", [1, 7])
def test_the_tail_is_all_that_the_fit_sees(num_samples, blocks):
    """225 is where a fifth of the weights becomes more than 3√K; 400 has a whole 3√K."""
    rng = np.random.default_rng(num_samples)
    log_weights = rng.standard_t(4, (6, num_samples)).astype(np.float32) * np.float32(1.5) - 300
    log_weights[1, rng.integers(0, num_samples, num_samples // 3)] = -np.inf
    log_weights[2] = np.round(log_weights[2], 1)  # ties, also at the cut-off
    with np.errstate(over="ignore"):
        want = arviz.psislw(log_weights.astype(np.float64))[1]
    assert np.isfinite(want[[0, 3, 4, 5]]).all() and np.ptp(want[3:]) > 0.1
    np.testing.assert_allclose(streamed(log_weights, blocks), want, rtol=1e-9)


@pytest.mark.parametrize("k", [0.2, 0.8])
def test_the_shape_of_a_known_tail(k):
    """Pareto weights u^(−k): the mean of 200 estimates, each of variance about (1 + k)²/M and drawn by the fit's weak
    prior to ½ by 10/(M + 10); a false failure has probability below 1e-6, an error of 0.05 is seen."""
    num_samples = 40_000
    log_weights = -k * np.log(np.random.default_rng(1).random((200, num_samples)))
    size = pareto.tail_size(num_samples)
    want = (size * k + 10 * 0.5) / (size + 10)
    assert_near(streamed(log_weights, 5).mean(), want, (1 + k) / np.sqrt(size * 200) + 1e-3)


def test_many_rows_are_fitted_piece_by_piece(monkeypatch):
    log_weights = np.random.default_rng(2).normal(size=(11, 500))
    whole = streamed(log_weights, 1)
    monkeypatch.setattr(pareto, "_ENTRIES", 1500)
    np.testing.assert_array_equal(streamed(log_weights, 1), whole)


def test_tails_that_cannot_be_fitted():
    equal = np.zeros((1, 100))
    assert np.isnan(streamed(equal, 3)).all()
    nothing = np.full((1, 100), -np.inf)
    assert np.isposinf(streamed(nothing, 3)).all()
    one_of_many = equal.copy()
    one_of_many[0, 50] = 10.0
    assert np.isposinf(streamed(one_of_many, 3)).all()
    assert np.isnan(streamed(np.random.default_rng(3).normal(size=(2, 20)), 1)).all(), "20 draws are too few"


@pytest.mark.parametrize(("larger", "count", "harmless"), [(1.01, 3, True), (1.3, 3, True), (1.5, 3, False)])
def test_few_larger_weights_are_no_heavy_tail_where_they_are_larger_by_little(larger, count, harmless):
    """Of 100 weights of 1, and the 21 that are kept: an excess of 3 · 0.3 is below 21/20, one of 3 · 0.5 is above."""
    log_weights = np.zeros((1, 100))
    log_weights[0, :count] = np.log(larger)
    (k,) = streamed(log_weights, 3)
    assert np.isnan(k) if harmless else np.isposinf(k)


def test_the_largest_reliable_shape():
    """1 − 1/log₁₀ K, and 0.7 from about 2,154 on."""
    np.testing.assert_allclose(pareto.threshold(np.array([10, 100, 1000, 10**4])), [0, 1 / 2, 2 / 3, 0.7], atol=1e-12)
    assert pareto.threshold(np.array([1])) < 0


# ---- as a part of the estimate


def test_importance_sampling_has_the_shape_of_its_own_weights(monkeypatch):
    """Blocks of 8 draws, batches that do not divide the rows: k̂ and value are those of all the weights in one piece."""
    monkeypatch.setattr("tfdsmcmc.likelihood.sampler._BLOCK_ENTRIES", 4 * 8)
    monkeypatch.setattr(importance, "_CHUNK_ENTRIES", 4 * 12 * 8)
    model = quick_model((12,), units=3, seed=4, scale=0.6)
    x, num_samples, drawn = X[:6], 300, []
    add = pareto.Tail.add
    monkeypatch.setattr(pareto.Tail, "add", lambda tail, block: (drawn.append(block), add(tail, block)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimate = importance_sampling(model, x, num_samples, seed=5, batch_size=4)
    assert max(len(block) for block in drawn) == 8
    batches = [[block for block in drawn if block.shape[1] == rows] for rows in (4, 2)]
    log_weights = np.concatenate([np.concatenate(blocks).T for blocks in batches]).astype(np.float64)
    assert log_weights.shape == (6, num_samples) and np.isfinite(log_weights).all()
    own = log_weights.copy()  # ArviZ may work in place
    np.testing.assert_allclose(estimate.pareto_k, arviz.psislw(own)[1], rtol=1e-9)
    value = np.logaddexp.reduce(log_weights, 1) - np.log(num_samples)
    np.testing.assert_allclose(estimate.value, value, rtol=1e-5)
    np.testing.assert_array_equal(estimate.num_samples, np.full(6, num_samples))


def _poor_proposal():
    """Uniform draws of twelve units whose posterior is far from uniform."""
    model = quick_model((12,), units=3, seed=6, scale=1.0)
    for variable in model.recognition.trainable_variables:
        variable.assign(np.zeros(variable.shape))
    return model


@pytest.mark.parametrize("of_model", [True, False])
def test_heavy_tails_warn_at_the_line_of_the_caller(of_model):
    model = _poor_proposal()
    with warnings.catch_warnings(record=True) as record:
        warnings.simplefilter("always")
        if of_model:
            estimate = model.log_likelihood(X, 1000, seed=1)
        else:
            estimate = importance_sampling(model, X, 1000, seed=1)
    heavy = int((estimate.pareto_k > 2 / 3).sum())
    assert 0 < heavy
    (found,) = (w for w in record if w.category is UnreliableImportanceWeights)
    assert f" {heavy} of 8 rows" in str(found.message)
    assert {w.filename for w in record} == {__file__}
    assert all("Take more draws than 1000, by num_samples" in str(w.message) for w in record)
    lines = open(__file__, encoding="utf-8").read().splitlines()
    assert ("model.log_likelihood(" if of_model else "importance_sampling(") in lines[found.lineno - 1]


def test_the_calls_that_a_warning_names_can_be_made():
    namespace = {"likelihood": ds.likelihood, "posterior": ds.posterior.Posterior}
    with pytest.warns(UnreliableImportanceWeights) as record:
        importance_sampling(_poor_proposal(), X, 1000, seed=1)
    calls = re.findall(r"\b(\w+)\.(\w+)\(model, x\)", str(record[0].message))
    assert [room for room, _ in calls] == ["likelihood", "posterior"]
    for room, name in calls:
        of_class = isinstance(namespace[room], type)
        inspect.signature(getattr(namespace[room], name)).bind(*[None] * of_class, "model", "x")


def test_light_tails_do_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate = importance_sampling(quick_model((12,), units=3, seed=4, scale=0.1), X, 1000, seed=1)
    assert np.max(estimate.pareto_k) < 2 / 3


def test_the_tail_costs_nothing_where_nobody_is_warned(monkeypatch):
    monkeypatch.setattr(pareto, "Tail", None)
    monkeypatch.setattr(pareto, "pareto_k", None)
    model = quick_model()
    assert importance_sampling(model, X, 50, warn=False).pareto_k is None
    assert importance_sampling(model, X, 50, warn=False, standard_error=0.1).pareto_k is None
    ds.likelihood.evidence_lower_bound(model, X, 50)

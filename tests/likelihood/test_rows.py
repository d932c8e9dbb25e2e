"""Where rows come from, and whether entries are missing: every estimator of log p(x), annealing's too."""

import functools

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.likelihood.support import quick_model
from tests.oracles import Oracle, binary_states, log_sum
from tfdsmcmc.rows import RandomAccessSource, Rows, Source

likelihood = ds.likelihood
NAN = np.nan
X = binary_states(3).astype(np.float32)
GAPS = np.array([[1, NAN, 0], [NAN, 1, NAN], [0, 0, 1], [NAN, NAN, NAN], [1, 1, NAN]], np.float32)

ESTIMATORS = {
    "importance": functools.partial(likelihood.importance_sampling, num_samples=4000, warn=False),
    "precision": functools.partial(likelihood.importance_sampling, num_samples=400, standard_error=0.02, warn=False),
    "exact": likelihood.exact,
    "bound": functools.partial(likelihood.evidence_lower_bound, num_samples=4000),
    "harmonic": functools.partial(likelihood.harmonic_mean, latents=ds.latents.Gibbs(100), num_samples=4000),
    "annealed": functools.partial(likelihood.annealed_importance_sampling, num_steps=4, num_runs=500),
    "adaptive": functools.partial(
        likelihood.annealed_importance_sampling, num_steps=4, num_runs=500, path="recognition", schedule="adaptive"
    ),
}


class Kept(RandomAccessSource):
    """Rows that are read when they are asked for, as those of a file are; counts what is read."""

    units = 3

    def __init__(self, x):
        self.x, self.read = x, []

    @property
    def num_rows(self):
        return len(self.x)

    @property
    def complete(self):
        return not np.isnan(self.x).any()

    def take(self, index):
        part = self.x[index]
        self.read.append(len(part))
        gaps = np.isnan(part)
        return Rows(np.where(gaps, np.float32(0.5), part), None if self.complete else ~gaps)


class Endless(Source):
    """A stream that says how many rows it counts for, and does not end."""

    units, num_rows, complete = 3, 8, True

    def batches(self, size):
        while True:
            yield Rows(np.resize(X, [size, 3]))


def call(name, x, batch_size=3, **sizes):
    sizes |= {} if name == "exact" else {"batch_size": batch_size, "seed": 1}
    return ESTIMATORS[name](quick_model((2,), seed=4, scale=0.6), x, **sizes)


# those that take long
EACH = [pytest.param(name, marks=pytest.mark.slow) if name in ("harmonic", "adaptive") else name for name in ESTIMATORS]


@pytest.mark.parametrize("rows", [X, GAPS], ids=["complete", "gaps"])
@pytest.mark.parametrize("name", EACH)
def test_an_array_a_file_and_a_stream_give_the_same(name, rows):
    """Whatever the batches of the dataset; rows of a file are read a batch at a time. (To a precision, the draws of a
    stream are shared out among other rows, with seeds of their own.)"""
    few = {"num_samples": 200} if name == "harmonic" else {}  # its sweeps are slow op by op
    array, file = call(name, rows, **few), Kept(rows)
    others = [call(name, file, **few)]
    if name != "precision":
        others.append(call(name, tf.data.Dataset.from_tensor_slices(rows).batch(4), **few))
    for other in others:
        for one, two in zip(array[:3], other[:3]):
            np.testing.assert_allclose(one, two, rtol=1e-4, atol=1e-5)
    seen, *batches = file.read  # once whether they are bits, by as many at a time as memory holds
    assert seen == len(rows) and batches and (name == "exact" or max(batches) <= 4)


@pytest.mark.parametrize("name", EACH)
def test_missing_entries_are_summed_out(name):
    """In a stream, against enumeration of the completions, within 6 standard errors; the bound below it. A row with
    nothing observed has the likelihood 1."""
    estimate = call(name, tf.data.Dataset.from_tensor_slices(GAPS).batch(2))
    oracle = Oracle(quick_model((2,), seed=4, scale=0.6))
    expected = []
    for row in GAPS:
        gaps = np.isnan(row)
        filled = np.repeat(row[None], 2 ** gaps.sum(), 0)
        filled[:, gaps] = binary_states(gaps.sum())
        expected.append(log_sum(oracle.log_likelihood(filled)))
    assert expected[3] == pytest.approx(0.0, abs=1e-9)
    off = estimate.value - expected
    if name == "bound":
        assert np.all(off < 6 * estimate.standard_error + 1e-5) and off.min() < -0.01
    else:
        assert np.all(np.abs(off) < 6 * estimate.standard_error + 1e-5)
    assert np.all(estimate.standard_error < 0.1)


@pytest.mark.parametrize("name", EACH)
def test_a_stream_without_end_counts_for_the_rows_it_says(name):
    array, endless = call(name, X, 5), call(name, Endless(), 5)
    assert endless.value.shape == (8,)
    if name != "precision":
        np.testing.assert_allclose(endless.value[:5], array.value[:5], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", EACH)
def test_what_does_not_fit_is_refused(name):
    model = ds.DeepGenerativeModel(
        ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.DARN(3)]), ds.RecognitionNetwork([ds.layers.SBN(2)])
    )
    for x in (GAPS, tf.data.Dataset.from_tensor_slices(GAPS).batch(2), Kept(GAPS)):
        with pytest.raises(ValueError, match="SBN, MLPBernoulli, MLPGaussian or Mixed. Received: DARN"):
            ESTIMATORS[name](model, x)
    for x in (X[:, :2], X + 0.5, tf.data.Dataset.from_tensor_slices(X + 0.5).batch(2)):
        with pytest.raises(ValueError, match="^x .*Received: "):
            ESTIMATORS[name](model, x)


def test_a_schedule_from_a_stream():
    model = quick_model((2,), seed=4, scale=0.6)
    array = likelihood.annealing_schedule(model, GAPS, 10, batch_size=4)
    stream = likelihood.annealing_schedule(model, tf.data.Dataset.from_tensor_slices(GAPS).batch(2), 10, batch_size=4)
    np.testing.assert_allclose(array, stream, rtol=1e-4)


def test_rows_with_and_without_gaps_are_traced_apart():
    """A program serves both, with as many traces."""
    model = quick_model((2,), seed=4, scale=0.6)
    complete, gaps = (likelihood.importance_sampling(model, x, 50, warn=False).value for x in (X[:5], GAPS))
    assert np.isfinite(complete).all() and np.isfinite(gaps).all()
    np.testing.assert_array_equal(complete, likelihood.importance_sampling(model, X[:5], 50, warn=False).value)

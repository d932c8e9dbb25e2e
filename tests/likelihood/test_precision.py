"""Importance sampling to a precision: met, unbiased, repeatable, and at no more cost than it needs."""

import warnings
from typing import NamedTuple

import numpy as np
import pytest
import scipy.stats

from tests.chance import assert_means
from tests.likelihood.support import quick_model
from tests.oracles import Oracle, binary_states
from tfdsmcmc import programs, random
from tfdsmcmc.likelihood import PrecisionNotReached, importance_sampling, precision, sampler
from tfdsmcmc.rows import ArraySource, Rows

X = binary_states(3)


def model_of_uneven_rows():
    return quick_model((3,), seed=5, scale=1.0)


def test_every_row_gets_the_precision_and_no_row_much_more_than_it_needs():
    """The draws that a row needs are known from the exact deviation σ of its weights: 1.2 σ²/s²."""
    model, s = model_of_uneven_rows(), 0.05
    deviation, _ = Oracle(model).relative_weights(X)
    estimate = importance_sampling(model, X, 1000, seed=1, standard_error=s, warn=False)
    assert (estimate.standard_error <= 1.1 * s).all()
    ideal = np.maximum((deviation / s) ** 2, 1000)
    assert ideal.max() > 5 * ideal.min()
    assert (estimate.num_samples > 0.6 * ideal).all() and (estimate.num_samples < 2.5 * ideal).all()
    assert np.abs(estimate.value - Oracle(model).log_likelihood(X)).max() < 6 * s


def test_rows_that_have_it_cost_no_more():
    estimate = importance_sampling(model_of_uneven_rows(), X, 501, seed=1, standard_error=10.0, warn=False)
    np.testing.assert_array_equal(estimate.num_samples, np.full(8, 501))


@pytest.mark.parametrize("row", [1, 5])
def test_stopping_leaves_the_estimate_unbiased(row):
    """E exp(value) is p(x) exactly, at an error at which most copies of a row differ in their draws. 20,000 copies;
    false failures at most 1e-6. A half whose number its own pilot decides is seen."""
    model, copies = model_of_uneven_rows(), 20_000
    x = np.repeat(X[[row]], copies, 0)
    deviation, _ = Oracle(model).relative_weights(X[[row]])
    s = float(deviation[0] / np.sqrt(60))
    arguments = {"standard_error": s, "max_samples": 120, "warn": False}
    estimate = importance_sampling(model, x, 30, seed=row, batch_size=5000, **arguments)
    assert len(set(estimate.num_samples)) > 30 and estimate.num_samples.max() == 120
    assert_means(np.exp(estimate.value - Oracle(model).log_likelihood(x[:1])), 1.0)


class Law:
    """In place of a sampler: draws weights in the ratio of 1 to 1 + d, large ones with probability π < 1/(1 + c²), of
    mean 1 and squared coefficient of variation c². Skewed as those of a proposal that seldom meets a state."""

    batch_size = 4096

    def __init__(self, c2, pi):
        self.pi = pi
        # π(1 − π)d² = c²(1 + πd)²
        ratio = np.sqrt(self.pi * (1 - self.pi) / c2)
        d = 1 / (ratio - self.pi)
        self.weights = np.array([1, 1 + d]) / (1 + self.pi * d)

    def blocks(self, rows, num_samples, seed):
        large = np.random.default_rng(seed.numpy().view(np.uint32)).binomial(num_samples, self.pi)
        counts = np.stack([num_samples - large, large])
        with np.errstate(divide="ignore"):
            yield Sums([np.log(counts.T @ self.weights**power) for power in (1, 2)])


class Sums(NamedTuple):
    log_sums: list


def of_a_law(c2, pi, first, rows=20_000):
    """The estimate of rows whose log p(x) is 0 exactly, at s = 0.1."""
    law = Law(c2, pi)
    assert law.weights @ [1 - pi, pi] == pytest.approx(1)
    assert law.weights**2 @ [1 - pi, pi] == pytest.approx(1 + c2) and law.weights.min() > 0
    source = ArraySource(Rows(np.zeros((rows, 1), np.float32)))
    return precision.in_rounds(law, source, random.as_seed(c2 * first), first, 0.1, 10**6, with_tails=False)


def assert_share(found, share, tolerance):
    """Whether so many are true, up to a tolerance and chance: a false failure in 4e-7."""
    least = scipy.stats.binom.ppf(2e-7, len(found), max(share - tolerance, 0))
    most = scipy.stats.binom.ppf(1 - 2e-7, len(found), share + tolerance)
    assert least <= found.sum() <= most, f"{found.mean():.3f}, not {share}"


@pytest.mark.parametrize(
    ("c2", "pi", "first"),
    [(53, 0.018, 100), (53, 0.018, 1000), (53, 0.0126, 100), (53, 0.0126, 1000), (181, 0.0037, 100),
     (181, 0.0037, 1000)],
)  # fmt: skip
def test_skewed_weights_bias_nothing_and_the_stated_errors_cover(c2, pi, first):
    """Where a pilot of 1,000 draws meets three large weights and more. Of 20,000 rows, 0.683 and 0.954 have log p(x)
    within one and two stated errors of 0.1, up to 0.02 that the skewness leaves; exp(value) has the mean 1. False
    failures: 1e-6 each. Draws that decided for themselves left −10 % and a coverage of 64 % (c² = 53, π = 0.0126, 100
    first draws), −4 % and 86 % (c² = 181, π = 0.0037)."""
    estimate = of_a_law(c2, pi, first)
    assert_means(np.exp(estimate.value), 1.0)
    for distance, covered in {1: 0.683, 2: 0.954}.items():
        assert_share(np.abs(estimate.value) < distance * estimate.standard_error, covered, 0.02)
    needed = c2 / 0.1**2
    assert needed < estimate.num_samples.mean() < 1.4 * needed


@pytest.mark.parametrize(
    ("c2", "pi", "first", "covered", "told", "missed"),
    [(53, 0.0015, 100, 0.90, 0.37, 0.050), (53, 0.0005, 100, 0.60, 0.48, 0.368), (53, 0.0005, 1000, 0.60, 0.48, 0.368),
     (53, 0.0005, 10_000, 0.87, 0.0, 0.007), (181, 0.0005, 100, 0.60, 0.48, 0.368)],
)  # fmt: skip
def test_large_weights_so_rare_that_pilots_miss_them_are_not_covered_whatever_c2(c2, pi, first, covered, told, missed):
    """What the module says of π: two stated errors of 20,000 rows cover in so many, up to 0.02; so many are stated
    above 1.1 s, and in (1 − π)^(2n), of pilots of n = 1,000 or 5,000 draws, no large weight is met at all. Unbiased
    all the same. False failures: 1e-6 each. Coverage that went by c² alone would be 0.95."""
    estimate = of_a_law(c2, pi, first)
    assert_means(np.exp(estimate.value), 1.0)
    assert_share(np.abs(estimate.value) < 2 * estimate.standard_error, covered, 0.02)
    assert_share(estimate.standard_error > 0.11, told, 0.02)
    assert missed == pytest.approx((1 - pi) ** max(first, 2000), abs=5e-4)
    assert_share(estimate.standard_error < 1e-6, missed, 0.001)


def test_many_rounds_leave_little_bias_and_no_draw_comes_twice():
    """The standard deviation over 4,000 copies is what is stated, within 10 %: draws that came twice would raise it.
    The value lies below log p(x) by about s²/2 = 0.005, here less than 0.02."""
    model, copies, row = model_of_uneven_rows(), 4000, 4
    x = np.repeat(X[[row]], copies, 0)
    estimate = importance_sampling(model, x, 200, seed=2, batch_size=1000, standard_error=0.1, warn=False)
    assert len(set(estimate.num_samples)) > 100
    error = estimate.value - Oracle(model).log_likelihood(x[:1])
    assert error.std() == pytest.approx(np.sqrt(np.mean(estimate.standard_error**2)), rel=0.1)
    assert -0.02 < error.mean() < 0.003


def test_seeds_repeat_the_estimate():
    model = model_of_uneven_rows()
    arguments = {"standard_error": 0.1, "batch_size": 3, "warn": False}
    first, again, other = (importance_sampling(model, X, 100, seed=seed, **arguments) for seed in (5, 5, 6))
    for a, b in zip((*first, first.num_samples), (*again, again.num_samples)):
        np.testing.assert_array_equal(a, b)
    assert (first.value != other.value).any() and (first.num_samples != other.num_samples).any()


def test_no_batch_of_any_round_shares_its_seed(monkeypatch):
    seeds, blocks = [], sampler.Sampler.blocks

    def noted(self, x, num_samples, seed):
        seeds.append(tuple(seed.numpy()))
        return blocks(self, x, num_samples, seed)

    monkeypatch.setattr(sampler.Sampler, "blocks", noted)
    arguments = {"batch_size": 2, "warn": False}
    importance_sampling(model_of_uneven_rows(), X, 100, standard_error=0.05, **arguments)
    importance_sampling(model_of_uneven_rows(), X, 100, **arguments)
    assert len(seeds) > 8 + 4 + 4 and len(set(seeds)) == len(seeds)


def test_one_program_serves_all_rounds():
    model = model_of_uneven_rows()
    importance_sampling(model, X, 100, batch_size=8, warn=False)
    importance_sampling(model, X, 100, batch_size=8, standard_error=0.05, warn=False)
    importance_sampling(model, X[:5], 100, batch_size=8, standard_error=0.2, warn=False)
    (program,) = programs._programs[model].values()
    assert program.experimental_get_tracing_count() == 1


@pytest.mark.filterwarnings("ignore::tfdsmcmc.likelihood.UnreliableImportanceWeights")
def test_draws_that_are_spent_are_said():
    model = model_of_uneven_rows()
    with pytest.warns(PrecisionNotReached) as record:
        estimate = model.log_likelihood(X, 100, seed=1, standard_error=0.05, max_samples=1501)
    missed = int((estimate.standard_error > 1.1 * 0.05).sum())
    assert 0 < missed < 8
    (found,) = (w for w in record if w.category is PrecisionNotReached)
    assert f" {missed} of 8 rows is above 0.05 after 1,500 draws" in str(found.message) and found.filename == __file__
    assert estimate.num_samples.max() == 1500
    np.testing.assert_array_equal(estimate.num_samples[estimate.standard_error > 1.1 * 0.05], 1500)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importance_sampling(model, X, 100, seed=1, standard_error=0.05, max_samples=1501, warn=False)


@pytest.mark.filterwarnings("ignore::tfdsmcmc.likelihood.UnreliableImportanceWeights")
def test_the_shape_of_the_tail_is_that_of_the_longest_run():
    estimate = importance_sampling(quick_model((8,), seed=3, scale=0.7), X, 400, seed=1, standard_error=0.03)
    assert estimate.pareto_k.shape == (8,) and np.isfinite(estimate.pareto_k).all()


def sums_of(*runs):
    """Sums of runs of log-weights (draws, rows), each with the number of its half."""
    sums = precision._Sums(runs[0][1].shape[1])
    rows = np.arange(sums.count.shape[1])
    for half, w in runs:
        logs = np.logaddexp.reduce(w, 0), np.logaddexp.reduce(2 * w, 0)
        sums.add(np.full(len(rows), half), rows, *logs, np.full(len(rows), len(w)))
    return sums


def test_sums_against_the_weights_themselves():
    """The mean of the two means, the variation of all draws against the numbers of both, and (Σ u)²/Σ u² of the draws'
    shares, from weights of two halves of 30 and 50 draws, the second in two runs, and a pilot of 20."""
    rng = np.random.default_rng(0)
    a, b, pilot = rng.normal(size=(30, 3)), rng.normal(size=(50, 3)) * 1.5, rng.normal(size=(20, 3))
    runs = (0, a), (1, b[:20]), (1, b[20:])
    halves = sums_of(*runs)
    estimate = precision._estimate(halves, sums_of(*runs, (1, pilot)), with_tails=False)
    wa, wb, both = np.exp(a), np.exp(b), np.exp(np.concatenate([a, b, pilot]))
    np.testing.assert_allclose(estimate.value, np.log((wa.mean(0) + wb.mean(0)) / 2))
    c = both.var(0, ddof=1) / both.mean(0) ** 2
    np.testing.assert_allclose(estimate.standard_error, np.sqrt(c / 50 + c / 30) / 2)
    shares = np.concatenate([wa / 60, wb / 100])
    np.testing.assert_allclose(estimate.effective_sample_size, shares.sum(0) ** 2 / (shares**2).sum(0))
    np.testing.assert_array_equal(estimate.num_samples, [80, 80, 80])
    ca, cb = (w.var(0, ddof=1) / w.mean(0) ** 2 for w in (wa, wb))
    np.testing.assert_array_equal(halves.wanted(0.1, 10**6), np.ceil(1.2 / 0.02 * np.stack([ca, cb])))
    np.testing.assert_array_equal(halves.wanted(0.1, 40), np.minimum(np.ceil(1.2 / 0.02 * np.stack([ca, cb])), 40))


def test_a_pilot_is_half_of_what_it_decides_and_never_short():
    """c² = 99 by a half with one weight of 100 draws: 99/(4 s²). By equal weights 0, and still 40/(4 s²)."""
    rare = np.full((100, 2), -np.inf)
    rare[0, 0] = rare[:, 1] = 0.0
    pilots = sums_of((0, rare), (1, rare))
    needed = np.ceil([99 * 100 / 99 / (4 * 0.3**2), 40 / (4 * 0.3**2)])
    np.testing.assert_array_equal(pilots.missing(0.3, 10**6)[0], np.maximum(needed - 100, 100) * [1, 1])
    np.testing.assert_array_equal(pilots.missing(0.01, 10**6), np.full((2, 2), 900))  # nine times as many at most
    np.testing.assert_array_equal(pilots.missing(0.01, 150), np.full((2, 2), 50))
    assert not pilots.missing(0.6, 10**6).any() and not pilots.missing(0.01, 100).any()


def test_weights_of_zero_in_a_half_or_both():
    nothing = np.full((10, 2), -np.inf)
    one = nothing.copy()
    one[0, 0] = 0.0
    halves = sums_of((0, nothing), (1, one))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimate, missing = precision._estimate(halves, halves, False), halves.missing(0.1, 25)
        wanted = halves.wanted(0.1, 25)
    np.testing.assert_allclose(estimate.value, [np.log(0.05), -np.inf])
    assert np.isfinite(estimate.standard_error[0]) and np.isnan(estimate.standard_error[1])
    np.testing.assert_array_equal(missing, np.full((2, 2), 15))
    np.testing.assert_array_equal(wanted, np.full((2, 2), 25))


@pytest.mark.parametrize("counts", [[7], [9, 5, 1], [100, 3, 3, 2, 1], [4] * 16, [1]])
def test_places_of_a_batch_hold_just_what_is_missing(counts):
    counts = np.array(counts)
    place, share = precision._places(counts, 16)
    assert len(place) <= 16 and (share > 0).all()
    np.testing.assert_array_equal(np.bincount(place, share, len(counts)), counts)
    assert np.ptp(share[place == 0]) <= 1 and share.max() == -(-counts[0] // (16 // len(counts)))


@pytest.mark.parametrize("value", [0, -0.1, np.nan, np.inf, "a", True])
def test_bad_standard_errors(value):
    with pytest.raises(ValueError, match="^standard_error must .*Received: standard_error="):
        importance_sampling(quick_model(), X, 10, standard_error=value)


@pytest.mark.parametrize(
    ("num_samples", "max_samples", "words"),
    [(3, 100, "num_samples=3"), (100, 99, "max_samples=99"), (100, 0, "max_samples=0"), (9, 20.0, "max_samples=20.0")],
)
def test_bad_counts(num_samples, max_samples, words):
    with pytest.raises(ValueError, match=f"Received: {words}"):
        importance_sampling(quick_model(), X, num_samples, standard_error=0.1, max_samples=max_samples)

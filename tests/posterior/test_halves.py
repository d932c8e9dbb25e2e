"""Averages of which half is what a warm start found: against enumeration, and when validation rows take them."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.chance import assert_frequencies, assert_near
from tests.oracles import Oracle, binary_states, state_numbers, tiny_model
from tests.posterior.support import at, fit, model_to_fit, sample_of, unfitted, written
from tests.posterior.test_averages import expected
from tfdsmcmc.posterior import choice, load, merged
from tfdsmcmc.rows import ArraySource, rows_of
from tfdsmcmc.supports import Binary

STATES = binary_states(4).astype(np.float32)
CHAINS = (0, 0, 1, 0, 1)
OWN = ("weights", "units")


@pytest.fixture
def posterior(tmp_path):
    found = written(tmp_path, CHAINS)
    found.starts = [sample_of(tiny_model((2,), units=4, seed=20 + c), 5)._replace(chain=c) for c in range(2)]
    return found


def half_and_half(posterior, own):
    """log p of all 16 rows."""
    starts = [Oracle(at(unfitted(), sample[:2])).log_likelihood(STATES) for sample in posterior.starts]
    return np.logaddexp(expected(posterior, own), np.logaddexp(*starts) - np.log(2)) - np.log(2)


@pytest.mark.parametrize("own", OWN)
def test_log_likelihoods_samples_and_imputations(posterior, own):
    """z-tests of 16 rows and chi-square tests, at 10⁻⁶; neither half alone would pass."""
    model, average = unfitted(), f"{own}_and_start"
    exact = half_and_half(posterior, own)
    np.testing.assert_allclose(np.exp(exact).sum(), 1.0, atol=1e-6)
    found = posterior.log_likelihood(model, STATES, 3000, seed=2, average=average)
    assert_near(found.value, exact, found.standard_error)
    assert np.max(np.abs(expected(posterior, own) - found.value) / found.standard_error) > 10
    drawn = model.sample(20_000, seed=1, posterior=posterior, average=average)
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=16), np.exp(exact))
    row = np.array([[1, np.nan, np.nan, 0]], np.float32)
    options = {"method": "resampling", "num_samples": 2000, "posterior": posterior, "average": average}
    x = model.impute(row, num_imputations=2000, seed=2, **options)[:, 0]
    kept = np.flatnonzero((STATES[:, [0, 3]] == [1, 0]).all(1))
    wanted = np.exp(exact)[kept]
    assert_frequencies(np.bincount(state_numbers(x), minlength=16)[kept], wanted / wanted.sum())


def test_networks_of_units_and_of_a_start_are_of_one_kind(posterior):
    """A start stands beside a chain of three draws as three equal ones."""
    parts = posterior.components(unfitted(), "units_and_start")
    assert len(parts) == 4 and parts.draws == [3, 2, 3, 2]
    assert parts[0].model is parts[2].model and parts[1].model is parts[-1].model
    assert [part.theta[0].shape[0] for part in parts] == [3, 2, 3, 2]
    assert posterior.components(unfitted(), "weights_and_start").draws == [3, 2, 1, 1]
    with pytest.raises(IndexError):
        parts[4]


def test_parts_are_those_of_either_half(posterior):
    parts = posterior.parts("units_and_start")
    assert [part.average for part in parts] == ["units", "units", "start", "start"]
    assert [part.starts for part in parts] == [[], [], *([start] for start in posterior.starts)]


@pytest.mark.parametrize("own", OWN)
def test_without_a_start_there_is_no_half(posterior, own):
    average = f"{own}_and_start"
    with pytest.raises(ValueError, match=f"Received: average='{average}'"):
        posterior.curve(unfitted(), STATES, average=average)
    posterior.average = average
    assert posterior.curve(unfitted(), STATES, 20).average == own
    posterior.starts = posterior.starts[:1]  # one of two chains: no half
    assert merged.merged([posterior]).average == own
    with pytest.raises(ValueError, match=f"Received: average='{average}', of 2 chains and 1 starts"):
        posterior.components(unfitted(), average)
    posterior.starts = []
    with pytest.raises(ValueError, match=f"Received: average='{average}'.*"):
        posterior.log_likelihood(unfitted(), STATES, average=average)


def test_what_a_run_without_a_warm_start_was_told_is_read_without_it(tmp_path):
    collector = ds.posterior.Collector(tmp_path, 2, burn_in=0, every=1, average="units_and_start")
    with pytest.raises(ValueError, match="Received: average='units_and_start', validation_data=None"):
        fit(model_to_fit(), collector, 2, validation_data=None)
    fit(model_to_fit(), collector, 3)
    assert load(tmp_path).average == "units"


def test_rows_that_only_one_of_two_explains_choose_both():
    """Each row has the better of two within log 2; what is far behind on all rows is left out."""
    one = np.tile([-1.0, -5.0], 50)
    values = choice.mixed({"weights": one, "units": one - 1.0, "draws": one - 2.0, "start": one[::-1]})
    assert list(values) == ["weights", "units", "draws", "weights_and_start", "units_and_start", "start"]
    np.testing.assert_allclose(values["weights_and_start"], np.log((np.exp(-1) + np.exp(-5)) / 2))
    assert choice.preferred(values) == "weights_and_start"
    behind = choice.mixed({"weights": one - 9.0, "start": one})
    assert list(behind) == ["weights", "weights_and_start", "start"] and choice.preferred(behind) == "start"
    assert list(choice.mixed({"weights": one, "units": one})) == ["weights", "units"]


def test_the_choice_sees_what_the_mixture_is_worth(posterior):
    """Its estimate, of parts that were estimated apart, is that of all rows by enumeration to 0.02 nats."""
    rows = ArraySource(rows_of("x", np.repeat(STATES, 30, 0), 4, Binary()))
    found = choice.choose(posterior, unfitted(), rows, seed=1).log_likelihoods
    for own in OWN:
        assert abs(found[f"{own}_and_start"] - half_and_half(posterior, own).mean()) < 0.02

"""Weights of several climbs of a chain: kept, read, mixed in equal parts with the averages of what was sampled."""

import keras
import numpy as np
import pytest

import tfdsmcmc as ds
from tests.chance import assert_frequencies
from tests.oracles import Oracle, binary_states, state_numbers, tiny_model
from tests.posterior.support import at, fit, sample_of, unfitted, written
from tests.posterior.test_averages import expected
from tfdsmcmc.posterior import choice, looks, merged, starts
from tfdsmcmc.rows import ArraySource, rows_of
from tfdsmcmc.supports import Binary

STATES = binary_states(4).astype(np.float32)


@pytest.fixture
def posterior(tmp_path):
    found = written(tmp_path, (0, 0, 1, 0, 1))
    found.starts = [sample_of(tiny_model((2,), units=4, seed=20 + i), 5)._replace(chain=i // 3) for i in range(6)]
    return found


def of_starts(posterior):
    """log p of all 16 rows under each."""
    return np.stack([Oracle(at(unfitted(), sample[:2])).log_likelihood(STATES) for sample in posterior.starts])


def exact(posterior, own=None):
    """log p of all 16 rows under the mixture in equal parts, two of which are of what was sampled."""
    own = [] if own is None else [expected(posterior, own)] * 2
    parts = np.stack([*own, *of_starts(posterior)])
    return np.logaddexp.reduce(parts, 0) - np.log(len(parts))


@pytest.mark.parametrize("own", [None, "weights", "units"])
def test_a_mixture_in_equal_parts(posterior, own):
    average = "start" if own is None else f"{own}_and_start"
    wanted = exact(posterior, own)
    np.testing.assert_allclose(np.exp(wanted).sum(), 1.0, atol=1e-6)
    drawn = unfitted().sample(20_000, seed=1, posterior=posterior, average=average)
    assert_frequencies(np.bincount(state_numbers(drawn), minlength=16), np.exp(wanted))
    found = posterior.log_likelihood(unfitted(), STATES, 3000, seed=2, average=average).value
    assert abs(found.mean() - wanted.mean()) < 0.03


def test_components_and_parts(posterior):
    assert posterior.components(unfitted(), "units_and_start").draws == [3, 2, 3, 3, 3, 2, 2, 2]
    assert posterior.components(unfitted(), "weights_and_start").draws == [3, 2, 1, 1, 1, 1, 1, 1]
    parts = posterior.parts("units_and_start")
    assert [part.average for part in parts] == ["units"] * 2 + ["start"] * 6
    assert [part.starts for part in parts] == [[], [], *([start] for start in posterior.starts)]


def test_the_choice_sees_what_the_mixture_is_worth(posterior, monkeypatch):
    """By so many importance samples that their bias is a few thousandths; of all rows, each state as often."""
    monkeypatch.setattr(looks, "_SAMPLES", 1000)
    rows = ArraySource(rows_of("x", np.repeat(STATES, 25, 0), 4, Binary()))
    found = choice.choose(posterior, unfitted(), rows, seed=1).log_likelihoods
    for own in ("weights", "units"):
        assert abs(found[f"{own}_and_start"] - exact(posterior, own).mean()) < 0.02
    assert abs(found["start"] - exact(posterior).mean()) < 0.02


def test_starts_are_read_in_their_order(tmp_path, posterior):
    (tmp_path / "starts").mkdir()
    starts.write(tmp_path / "starts", posterior.starts[:3])
    names = {path.name for path in (tmp_path / "starts").iterdir()}
    assert names == {"start.h5", "start_climb_1.h5", "start_climb_2.h5"}
    for found, wanted in zip(starts.read(tmp_path / "starts"), posterior.starts[:3], strict=True):
        assert found.chain == 0
        for one, other in zip([*found.theta, *found.phi], [*wanted.theta, *wanted.phi], strict=True):
            np.testing.assert_array_equal(one, other)
    starts.delete(tmp_path / "starts")
    assert not list((tmp_path / "starts").iterdir())


def test_merged_chains_have_as_many_each(tmp_path, posterior):
    other = written(tmp_path / "other", (0, 0, 1))
    other.starts = [sample_of(tiny_model((2,), units=4, seed=30 + c), 5)._replace(chain=c) for c in range(2)]
    both = merged.merged([posterior, other])
    assert [start.chain for start in both.starts] == [0, 1, 2, 3]
    np.testing.assert_array_equal(both.starts[0].theta[0], posterior.starts[0].theta[0])
    assert len(both.components(unfitted(), "start")) == 4


@pytest.mark.parametrize("kind", ["warm start", "plain"])
def test_starts_of_a_run_that_went_on_otherwise_are_forgotten(tmp_path, kind):
    """It began as the present one, and ended before its first sample."""

    def run(rate, burn_in, kind):
        model, kernel = tiny_model((2,), units=4, seed=2, scale=0.5), ds.mcmc.SGHMC(learning_rate=0.01)
        climb = ds.mcmc.WarmStart(kernel=kernel, optimizer=keras.optimizers.Adam(rate), fraction=0.5)
        model.compile(climb if kind == "warm start" else kernel, jit_compile=False)
        fit(model, ds.posterior.Collector(tmp_path, num_samples=1, burn_in=burn_in, every=1), 4)
        return starts.starts_of(model)

    with pytest.warns(RuntimeWarning, match="0 of 1 posterior samples"):
        run(0.01, 100, "warm start")
    former = (tmp_path / "start.h5").read_bytes()
    with pytest.warns(UserWarning, match="they are forgotten"):
        begun = run(0.5, 3, kind)
    assert len(begun) == (kind == "warm start")
    for found, wanted in zip(starts.read(tmp_path), begun, strict=True):
        for one, other in zip([*found.theta, *found.phi], [*wanted.theta, *wanted.phi], strict=True):
            np.testing.assert_array_equal(one, other)
    assert not begun or former != (tmp_path / "start.h5").read_bytes()


def test_starts_of_epochs_that_a_run_makes_once_more_are_its_own(tmp_path):
    """It differs from the one before where its first sample is due, after the climb of both."""

    def run(burn_in):
        model = tiny_model((2,), units=4, seed=2, scale=0.5)
        model.compile(ds.mcmc.WarmStart(kernel=ds.mcmc.SGHMC(learning_rate=0.01), fraction=0.5), jit_compile=False)
        fit(model, ds.posterior.Collector(tmp_path, num_samples=1, burn_in=burn_in, every=1), 4)

    with pytest.warns(RuntimeWarning, match="0 of 1 posterior samples"):
        run(100)
    former = (tmp_path / "start.h5").read_bytes()
    with pytest.warns(UserWarning, match="they are forgotten"):
        run(3)
    assert former == (tmp_path / "start.h5").read_bytes()


def test_starts_that_a_kill_has_left_out_are_written_by_the_run_that_goes_on(tmp_path):
    model = tiny_model((2,), units=4, seed=2, scale=0.5)
    model.compile(ds.mcmc.WarmStart(kernel=ds.mcmc.SGHMC(learning_rate=0.01), fraction=0.5), jit_compile=False)
    collector = ds.posterior.Collector(tmp_path, num_samples=9, burn_in=2, every=1)
    with pytest.warns(RuntimeWarning, match="posterior samples"):
        fit(model, collector, 4)
        found = starts.read(tmp_path)
        (tmp_path / "start.h5").unlink()
        fit(model, collector, 5, initial_epoch=4)
    (start,) = starts.read(tmp_path)
    for one, other in zip([*start.theta, *start.phi], [*found[0].theta, *found[0].phi], strict=True):
        np.testing.assert_array_equal(one, other)

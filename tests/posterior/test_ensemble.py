"""A posterior cut, thinned and taken chain by chain, and its curve of log-likelihoods."""

import warnings
import weakref

import h5py
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.chance import assert_near
from tests.oracles import Oracle, binary_states, tiny_model
from tests.posterior.support import at, means, sample_of, unfitted, written
from tfdsmcmc.likelihood import LogLikelihood
from tfdsmcmc.posterior import MeanOverChains, load, store
from tfdsmcmc.posterior.curve import Curve
from tfdsmcmc.posterior.running_means import PredictiveAverage
from tfdsmcmc.rows import source_of
from tfdsmcmc.supports import Binary

pytestmark = pytest.mark.filterwarnings("ignore:The importance weights")  # of few samples, where few will do

X = binary_states(4)
CHAINS = (0, 1, 1, 0, 0, 1, 0)  # draws of chain 0: steps 10, 40, 50, 70; of chain 1: 20, 30, 60


def steps(posterior):
    return [sample.step for sample in posterior.samples]


@pytest.fixture(scope="module")
def model():
    return unfitted()


# ---- cutting


def test_slices_cut_the_draws_of_each_chain(tmp_path):
    posterior = written(tmp_path, CHAINS)
    assert steps(posterior[::2]) == steps(posterior.thin(2)) == [10, 20, 50, 60]
    assert steps(posterior[-2:]) == [30, 50, 60, 70]
    assert steps(posterior[:1]) == [10, 20]
    assert steps(posterior.thin(1)) == steps(posterior)
    assert steps(posterior[1:].thin(2)) == [30, 40, 70]
    assert (posterior.num_chains, posterior[1:].chain_numbers) == (2, [1, 0, 0, 1, 0])
    assert steps(posterior.chain(0)) == [10, 40, 50, 70] and posterior.chain(1).num_chains == 1
    assert steps(posterior.chain(1).thin(2)) == [20, 60]


def test_chains_on_disk_are_told_apart(tmp_path):
    """Draws of two chains, written after the same steps; a chain's mean is its own."""
    for i in range(3):
        pair = [sample_of(tiny_model((2,), units=4, seed=9 * c + i), 10 * (i + 1)) for c in range(2)]
        store.write_draw(tmp_path, [sample._replace(chain=c) for c, sample in enumerate(pair)])
    posterior = load(tmp_path)
    assert (posterior.num_chains, posterior.chain_numbers) == (2, [0, 1] * 3)
    assert [(s.step, s.chain) for s in posterior.thin(2).samples] == [(10, 0), (10, 1), (30, 0), (30, 1)]
    expected = np.mean([tiny_model((2,), units=4, seed=9 + i).generative.layers[-1].kernel for i in range(3)], 0)
    np.testing.assert_allclose(posterior.chain(1).mean()[0][-2], expected, rtol=1e-5, atol=1e-6)


def test_a_thinned_posterior_has_its_own_mean(tmp_path):
    """And not the stored one, which is of all samples."""
    posterior = written(tmp_path, (0,) * 5)
    samples, whole = list(posterior.samples), posterior.mean()
    for cut, kept in ((posterior, samples), (posterior.thin(2), samples[::2]), (posterior[-2:], samples[-2:])):
        for mean, expected in zip(cut.mean(), means(kept), strict=True):
            for one, other in zip(mean, expected, strict=True):
                np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
    assert np.abs(posterior.thin(2).mean()[0][-1] - whole[0][-1]).max() > 0.1


def test_samples_that_a_user_replaces_are_cut_and_averaged_too(tmp_path):
    posterior = written(tmp_path, (0,) * 3)
    posterior.samples = [sample._replace(phi=[w + 1 for w in sample.phi]) for sample in posterior.samples]
    expected = means(posterior.samples[::2])
    for one, other in zip(posterior.thin(2).mean()[1], expected[1], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_a_mean_over_chains_comes_with_a_warning(tmp_path):
    posterior = written(tmp_path, CHAINS)
    with pytest.warns(MeanOverChains, match="2 chains"):
        posterior.mean()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mean = posterior.chain(1).mean()[0]
    for one, other in zip(mean, means([posterior.samples[i] for i in (1, 2, 5)])[0], strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


def test_what_leaves_no_samples_is_refused(tmp_path, model):
    posterior = written(tmp_path)
    for reason, call in (
        ("cut by slices.*Received: index=0", lambda: posterior[0]),
        ("at least one sample.*Received: the slice", lambda: posterior[5:]),
        ("its step is not 0.*Received: slice", lambda: posterior[::0]),
        ("A slice is of integers.*Received: slice.'a'", lambda: posterior["a":]),
        ("A slice is of integers.*Received: slice.0.5", lambda: posterior[0.5:]),
        ("a folder with files.*Received: path='None'", lambda: load(None)),
        ("a folder with files.*Received: path='3'", lambda: load(3)),
        ("^every must be .*Received: every=0", lambda: posterior.thin(0)),
        ("^every must be .*Received: every=1.5", lambda: posterior.thin(1.5)),
        ("at least one sample.*Received: the number 1", lambda: posterior.chain(1)),
        ("^number must be .*Received: number=-1", lambda: posterior.chain(-1)),
        (r"^counts must be .*Received: counts=\[4\]", lambda: posterior.curve(model, X, counts=[4])),
        (r"^counts must be .*Received: counts=\[\]", lambda: posterior.curve(model, X, counts=[])),
        ("^counts must be a positive integer. Received: ", lambda: posterior.curve(model, X, counts=[0])),
        (r"^x must have the shape \(rows, 4\). Received: ", lambda: posterior.curve(model, X[:, :3])),
        ("weights of the shapes.*Received: a model", lambda: posterior.curve(tiny_model((3,), units=4), X)),
    ):
        with pytest.raises(ValueError, match=reason):
            call()
    with pytest.raises(TypeError, match="not iterable"):
        list(posterior)


# ---- the curve


def exact(weights):
    return Oracle(at(unfitted(), weights)).log_likelihood(X)


def test_the_curve_meets_enumeration(tmp_path, model):
    """Predictive average and mean of weights at m = 1, 2, 4, 5 on all 16 rows, z-tests at 10⁻⁶ of the stated errors.

    One sample more or less, the mean of logarithms, or the mean θ of another m differ by more than ten errors."""
    posterior = written(tmp_path, (0,) * 5)
    samples = list(posterior.samples)
    each = np.array([exact(sample[:2]) for sample in samples])
    before = model.get_weights()
    curve = posterior.curve(model, X, num_samples=4000, seed=3, average="draws")
    assert curve.counts == curve.mean_counts == (1, 2, 4, 5)
    for m, average, mean in zip(curve.counts, curve.predictive, curve.mean_of_weights, strict=True):
        expected = np.logaddexp.reduce(each[:m], 0) - np.log(m)
        assert_near(average.value, expected, average.standard_error)
        assert_near(mean.value, exact(means(samples[:m])), mean.standard_error)
        wrong = [np.logaddexp.reduce(each[: m - 1], 0) - np.log(m - 1)] if m > 1 else []
        wrong += [each[:m].mean(0), exact(means(samples[: m - 1]))] if m > 1 else []
        for values in wrong:
            assert np.max(np.abs(values - expected) / average.standard_error) > 10
    assert all(np.all(point.standard_error < 0.2) for point in (*curve.predictive, *curve.mean_of_weights))
    for one, other in zip(before, model.get_weights(), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("average", ["draws", "weights", "units"])
def test_the_curve_ends_with_the_predictive_log_likelihood(tmp_path, model, average):
    """Bit for bit with one seed, and with draws for the mean that are not those of the samples."""
    posterior = written(tmp_path)
    curve = posterior.curve(model, X, num_samples=50, counts=[3, 1], seed=7, batch_size=8, average=average)
    assert curve.counts == (1, 3)
    whole = posterior.log_likelihood(model, X, num_samples=50, seed=7, batch_size=8, average=average)
    for one, other in zip(curve.predictive[-1], whole, strict=True):
        np.testing.assert_array_equal(one, other)
    first = curve.predictive[0].value, curve.mean_of_weights[0].value  # one θ, two estimates
    assert np.all(first[0] != first[1])


def test_differences_are_row_by_row(tmp_path, model):
    curve = written(tmp_path).curve(model, X, num_samples=50)
    for difference, average, mean in zip(curve.difference, curve.predictive, curve.mean_of_weights, strict=True):
        np.testing.assert_allclose(difference.value, average.value - mean.value)
        np.testing.assert_allclose(difference.standard_error**2, average.standard_error**2 + mean.standard_error**2)
    paired, average = curve.difference[-1].mean(), curve.predictive[-1].mean()
    assert float(paired) == pytest.approx(float(average) - float(curve.mean_of_weights[-1].mean()), abs=1e-6)


def test_an_error_that_rows_share_is_part_of_a_difference():
    """It does not average out over the rows: √(0.3² + 0.4²) of the mean, beside the rows' own error of nearly 0."""
    points = [LogLikelihood(np.full(9, -2.0), np.full(9, e), np.ones(9), shared_standard_error=e) for e in (0.3, 0.4)]
    (difference,) = Curve((1,), (points[0],), (points[1],), (1,)).difference
    assert difference.shared_standard_error == pytest.approx(0.5)
    assert difference.mean().standard_error == pytest.approx(0.5)


def test_the_curve_over_chains_takes_the_mean_of_one(tmp_path, model):
    """Of the draws of chain 0 among the first m; the predictive average is of all."""
    posterior = written(tmp_path, CHAINS)
    samples = list(posterior.samples)
    with warnings.catch_warnings():
        warnings.simplefilter("error", MeanOverChains)
        curve = posterior.curve(model, X, num_samples=2000, average="draws")
    assert (curve.counts, curve.mean_counts) == ((1, 2, 4, 7), (1, 1, 2, 4))
    expected = exact(means([samples[i] for i in (0, 3, 4, 6)]))
    assert_near(curve.mean_of_weights[-1].value, expected, curve.mean_of_weights[-1].standard_error)
    each = np.array([exact(sample[:2]) for sample in samples])
    point = curve.predictive[-1]
    assert_near(point.value, np.logaddexp.reduce(each, 0) - np.log(7), point.standard_error)


def test_the_curve_reads_each_sample_once_and_holds_one(tmp_path, model, monkeypatch):
    posterior, read, alive = written(tmp_path, (0,) * 9), [], []
    original = store.read_sample

    def watched(path):
        sample = original(path)
        read.append(sample.step)
        alive.append(weakref.ref(sample.theta[-1]))
        assert sum(reference() is not None for reference in alive) <= 3  # the new one, and those just used
        return sample

    monkeypatch.setattr(store, "read_sample", watched)
    posterior.curve(model, X[:3], num_samples=4, counts=[1, 3, 8], average="draws")
    assert read == [10, 10, 20, 30, 40, 50, 60, 70, 80]  # one look at the architecture, and no farther than asked for
    read.clear()
    posterior.thin(3).mean()
    assert read == [10, 40, 70]


# ---- what is refused leaves all as it was


def test_a_mean_that_is_refused_leaves_the_weights(tmp_path):
    posterior, bare = written(tmp_path), tiny_model((2,), units=4)
    compiled = unfitted()
    not_binary = tf.data.Dataset.from_tensor_slices([*X, X[0] + 2]).batch(5)
    narrow = source_of("x", X[:, :3], 3, Binary())
    for model, arguments, reason in (
        (bare, {"x": X, "refit_epochs": 1}, "needs a compiled model"),
        (compiled, {"refit_epochs": 1}, "needs training data"),
        (compiled, {"x": X, "refit_epochs": 1, "batch_size": 0}, "batch_size must be"),
        (compiled, {"x": X[:, :3], "refit_epochs": 1}, r"x must have the shape \(rows, 4\)"),
        (compiled, {"x": X + np.inf, "refit_epochs": 1}, "x must be finite"),
        (compiled, {"x": not_binary, "refit_epochs": 1}, "x must be binary"),
        (compiled, {"x": narrow, "refit_epochs": 1}, "x must have the width 4"),
        (bare, {"refit_epochs": -1}, "refit_epochs must be"),
        (bare, {"verbose": "loud"}, "verbose is"),
        (ds.boltzmann.RBM(4, 2), {"x": X, "refit_epochs": 1}, "of a recognition network"),
    ):
        before = model.get_weights()
        with pytest.raises(ValueError, match=f"{reason}.*Received: "):
            posterior.apply_mean(model, **arguments)
        for one, other in zip(before, model.get_weights(), strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_mean_is_refitted_to_incomplete_rows(tmp_path):
    posterior, model = written(tmp_path), unfitted()
    theta, phi = posterior.mean()
    x = np.where(np.eye(16, 4) > 0, np.nan, X)
    posterior.apply_mean(model, x, refit_epochs=1)
    for variable, value in zip(model.generative.trainable_variables, theta, strict=True):
        np.testing.assert_array_equal(variable, value)
    found = [v.numpy() for v in model.recognition.trainable_variables]
    assert any(np.any(one != other) for one, other in zip(found, phi, strict=True))
    assert all(np.isfinite(part).all() for part in found)
    for rows in (source_of("x", x, 4, Binary()), tf.data.Dataset.from_tensor_slices(x).batch(5)):
        again = unfitted()
        posterior.apply_mean(again, rows, refit_epochs=1)
        for one, other in zip(again.get_weights(), model.get_weights(), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("change", ["a step that is no number", "a dataset in the place of a group"])
def test_files_of_another_kind_are_named(tmp_path, change):
    posterior = written(tmp_path, (0,))
    (path,) = posterior.samples.paths
    with h5py.File(path, "r+") as file:
        if change.startswith("a step"):
            file.attrs["step"] = "x"
        else:
            del file["theta"]
            file["theta"] = np.zeros(2)
    with pytest.raises(ValueError, match=f"Received: .*{path.name}"):
        load(tmp_path)


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (1, 2, 0)])
def test_densities_of_zero_count_in_any_order(order):
    """log p̂ of −∞, −3 and −2 have the average log((e⁻³ + e⁻²)/3); one of 0 adds no error, though its own is nan."""
    value, error, size = np.array([[-np.inf, -3, -2], [np.nan, 0.1, 0.2], [np.nan, 100, 30]])
    average, empty = PredictiveAverage(), PredictiveAverage()
    for i in order:
        average.add(LogLikelihood(value[[i]], error[[i]], size[[i]]))
        empty.add(LogLikelihood(value[[0]], error[[0]], size[[0]]))
    p = np.exp(value[1:])
    found = average.log_likelihood()
    np.testing.assert_allclose(found.value, [np.log(p.sum() / 3)])
    np.testing.assert_allclose(found.standard_error, [np.hypot(*(p * error[1:])) / p.sum()])
    np.testing.assert_allclose(found.effective_sample_size, [p.sum() ** 2 / (p**2 / size[1:]).sum()])
    assert empty.log_likelihood().value[0] == -np.inf and np.isnan(empty.log_likelihood().standard_error[0])


def test_a_row_of_density_zero_leaves_the_error_that_rows_share():
    average = PredictiveAverage()
    value, error = np.array([-np.inf, -2.0]), np.array([np.nan, 0.3])
    average.add(LogLikelihood(value, error, np.ones(2), shared_standard_error=0.2))
    assert average.log_likelihood().shared_standard_error == pytest.approx(0.2)

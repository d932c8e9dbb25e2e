"""Bounds from both sides against enumeration, and schedules found by a pilot run."""

import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.annealing.enumeration import KINDS, model_of
from tests.chance import assert_means
from tests.oracles import binary_states, randomize, tiny_model
from tests.slow_cases import mostly_slow
from tfdsmcmc.annealing import Path, annealing_schedule, latent_paths, pilot, sandwich, schedules
from tfdsmcmc.likelihood import exact

X = binary_states(3)


@pytest.mark.parametrize("path", mostly_slow([("prior",)], zip(latent_paths.PATHS)))
def test_the_bounds_enclose_the_exact_value(path):
    """4,096 simulated rows with draws of their own, at weights other than the model's: E exp(lower − log p) =
    E exp(log p − upper) = 1, and the rows have the means of p; false failures at most 1e-6 each. The gap is above 0 and
    its row standard error what a second sandwich differs by."""
    model, other = (model_of(KINDS["SBN"](), seed) for seed in (6, 5))
    weights = [[v.numpy() for v in network.trainable_variables] for network in (other.generative, other.recognition)]
    arguments = {"path": path, "schedule": "linear", "batch_size": 2**12, "weights": weights, "separation": 2}
    found = [sandwich(model, 2**12, 3, 4, seed=seed, **arguments) for seed in (1, 2)]
    x, lower, upper = found[0].x, found[0].lower.value, found[0].upper.value
    table = exact(other, X).value
    assert_means(x[:, :, None] * x[:, None], np.einsum("n,ni,nj->ij", np.exp(table), X, X))
    log_p = table[x @ [4, 2, 1]]
    assert_means(np.exp(lower - log_p), 1.0)
    assert_means(np.exp(log_p - upper), 1.0)
    gap, again = (one.gap for one in found)
    assert gap == pytest.approx(np.mean(upper - lower))
    assert gap.row_standard_error == pytest.approx(np.std(upper - lower) / 2**6, rel=1e-3)
    assert gap > 5 * gap.row_standard_error and np.mean(lower) < np.mean(log_p) < np.mean(upper)
    assert abs(gap - again) < 5 * np.hypot(gap.row_standard_error, again.row_standard_error)
    assert 1 < gap.effective_sample_size < 4


def test_without_latent_layers_there_is_no_gap():
    model = ds.DeepGenerativeModel(ds.GenerativeNetwork([ds.layers.DARN(3)]), ds.RecognitionNetwork([]))
    randomize(model)
    assert sandwich(model, 5, schedule="adaptive").gap == 0


def test_bad_arguments():
    for wrong in ({"num_rows": 0}, {"num_runs": 0}, {"path": "q"}, {"schedule": "fast"}, {"seed": -1}):
        with pytest.raises(ValueError, match=f"{next(iter(wrong))}.*Received: "):
            sandwich(tiny_model(), **{"num_rows": 2, **wrong})


# ---- schedules


def test_named_schedules():
    np.testing.assert_allclose(schedules.fixed("linear", 4), [0, 0.25, 0.5, 0.75, 1])
    betas = schedules.fixed("sigmoid", 1000)
    assert betas[0] == 0 and betas[-1] == 1 and betas[500] == pytest.approx(0.5)
    # the slopes of σ(4 (2t/T − 1)) in the middle and at the ends: ¼ and σ(4) σ(−4)
    assert np.diff(betas)[500] / np.diff(betas)[0] == pytest.approx(0.25 / (0.98201 * 0.01799), rel=0.01)
    np.testing.assert_array_equal(schedules.fixed("sigmoid", 1), [0, 1])


class _Line(Path):
    """A path whose densities are exp(β s) at given s, (runs, rows), which transitions do not change."""

    def __init__(self, slopes):
        super().__init__(slopes.size, slopes.shape[1])
        self.slopes = tf.constant(slopes.ravel(), tf.float32)

    def increment(self, before, after, z):
        return (after - before) * self.slopes


def test_the_next_beta_by_bisection():
    """Where the conditional effective sample size, computed directly, is the fraction asked for."""
    slopes = np.random.default_rng(0).normal(0, 5, (pilot.NUM_RUNS, 7))
    path = _Line(slopes)
    for beta in (0.0, 0.4):
        for fraction in (0.9, 0.99):
            found = float(pilot._next_beta(path, tf.constant(beta), None, fraction))
            u = np.exp((found - beta) * slopes)
            remaining = (u.mean(0) ** 2 / (u**2).mean(0)).mean()
            assert beta < found < 1 and remaining == pytest.approx(fraction, abs=1e-4)
    assert float(pilot._next_beta(path, tf.constant(0.0), None, 0.05)) == 1.0
    assert float(pilot._next_beta(_Line(0 * slopes), tf.constant(0.3), None, 0.999)) == 1.0


def test_an_adaptive_schedule():
    """It arrives with the steps it is given or with fewer, also where the fraction asks for more."""
    model = model_of(KINDS["SBN"]())
    tight, loose = (annealing_schedule(model, X, 20, fraction, seed=1) for fraction in (0.999, 0.7))
    for betas in (tight, loose):
        np.testing.assert_array_equal(schedules.fixed(betas, 1), betas)
    assert len(loose) - 1 < 5 < len(tight) - 1 <= 20
    estimate = ds.annealing.annealed_importance_sampling(model, X, 20, 500, schedule="adaptive", seed=2)
    np.testing.assert_array_less(np.abs(estimate.value - exact(model, X).value) / estimate.standard_error, 5.5)


def test_bad_arguments_of_a_schedule():
    wrong = ({"fraction": 1.0}, {"fraction": 0}, {"fraction": None}, {"num_steps": 0}, {"batch_size": 0}, {"path": "q"})
    for arguments in wrong:
        with pytest.raises(ValueError, match=f"{next(iter(arguments))}.*Received: "):
            annealing_schedule(tiny_model(), X, **arguments)
    with pytest.raises(ValueError, match="latent layers. Received: "):
        model = ds.DeepGenerativeModel(ds.GenerativeNetwork([ds.layers.DARN(3)]), ds.RecognitionNetwork([]))
        annealing_schedule(model, X)

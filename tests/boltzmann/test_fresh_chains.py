"""Why a kernel that samples is to have persistent chains: what fresh ones leave of the gradient at strong weights.

A machine of 3 × 2 units with weights of deviation 4, whose chain forgets 5 % in a step, and rows of its own law. Away
from its weights along one direction, the exact gradient pulls back; CD-1 by a twentieth of that, CD-3 by a seventh.
"""

import warnings

import keras
import numpy as np
import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tests.boltzmann.oracle import Enumerated, tiny_machine, tiny_rbm
from tests.oracles import flat
from tfdsmcmc.boltzmann import ContrastiveDivergence, Machine

COPIES, AWAY = 20_000, 0.3
MACHINE = tiny_machine(3, 2, seed=8, scale=4.0)
WEIGHTS = flat(MACHINE).astype(np.float64)
ROWS = np.random.default_rng(0).integers(0, 2, (10, 4)).astype(np.uint8)


def at(weights, dtype=np.float64):
    """A machine of these eleven numbers."""
    parts = np.split(np.asarray(weights, dtype), [6, 9])
    return Machine(parts[0].reshape(3, 2), *parts[1:])


def drift(weights, law, steps):
    """E g, (11,), of CD-T for rows of a law; of the likelihood where T is None."""
    truth = Enumerated(at(weights))
    negative = truth.joint.sum(1) if steps is None else law @ np.linalg.matrix_power(truth.gibbs, steps)
    return flat(truth.statistics(law)) - flat(truth.statistics(negative))


def covariance(steps):
    """C_T: of s(v) with s(v) T steps later, (11, 11)."""
    truth = Enumerated(MACHINE)
    law = truth.joint.sum(1)
    s = np.stack([flat(truth.statistics(row)) for row in np.eye(8)])
    s = s - law @ s
    return s.T @ (law[:, None] * (np.linalg.matrix_power(truth.gibbs, steps) @ s))


def direction():
    """The unit vector of weights along which CD-3 leaves least, of those along which the posterior is not flat."""
    least, ridge = covariance(0) - covariance(3), np.eye(11) / 320
    roots = np.linalg.inv(np.linalg.cholesky(covariance(0) + ridge))
    u = roots.T @ np.linalg.eigh(roots @ (least + ridge) @ roots.T)[1][:, 0]
    return u / np.linalg.norm(u)


def slopes(weights, law, steps, h=1e-5):
    """The derivative of the drift, (11, 11), by differences."""
    around = [(drift(weights + h * e, law, steps), drift(weights - h * e, law, steps)) for e in np.eye(11)]
    return np.stack([(above - below) / (2 * h) for above, below in around], 1)


@pytest.mark.parametrize("steps", [None, 1, 3])
def test_the_drift_lacks_what_the_chain_remembers(steps):
    """Its derivative at the weights: −C_0, and −(C_0 − C_T) of CD-T, whose C_T is never negative."""
    remembered = 0.0 if steps is None else covariance(steps)
    found = slopes(WEIGHTS, Enumerated(MACHINE).joint.sum(1), steps)
    np.testing.assert_allclose(found, remembered - covariance(0), atol=1e-7)
    if steps is not None:
        assert np.linalg.eigvalsh(remembered).min() > -1e-12


def test_fresh_chains_may_push_away_from_a_mode_of_the_posterior():
    """Of fifty rows whose law no machine has, under N(0, 3²): all eleven curvatures of the posterior are negative, and
    the drift of CD-1 has an eigenvalue of +6 · 10⁻⁴, as large as the smallest of them."""
    law, ridge = np.array([8, 24, 0, 3, 0, 0, 11, 4]) / 50, np.eye(11) / 3**2 / 50
    mode = np.array([-3.8, -3.8, -3.0, -3.0, 1.1, 1.1, 2.4, 2.9, -0.9, 2.4, 2.4])
    for _ in range(6):
        mode -= np.linalg.solve(slopes(mode, law, None) - ridge, drift(mode, law, None) - ridge @ mode)
    np.testing.assert_allclose(drift(mode, law, None), ridge @ mode, atol=1e-9)
    exact, fresh = (np.linalg.eigvals(slopes(mode, law, T) - ridge).real.max() for T in (None, 1))
    assert exact == pytest.approx(-6.3e-4, abs=5e-5) and fresh == pytest.approx(6.1e-4, abs=5e-5)


@pytest.mark.parametrize(
    ("estimator", "left"),
    [(ContrastiveDivergence(1), 0.053), (ContrastiveDivergence(3), 0.150),
     (ContrastiveDivergence(20, persistent=True, num_particles=COPIES), 1.0)],
    ids=["CD-1", "CD-3", "persistent"],
)  # fmt: skip
def test_what_is_left_of_the_pull_at_strong_weights(estimator, left):
    """Along the direction, of 0.63 for each unit of distance: by the covariances as stated, by enumeration at a
    distance of 0.3, and by 20,000 chains there within 5.5 standard errors of at most 0.006.

    The exact pull is −0.19 there, so that chains of the other kind would fail by 25 standard errors. Persistent ones
    come from independent bits in 200 steps, of which 10⁻⁴ is left.
    """
    u, steps = direction(), None if estimator.persistent else estimator.steps
    pulls = [u @ covariance(0) @ u, *([] if steps is None else [u @ covariance(steps) @ u])]
    assert pulls[0] == pytest.approx(0.63, abs=0.005)
    assert 1 - sum(pulls[1:]) / pulls[0] == pytest.approx(left, abs=5e-4)

    there = at(WEIGHTS + AWAY * u, np.float32)
    rows = ds.boltzmann.exact_draws(MACHINE, COPIES, seed=0)
    law = np.bincount(rows.astype(int) @ [4, 2, 1], minlength=8) / COPIES
    carry = estimator.start(list(there), None, tf.constant([0, 1])) if estimator.persistent else None
    for i in range(10 if estimator.persistent else 1):
        arguments = list(map(tf.constant, there)), tf.constant(rows), 1.0, (), carry, tf.constant([1, i])
        found, _, carry = estimator.gradient(*arguments)
    exact, want = (u @ drift(WEIGHTS + AWAY * u, law, T) for T in (None, steps))
    assert abs(u @ flat(found) - want) < 5.5 * 0.006
    assert exact == pytest.approx(-0.19, abs=0.03) and abs(want - left * exact) < 0.03


def test_a_kernel_that_samples_has_persistent_chains_unless_they_are_named():
    rbm = tiny_rbm()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for kernel, persistent in ((None, False), (ds.mcmc.MAP(optimizer=keras.optimizers.SGD(0.1)), False),
                                   (ds.mcmc.SGHMC(learning_rate=0.01), True), (ds.mcmc.SGLD(), True)):  # fmt: skip
            rbm.compile(kernel, jit_compile=False)
            assert rbm.get_compile_config() is not None and rbm.fitting.settings["estimator"].persistent is persistent
        rbm.compile(ds.mcmc.SGNHT(), ContrastiveDivergence(3, persistent=True), jit_compile=False)
    rbm.fit(ROWS, batch_size=5, epochs=1, verbose=0)


@pytest.mark.parametrize("kernel", ["SGHMC", "SGNHT", "SGLD", "WarmStart"])
def test_a_kernel_that_samples_by_fresh_chains_is_told_of(kernel):
    warm = kernel == "WarmStart"
    kernel = ds.mcmc.WarmStart(kernel=ds.mcmc.SGHMC()) if warm else getattr(ds.mcmc, kernel)()
    with pytest.warns(UserWarning, match=r"too wide. Take ContrastiveDivergence\(persistent=True\)") as told:
        tiny_rbm().compile(kernel, ContrastiveDivergence(3), jit_compile=False)
    assert [warning.filename for warning in told] == [__file__]

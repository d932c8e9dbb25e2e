"""Each kind of units by the suite, and what is its own."""

import numpy as np
import pytest
import tensorflow as tf

from tests.boltzmann.units.conformance import run_units_test
from tests.boltzmann.units.oracle import KINDS
from tfdsmcmc.boltzmann.units import Binary, Categorical, Gaussian, Spin, kind_of

BAD = {
    "spin": [[0.0, 1.0], [1.0, -2.0]],
    "categorical": [[0, 0, 0, 1, 0], [1, 1, 0, 1, 0], [1, 0, 0, 1, 1]],
}


@pytest.mark.compiled
@pytest.mark.parametrize("name", KINDS)
def test_the_contract_of_units(name):
    run_units_test(*KINDS[name], BAD.get(name, ()))


@pytest.mark.compiled
def test_groups_of_many_sizes():
    """Runs of equal groups, one after the other, as one kind."""
    run_units_test(Categorical([2, 2, 3, 2]), 9, [[1, 1] + [1, 0] + [1, 0, 0] + [1, 0]])


def test_a_layer_without_a_field():
    """Γ(0) is the logarithm of the number of states, of real units that of the volume of exp(−γ v²/2)."""
    volume = np.exp(tf.squeeze(Gaussian(2.0).cumulant(tf.zeros([1]), tf.constant([2.0]))))
    for found, exact in (
        (np.exp(Binary().cumulant(tf.zeros([5]))), 32.0), (np.exp(Spin().cumulant(tf.zeros([5]))), 32.0),
        (np.exp(Categorical([3, 4]).cumulant(tf.zeros([7]))), 12.0), (volume, np.sqrt(np.pi)),
    ):  # fmt: skip
        assert found == pytest.approx(exact, rel=1e-5)


def test_groups_are_observed_whole_or_not_at_all():
    kind = Categorical([3, 2])
    x = np.array([[0.5, 0.5, 0.5, 0, 1], [0, 1, 0, 0.5, 0.5]], np.float32)
    kind.support.check("x", x, x != 0.5)
    with pytest.raises(ValueError, match="in each group.*Received: 3 other entries"):
        kind.support.check("x", x, np.array([[0, 1, 0, 1, 1], [1, 1, 1, 0, 0]], bool))
    with pytest.raises(ValueError, match="in each group.*Received: 2 other entries, the first 1.0"):
        kind.support.check("x", np.array([[0.5, 0.5, 0.5, 1, 1]]), np.array([[0, 0, 0, 1, 1]], bool))
    with pytest.raises(ValueError, match="Received: 1 other entries"):
        Spin().support.check("x", np.array([[0.0, 0.5, 1.0]]), np.array([[False, True, True]]))


def test_precisions_are_fixed_or_learnt():
    fixed, learnt = Gaussian(4.0), Gaussian(4.0, learnt=True)
    assert fixed != learnt and fixed.parameters == () and learnt.parameters == ("log_precision",)
    x = np.random.default_rng(0).normal(3.0, 0.25, (1000, 2)).astype(np.float32)
    (bias,), (own, log_precision) = fixed.fit(x, 0.0), learnt.fit(x, 0.0)
    np.testing.assert_allclose(bias, 4.0 * x.mean(0), rtol=1e-5)
    np.testing.assert_allclose(np.exp(-log_precision), x.var(0), rtol=1e-4)
    np.testing.assert_allclose(own, x.mean(0) / x.var(0), rtol=1e-4)


WRONG = {
    "no kind": lambda: kind_of("visible", "potts"),
    "a class": lambda: kind_of("visible", Spin),
    "none": lambda: kind_of("visible", None),
    "no groups": lambda: Categorical([]),
    "one state": lambda: Categorical([3, 1]),
    "half a state": lambda: Categorical([2.5]),
    "a number": lambda: Categorical(3),
    "width": lambda: Categorical([3, 2]).support.check_width("units", 4),
    "precision": lambda: Gaussian(0.0),
    "learnt": lambda: Gaussian(1.0, learnt=1),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name):
    with pytest.raises(ValueError, match="Received: "):
        WRONG[name]()

"""Machines from arrays, and that one of spins is one of bits in other coordinates."""

import numpy as np
import pytest

import tfdsmcmc as ds
from tests.boltzmann.oracle import Enumerated
from tests.boltzmann.units.oracle import Table
from tests.oracles import log_sum
from tfdsmcmc.boltzmann import rbm_from_arrays

RNG = np.random.default_rng(4)
KERNEL, BIAS, HIDDEN_BIAS = (RNG.normal(0.1, 0.5, shape) for shape in ((6, 4), 6, 4))
BETAS = np.linspace(0, 1, 31)


def spins():
    return rbm_from_arrays(KERNEL, BIAS, HIDDEN_BIAS, "spin", "spin")


def image():
    """(the machine of bits that is that of spins, what log Z of the spins has more), see `units.spin`."""
    bits = rbm_from_arrays(4 * KERNEL, 2 * BIAS - 2 * KERNEL.sum(1), 2 * HIDDEN_BIAS - 2 * KERNEL.sum(0))
    return bits, KERNEL.sum() - BIAS.sum() - HIDDEN_BIAS.sum()


def test_spins_and_their_bits_have_one_log_z():
    """Exactly, by the code of both kinds and by enumeration; and the same probabilities, state by state."""
    bits, constant = image()
    exact = ds.boltzmann.exact_log_partition(bits) + constant
    assert ds.boltzmann.exact_log_partition(spins()) == pytest.approx(exact, abs=1e-6)
    table, enumerated = Table(spins().machine), Enumerated(bits.machine)
    assert table.log_z == pytest.approx(enumerated.log_z + constant, abs=1e-6)
    np.testing.assert_array_equal(table.v, 2 * enumerated.v - 1)
    np.testing.assert_allclose(table.law, enumerated.joint.sum(1), atol=1e-7)
    x = enumerated.v[::5]
    assert spins().log_likelihood(2 * x - 1).value == pytest.approx(bits.log_likelihood(x).value, abs=1e-4)


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_spins_and_their_bits_by_annealing(direction):
    """1,000 runs of 30 steps of each, within six standard errors of the exact value, from both sides."""
    bits, constant = image()
    exact = ds.boltzmann.exact_log_partition(bits)
    for rbm, truth in ((bits, exact), (spins(), exact + constant)):
        rows = ds.boltzmann.exact_draws(rbm, 300, seed=1)
        found = ds.boltzmann.log_partition(rbm, 1000, schedule=BETAS, base=rows, direction=direction, seed=2)
        assert abs(found.value - truth) < 6 * found.standard_error < 0.3
        assert found.interval[0] < truth < found.interval[1]


def test_an_estimate_is_of_one_kind_of_units():
    """log Z of bits with the weights of the spins is another number, and is refused."""
    plain = rbm_from_arrays(KERNEL, BIAS, HIDDEN_BIAS)
    found = ds.boltzmann.log_partition(plain, 5, 5)
    assert np.isfinite(plain.log_likelihood(np.ones((1, 6)), found).value).all()
    with pytest.raises(ValueError, match="other weights.*Received: "):
        spins().log_likelihood(np.ones((1, 6)), found)


def test_an_ising_ring():
    """Spins on a ring of 2n sites, every other one hidden: log Z = log((2 cosh J)^2n + (2 sinh J)^2n)."""
    n, coupling = 5, 0.7
    kernel = coupling * (np.eye(n) + np.roll(np.eye(n), 1, 1))
    exact = log_sum(2 * n * np.log([2 * np.cosh(coupling), 2 * np.sinh(coupling)]))
    ring = rbm_from_arrays(kernel, visible="spin", hidden="spin")
    assert ds.boltzmann.exact_log_partition(ring) == pytest.approx(exact, rel=1e-6)
    both = ds.boltzmann.sandwich(ring, 500, schedule=BETAS)
    assert all(abs(bound.value - exact) < 6 * bound.standard_error < 0.5 for bound in both)


def test_what_is_given_is_set():
    gaussian = ds.boltzmann.units.Gaussian(learnt=True)
    rbm = rbm_from_arrays(KERNEL, visible=gaussian, hidden="gaussian", log_precision=np.full(6, 2.0), seed=3)
    np.testing.assert_allclose(rbm.kernel, KERNEL, rtol=1e-6)
    assert not rbm.bias.numpy().any() and (dict(rbm.named_weights)["log_precision"].numpy() == 2.0).all()
    assert (rbm.units, rbm.hidden_units, rbm.seed) == (6, 4, 3)


WRONG = {
    "a vector": lambda: rbm_from_arrays(BIAS),
    "nothing": lambda: rbm_from_arrays(None),
    "words": lambda: rbm_from_arrays([["a"]]),
    "not finite": lambda: rbm_from_arrays(KERNEL * np.nan),
    "turned": lambda: rbm_from_arrays(KERNEL.T, BIAS, HIDDEN_BIAS),
    "turned, one bias": lambda: rbm_from_arrays(KERNEL.T, BIAS),
    "a bias too long": lambda: rbm_from_arrays(KERNEL, np.zeros(7)),
    "hidden bias": lambda: rbm_from_arrays(KERNEL, hidden_bias=np.zeros(5)),
    "no such weight": lambda: rbm_from_arrays(KERNEL, log_precision=np.zeros(6)),
    "groups": lambda: rbm_from_arrays(KERNEL, visible=ds.boltzmann.units.Categorical([3, 2])),
    "no log Z": lambda: ds.boltzmann.exact_log_partition(
        rbm_from_arrays(3 * KERNEL, visible="gaussian", hidden="gaussian")
    ),
    "a mixture of bits": lambda: ds.boltzmann.log_partition(spins(), 5, base=ds.boltzmann.MixtureOfBernoullis(6, 2)),
    "a base of bits": lambda: ds.boltzmann.log_partition(spins(), 5, 5, base=np.zeros((3, 6))),
    "draws of bits": lambda: ds.boltzmann.log_partition(spins(), 1, 5, direction="reverse", draws=np.zeros((1, 6))),
    "a ratio of two kinds": lambda: ds.boltzmann.log_partition_ratio(spins(), image()[0], 5, 5),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name):
    with pytest.raises(ValueError, match="Received: "):
        WRONG[name]()


def test_a_turned_kernel_is_called_so():
    with pytest.raises(ValueError, match=r"transpose it. Received: \(4, 6\)"):
        rbm_from_arrays(KERNEL.T, BIAS, HIDDEN_BIAS)

"""What is refused before log Z is annealed, and numbers that float32 does not have."""

import re

import numpy as np
import pytest

import tfdsmcmc as ds
from tfdsmcmc.boltzmann.densities.machine import MachineDensity
from tfdsmcmc.boltzmann.densities.stack import StackDensity
from tfdsmcmc.boltzmann.partition import log_partition

B = ds.boltzmann


class Annealed(Exception):
    pass


@pytest.fixture
def no_annealing(monkeypatch):
    """Whatever would anneal ends in an error of its own."""

    def run(*arguments, **options):
        raise Annealed

    monkeypatch.setattr(log_partition, "_run", run)
    monkeypatch.setattr(log_partition, "_found", run)


def test_draws_of_a_sandwich(no_annealing):
    rbm = B.RBM(30, 28)
    with pytest.raises(ValueError, match="draws.*Received: "):
        B.sandwich(rbm, 4, 10, draws=np.zeros((4, 29)))
    with pytest.raises(Annealed):
        B.sandwich(rbm, 4, 10, draws=np.zeros((4, 30)))


@pytest.mark.parametrize("machines", [1, 2])
def test_batch_sizes(no_annealing, machines):
    rbms = [B.RBM(30, 28), B.RBM(28, 27)][:machines]
    density = B.DBN(rbms).density()
    assert type(density) is (StackDensity if machines == 2 else MachineDensity)
    x = np.zeros((2, 30), np.uint8)
    with pytest.raises(ValueError, match="batch_size must be.*Received: batch_size=0"):
        density.annealed_log_likelihood(x, 0, batch_size=0)
    with pytest.raises(Annealed):
        density.annealed_log_likelihood(x, 0, batch_size=2)


@pytest.mark.parametrize("value", [1e39, 1e-46, 0.0, -1.0, np.nan])
def test_numbers_that_float32_does_not_have(value):
    for made in (
        lambda: B.MixtureOfBernoullis(4, 2, smoothing=value),
        lambda: B.MixtureOfBernoullis(4, 2, concentration=value),
        lambda: B.units.Gaussian(precision=value),
    ):
        received = re.escape(f"={value}")
        with pytest.raises(ValueError, match=f"(smoothing|concentration|precision) must be .*Received: .*{received}"):
            made()


def test_imputations():
    with pytest.raises(ValueError, match="steps must be below 2.31. Received: steps=2147483648"):
        B.RBM(4, 3).impute(np.full((2, 4), np.nan), steps=2**31)
    with pytest.raises(ValueError, match="A seed is an integer.*Received: "):
        B.RBM(4, 3).impute(np.zeros((2, 4), np.uint8), seed="a")

"""Draws that are thinned to a number of each chain."""

import pytest

from tests.posterior.support import written
from tests.posterior.test_ensemble import CHAINS, steps


def test_draws_are_thinned_to_a_number_of_each_chain(tmp_path):
    """Evenly spaced, first and last among them; CHAINS has three and four draws."""
    posterior = written(tmp_path, CHAINS)
    assert steps(posterior.thin_to(2)) == [10, 20, 60, 70]
    assert steps(posterior.thin_to(3)) == [10, 20, 30, 50, 60, 70]
    assert steps(posterior.thin_to(4)) == steps(posterior.thin_to(99)) == steps(posterior)
    assert steps(posterior.thin_to(1)) == [10, 20]
    for draws in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="^draws must be a positive integer. Received: "):
            posterior.thin_to(draws)

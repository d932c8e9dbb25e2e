"""The bound of mean-field variational Bayes: it never falls, and stays below log p(X)."""

import numpy as np
import pytest
import tensorflow as tf

from tests.augmentation.variational import Ascent, largest_fall, rows_of, shapes_of, student_t, three_parameters

NETWORKS = {
    "SBN": {"widths": [4, 3]},
    "deep": {"widths": [4, 3, 2]},
    "DARN": {"widths": [4, 3], "lateral": (0, 1)},
    "deep DARN": {"widths": [3, 3, 2], "lateral": (0, 1, 2)},
    "FVSBN": {"widths": [4], "lateral": (0,)},
    "labels": {"widths": [4, 3], "labels": 3},
    "gaps": {"widths": [4, 3], "gaps": True},
}


def ascent_of(kind, widths, lateral=(), labels=1, gaps=False, num_rows=20, **options):
    rows = rows_of(widths[0], num_rows, labels, gaps)
    return Ascent(shapes_of(widths, lateral, labels), rows, kind, **options)


@pytest.mark.parametrize("network", NETWORKS)
@pytest.mark.parametrize("kind", ["full", "diagonal"])
def test_no_move_lowers_it(kind, network):
    """In float64, from random values of all factors: a wrong term in any update, or in the bound, shows as a fall."""
    ascent = ascent_of(kind, **NETWORKS[network])
    first = ascent.bound()
    fall, move, last = largest_fall(ascent, 8)
    assert fall > -1e-9, move
    assert last > first + 1

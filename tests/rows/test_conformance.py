"""Each source keeps the contract."""

import numpy as np
import pytest
import tensorflow as tf

from tests.conformance.sources import run_source_test
from tfdsmcmc.rows import source_of, weighted


def test_an_array():
    run_source_test(lambda x, support: source_of("x", x, 3, support))


def test_rows_with_weights():
    run_source_test(lambda x, support: weighted(source_of("x", x, 3, support), np.arange(1, len(x) + 1)))


@pytest.mark.parametrize("size", [1, 2, 7])
def test_a_dataset(size):
    """Whatever batches the dataset itself has."""

    def make(x, support):
        return source_of("x", tf.data.Dataset.from_tensor_slices(x).batch(size), 3, support)

    run_source_test(make)

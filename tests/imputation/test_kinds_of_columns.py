"""Imputation of tables with columns of many kinds."""

import numpy as np
import pytest
import tensorflow as tf

from tests.layers.tables import model_of
from tfdsmcmc._common import concatenating
from tfdsmcmc.columns import Binary, Real, Semicontinuous, Skewed
from tfdsmcmc.imputation.resampling import Resampling
from tfdsmcmc.rows import Rows


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.parametrize(("repeated", "most"), [(1, 64), (2, 64), (2, 1)])
def test_a_compiled_plan_of_four_kinds_ends_with_what_it_says_without_xla(repeated, most, monkeypatch):
    """Compiling it took longer than ten minutes where a gather had put draws of four kinds in the order of a table."""
    monkeypatch.setattr(concatenating, "_MOST_RUNS", most)
    model = model_of([Real(), Semicontinuous(2.0), Skewed(0.0), Binary()] * repeated, seed=4, scale=0.7)
    x = model.sample(8, seed=1)
    observed = np.ones(x.shape, bool)
    observed[0, 0] = observed[1, 1:3] = observed[2] = False
    plan, rows = Resampling(2, 8, 8), Rows(tf.constant(x), tf.constant(observed))
    compiled = tf.function(lambda seed: plan(model.generative, model.recognition, rows, seed), jit_compile=True)
    seed = tf.constant([1, 2])
    for found, expected in zip(compiled(seed), plan(model.generative, model.recognition, rows, seed), strict=True):
        np.testing.assert_allclose(found, expected, rtol=2e-4, atol=2e-4)

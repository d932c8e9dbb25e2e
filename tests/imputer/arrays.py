"""Arrays with gaps, and imputers of them that learn in one update."""

import numpy as np

import tfdsmcmc as ds

NAN = np.nan
SHORT = {"method": "resampling", "num_samples": 4}
TINY = {"hidden_units": 2, "updates": 1, "batch_size": 10, "posterior_samples": 0, "jit_compile": False}
TINY = {**TINY, "random_state": 0, "imputation_options": SHORT}
BINARY = np.array([[1, 0, NAN], [0, 1, 1], [1, NAN, 0], [0, 1, 1], [NAN, NAN, NAN]])
REAL = np.array([[1.5, 100.0, NAN], [0.1, NAN, 7.0], [-2.0, 140.0, 7.0], [NAN, 120.0, 7.0], [NAN, NAN, NAN]])


def tiny(architecture="SBN 2", **arguments):
    return ds.Imputer(architecture, **{**TINY, **arguments})

"""Random parameters of the laws of columns."""

import numpy as np


def law(kind, seed=0, columns=3):
    """(parameters (5, C, ·), shared (C, ·)), random."""
    rng = np.random.default_rng(seed)
    parameters = rng.normal(0.3, 0.8, (5, columns, kind.parameters))
    return parameters.astype(np.float32), rng.normal(0.2, 0.7, (columns, kind.shared)).astype(np.float32)

"""What the tests of exports share."""

import numpy as np

SEED = np.array([3, 4], np.int32)
QUICK = {"only": ["log_likelihood", "sample"], "verbose": False}

"""Log-likelihoods of the same rows beside each other."""

import numpy as np

from experiments.common.markdown import number


def mean_and_error(differences):
    """The mean of paired differences over rows ± its standard error, as a table has it."""
    return f"{number(differences.mean(), sign='+')} ± {number(differences.std(ddof=1) / len(differences) ** 0.5)}"


def log_mean_exp(rows):
    """log of the mean over the first axis of what `rows` are the logs of."""
    return np.logaddexp.reduce(rows, 0) - np.log(len(rows))

"""Log-likelihoods of the same rows beside each other."""

import numpy as np

from experiments.common.markdown import number


def with_error(rows):
    """The mean of figures of rows, and its standard error; None for the error of a single row."""
    rows = np.asarray(rows, np.float64)
    return rows.mean(), rows.std(ddof=1) / len(rows) ** 0.5 if len(rows) > 1 else None


def mean_and_error(differences):
    """The mean of paired differences over rows ± its standard error, as a table has it."""
    return stated(*with_error(differences))


def stated(value, error):
    """A difference ± its standard error, as a table has it."""
    return f"{number(value, sign='+')} ± {'not known' if error is None else number(error)}"


def log_mean_exp(rows):
    """log of the mean over the first axis of what `rows` are the logs of."""
    return np.logaddexp.reduce(rows, 0) - np.log(len(rows))

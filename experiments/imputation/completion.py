"""What an imputer says of a table with gaps: draws, or expected numbers and votes for states."""

from typing import NamedTuple

import numpy as np

from experiments.imputation.coded import locations


class Completion(NamedTuple):
    """A completion of a `Coded` table.

    Attributes:
      draws: (m, n, D) completed tables; None of an imputer that gives no draws.
      expected: (n, D), the mean of a number given the row, by an imputer without draws.
      votes: dict from columns of states to (n, S), how many of its m draws, neighbours or trees are for each state.
      stated: whether votes stand for probabilities.
    """

    draws: np.ndarray | None
    expected: np.ndarray | None
    votes: dict[int, np.ndarray]
    stated: bool = True


def of_draws(draws, table):
    """`Completion` of draws (m, n, D)."""
    votes = {
        j: (draws[:, :, j, np.newaxis] == np.arange(states)).sum(0) for j, states in enumerate(table.states) if states
    }
    return Completion(draws, None, votes)


def of_values(values, table):
    """`Completion` of a filled table (n, D), whose states are no probabilities."""
    return of_draws(values[np.newaxis], table)._replace(draws=None, expected=values, stated=False)


def of_matrix(matrix, places, table, count):
    """`Completion` without draws, of a filled matrix as `coded.one_hot` has it; so many votes are divided by it."""
    mean, scale = locations(table)
    expected, votes = np.array(table.values), {}
    for j, states in enumerate(table.states):
        part = matrix[:, places[j]]
        if states:
            shares = np.maximum(part, 1e-6)
            votes[j] = count * shares / shares.sum(1, keepdims=True)
        else:
            expected[:, j] = mean[j] + scale[j] * part[:, 0]
    return Completion(None, expected, votes)

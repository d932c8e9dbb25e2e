"""What knows columns alone: their means or modes, and their observed values at random."""

import numpy as np
from sklearn.impute import SimpleImputer

from experiments.imputation.coded import coded
from experiments.imputation.completion import of_draws, of_values


def mean_or_mode(frame, m, seed):
    """`SimpleImputer`, of means of numbers and most frequent states."""
    table = coded(frame)
    filled = np.empty_like(table.values)
    for states, strategy in ((False, "mean"), (True, "most_frequent")):
        columns = (table.states > 0) == states
        if columns.any():
            imputer = SimpleImputer(strategy=strategy, keep_empty_features=True)
            filled[:, columns] = imputer.fit_transform(table.values[:, columns])
    return of_values(filled, table)


def observed_values(frame, m, seed):
    """m draws of a random one of the column's observed entries for each gap."""
    table, rng = coded(frame), np.random.default_rng(seed)
    draws = np.repeat(table.values[np.newaxis], m, 0)
    for j in range(draws.shape[2]):
        gaps = np.isnan(table.values[:, j])
        draws[:, gaps, j] = rng.choice(table.values[~gaps, j], (m, gaps.sum()))
    return of_draws(draws, table)

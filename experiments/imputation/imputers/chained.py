"""Bayesian linear regressions in turn, scikit-learn's multiple imputation by chained equations."""

import numpy as np
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

from experiments.imputation.coded import coded, restored, standardised
from experiments.imputation.completion import of_draws


def chained(frame, m, seed):
    """`IterativeImputer(sample_posterior=True)` with its defaults, `BayesianRidge` and ten rounds, at m seeds.

    States are coded 0, …, S − 1 and drawn numbers rounded: zeros and ones of a column tell each other, so that a chain
    over them stays where it begins. Drawn integers are rounded too.
    """
    table = coded(frame)
    matrix, draws = standardised(table), []
    for i in range(m):
        imputer = IterativeImputer(sample_posterior=True, random_state=1000 * seed + i, keep_empty_features=True)
        filled = restored(imputer.fit_transform(matrix), table)
        draws.append(np.where(table.whole, np.rint(filled), filled))
    return of_draws(np.stack(draws), table)

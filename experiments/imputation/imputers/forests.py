"""Random forests in turn, as in missForest: Stekhoven and Bühlmann, Bioinformatics 2012."""

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

from experiments.imputation.coded import coded, one_hot
from experiments.imputation.completion import of_matrix

TREES, ROUNDS = 25, 5


def forests(frame, m, seed):
    """`IterativeImputer` with `RandomForestRegressor`, five rounds of 25 trees; of zeros and ones they give votes.

    The first state of a column has no zeros and ones, which the others would tell.
    """
    table = coded(frame)
    matrix, places = one_hot(table)
    of_states = [place for place, states in zip(places, table.states) if states]
    told = np.delete(np.arange(matrix.shape[1]), [place[0] for place in of_states])
    forest = RandomForestRegressor(TREES, max_features="sqrt", random_state=seed)
    imputer = IterativeImputer(forest, max_iter=ROUNDS, random_state=seed, keep_empty_features=True)
    filled = np.empty(matrix.shape)
    filled[:, told] = imputer.fit_transform(matrix[:, told])
    for place in of_states:
        filled[:, place[0]] = 1 - filled[:, place[1:]].sum(1)
    return of_matrix(filled, places, table, TREES)

"""Random forests in turn, as in missForest: Stekhoven and Bühlmann, Bioinformatics 2012."""

from sklearn.ensemble import RandomForestRegressor
from sklearn.experimental import enable_iterative_imputer  # noqa: F401
from sklearn.impute import IterativeImputer

from experiments.imputation.coded import coded, one_hot
from experiments.imputation.completion import of_matrix

TREES, ROUNDS = 25, 5


def forests(frame, m, seed):
    """`IterativeImputer` with `RandomForestRegressor`, five rounds of 25 trees; of zeros and ones they give votes."""
    table = coded(frame)
    matrix, places = one_hot(table)
    forest = RandomForestRegressor(TREES, max_features="sqrt", random_state=seed)
    imputer = IterativeImputer(forest, max_iter=ROUNDS, random_state=seed, keep_empty_features=True)
    return of_matrix(imputer.fit_transform(matrix), places, table, TREES)

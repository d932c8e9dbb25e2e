"""Nearest neighbours of scikit-learn: their mean, and their votes for states."""

from sklearn.impute import KNNImputer

from experiments.imputation.coded import coded, one_hot
from experiments.imputation.completion import of_matrix

NEIGHBOURS = 10


def neighbours(frame, m, seed):
    """`KNNImputer` of ten neighbours, of standardised numbers and zeros and ones for states."""
    table = coded(frame)
    matrix, places = one_hot(table)
    filled = KNNImputer(n_neighbors=NEIGHBOURS, keep_empty_features=True).fit_transform(matrix)
    return of_matrix(filled, places, table, NEIGHBOURS)

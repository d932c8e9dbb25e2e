"""Imputation of binary held-out rows beside scikit-learn's."""

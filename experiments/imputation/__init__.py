"""Imputation beside scikit-learn's."""

"""Imputation for scikit-learn: the estimator (estimator), what its columns hold (columns), how it learns (learning)."""

from tfdsmcmc.imputer.estimator import Imputer

__all__ = ["Imputer"]

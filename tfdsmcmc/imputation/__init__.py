"""Missing entries, drawn from their law given the observed ones."""

from tfdsmcmc.imputation.effective import effective_sample_size
from tfdsmcmc.imputation.impute import impute
from tfdsmcmc.imputation.pool import Pooled, pool
from tfdsmcmc.imputation.result import Imputation

__all__ = ["Imputation", "Pooled", "effective_sample_size", "impute", "pool"]

"""Imputers by name: functions (DataFrame with gaps, m, seed) → `Completion`, each in a file of its package."""

from experiments.common.packages import has
from experiments.imputation.imputers.boosted import boosted
from experiments.imputation.imputers.chained import chained
from experiments.imputation.imputers.forests import forests
from experiments.imputation.imputers.neighbours import neighbours
from experiments.imputation.imputers.ours import OPTIONS, ours
from experiments.imputation.imputers.simple import mean_or_mode, observed_values

OWN = "tfdsmcmc"
DRAWING = {
    "observed values": observed_values,
    "IterativeImputer, BayesianRidge": chained,
    OWN: ours,
    "miceforest": boosted,
}
WITHOUT_DRAWS = {
    "SimpleImputer": mean_or_mode,
    "KNNImputer": neighbours,
    "IterativeImputer, random forests": forests,
}
VARIANTS = {
    f"{OWN}, {name}": (lambda frame, m, seed, options=options: ours(frame, m, seed, **options))
    for name, options in OPTIONS.items()
}
IMPUTERS = {**WITHOUT_DRAWS, **DRAWING, **VARIANTS}


def installed(names):
    """The names of imputers without those whose package is not there, and without variants of ours."""
    return [name for name in names if name not in VARIANTS and (name != "miceforest" or has("miceforest"))]

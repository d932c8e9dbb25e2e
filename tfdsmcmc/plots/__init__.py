"""Pictures: arrays in, a matplotlib figure out. matplotlib is imported when a picture is drawn."""

from tfdsmcmc.plots.curves import learning_curves, log_partitions, predictive_curve, traces
from tfdsmcmc.plots.figures import save
from tfdsmcmc.plots.images import chains, features, samples

__all__ = ["chains", "features", "learning_curves", "log_partitions", "predictive_curve", "samples", "save", "traces"]

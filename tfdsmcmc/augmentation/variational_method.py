"""What mean-field and online variational Bayes are told alike."""

from __future__ import annotations

from tfdsmcmc import checks
from tfdsmcmc.augmentation.labels import check_labels, config_of
from tfdsmcmc.augmentation.mean_field_step import KINDS, UnitsStart
from tfdsmcmc.training.step_method import StepMethod

_STARTS = ("random", "recognition")


class VariationalMethod(StepMethod):
    """Base class of the two; their arguments, of which `of_step` are those of a `VariationalStep` after its prior."""

    def __init__(self, covariance, rounds, labels, num_labels, initial, burn_in):
        if not isinstance(covariance, str) or covariance not in KINDS:
            raise ValueError(f"covariance must be one of {sorted(KINDS)}. Received: covariance={covariance!r}")
        self.covariance = covariance
        self.rounds = checks.positive_integer("rounds", rounds)
        self.labels = None if labels is None else check_labels(labels, num_labels)
        if not isinstance(initial, str) or initial not in _STARTS:
            raise ValueError(f"initial must be one of {list(_STARTS)}. Received: initial={initial!r}")
        self.start = UnitsStart(initial, checks.nonnegative_integer("burn_in", burn_in))

    @property
    def of_step(self):
        return self.covariance, self.rounds, self.labels, self.start

    def get_config(self):
        parts = {**config_of(self.labels), **self.start._asdict()}
        return {"covariance": self.covariance, "rounds": self.rounds, **parts}

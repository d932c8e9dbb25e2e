"""What mean-field and online variational Bayes are told alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tfdsmcmc import checks
from tfdsmcmc.augmentation.labels import check_labels, config_of
from tfdsmcmc.augmentation.mean_field_step import KINDS, UnitsStart
from tfdsmcmc.training.step_method import StepMethod

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc.augmentation.labels import Labels
    from tfdsmcmc.augmentation.mean_field_step import Covariance
    from tfdsmcmc.types import Config

_STARTS = ("random", "recognition")


class VariationalMethod(StepMethod):
    """Base class of the two; their arguments, of which `of_step` are those of a `VariationalStep` after its prior."""

    labels: Labels | None

    def __init__(
        self,
        covariance: Covariance,
        rounds: int,
        labels: ArrayLike | None,
        num_labels: int | None,
        initial: Literal["random", "recognition"],
        burn_in: int,
    ):
        if not isinstance(covariance, str) or covariance not in KINDS:
            raise ValueError(f"covariance must be one of {sorted(KINDS)}. Received: covariance={covariance!r}")
        self.covariance = covariance
        self.rounds: int = checks.positive_integer("rounds", rounds)
        self.labels: Labels | None = None if labels is None else check_labels(labels, num_labels)
        if not isinstance(initial, str) or initial not in _STARTS:
            raise ValueError(f"initial must be one of {list(_STARTS)}. Received: initial={initial!r}")
        self.start: UnitsStart = UnitsStart(initial, checks.nonnegative_integer("burn_in", burn_in))

    @property
    def of_step(self) -> tuple[Covariance, int, Labels | None, UnitsStart]:
        return self.covariance, self.rounds, self.labels, self.start

    def get_config(self) -> Config:
        parts = {**config_of(self.labels), **self.start._asdict()}
        return {"covariance": self.covariance, "rounds": self.rounds, **parts}

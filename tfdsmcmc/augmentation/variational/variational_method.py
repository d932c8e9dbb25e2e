"""What mean-field and online variational Bayes are told alike."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from tfdsmcmc._common import checks
from tfdsmcmc.augmentation.shared.labels import without_labels
from tfdsmcmc.augmentation.variational.mean_field_step import KINDS, UnitsStart
from tfdsmcmc.training.steps.step_method import StepMethod

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config
    from tfdsmcmc.augmentation.variational.mean_field_step import Covariance

_STARTS = ("random", "recognition")


class VariationalMethod(StepMethod):
    """Base class of the two; their arguments, of which `of_step` are those of a `VariationalStep` after its prior."""

    def __init__(
        self,
        covariance: Covariance,
        rounds: int,
        initial: Literal["random", "recognition"],
        burn_in: int,
    ):
        self.covariance = checks.one_of("covariance", covariance, sorted(KINDS))
        self.rounds: int = checks.positive_integer("rounds", rounds)
        checks.one_of("initial", initial, _STARTS)
        self.start: UnitsStart = UnitsStart(initial, checks.nonnegative_integer("burn_in", burn_in))

    @property
    def of_step(self) -> tuple[Covariance, int, UnitsStart]:
        return self.covariance, self.rounds, self.start

    def get_config(self) -> Config:
        return {"covariance": self.covariance, "rounds": self.rounds, **self.start._asdict()}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        return cls(**without_labels(config))

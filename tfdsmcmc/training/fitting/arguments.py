"""What `fit` is told beside the rows, checked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tfdsmcmc._common import checks
from tfdsmcmc.training.feeding import rows_of_fit

if TYPE_CHECKING:
    from tfdsmcmc.rows.source import Source


class FitArguments(NamedTuple):
    """Counts of a fit, as `Learner.fit` describes them."""

    batch_size: int
    epochs: int
    initial_epoch: int
    steps_per_epoch: int | None
    validation_steps: int | None
    validation_batch_size: int | None
    validation_freq: int | Sequence[int]
    validation_split: float
    shuffle: bool
    num_rows: int | None

    @property
    def planned_epochs(self) -> int:
        """Those between the first and the last."""
        return max(0, self.epochs - self.initial_epoch)

    def epochs_of_look(self, epoch: int) -> int:
        """Epochs from the look at validation rows before to the one after an epoch, counted from 1."""
        if isinstance(self.validation_freq, int):
            return self.validation_freq
        before = [look for look in self.validation_freq if self.initial_epoch < look < epoch]
        return epoch - max(before, default=min(self.initial_epoch, epoch - 1))

    @property
    def looks(self) -> Sequence[int]:
        """After which of the planned epochs validation looks, rising from 1 on."""
        every, begun = self.validation_freq, self.initial_epoch
        if isinstance(every, int):
            return range(every - begun % every, self.planned_epochs + 1, every)
        return [epoch - begun for epoch in every if begun < epoch <= self.epochs]

    def epoch_steps(self, source: Source) -> int | None:
        """Minibatches of an epoch over the rows; None where their number is not known."""
        if self.steps_per_epoch is not None:
            return self.steps_per_epoch
        return -(-source.num_rows // self.batch_size) if source.random_access else rows_of_fit.cardinality(source)


def checked(**given: Any) -> FitArguments:
    """The arguments of `fit` by their names; a ValueError for counts out of range."""
    num_rows = _optional_count("num_rows", given["num_rows"])
    batch_size = given["batch_size"]
    batch_size = checks.positive_integer("batch_size", 100 if batch_size is None else batch_size)
    epochs = checks.nonnegative_integer("epochs", given["epochs"])
    initial_epoch = checks.nonnegative_integer("initial_epoch", given["initial_epoch"])
    validation_batch_size = _optional_count("validation_batch_size", given["validation_batch_size"])
    split = given["validation_split"]
    validation_freq = given["validation_freq"]
    if isinstance(validation_freq, (list, tuple, set)):  # Keras takes a list alone, and says so after an epoch
        validation_freq = sorted({checks.positive_integer("validation_freq", epoch) for epoch in validation_freq})
    else:
        validation_freq = checks.positive_integer("validation_freq", validation_freq)
    return FitArguments(
        batch_size=batch_size,
        epochs=epochs,
        initial_epoch=initial_epoch,
        steps_per_epoch=_optional_count("steps_per_epoch", given["steps_per_epoch"]),
        validation_steps=_optional_count("validation_steps", given["validation_steps"]),
        validation_batch_size=validation_batch_size,
        validation_freq=validation_freq,
        validation_split=checks.fraction("validation_split", split) if split else 0.0,
        shuffle=checks.boolean("shuffle", given["shuffle"]),
        num_rows=num_rows,
    )


def _optional_count(name, value):
    return None if value is None else checks.positive_integer(name, value)

"""Climbs one after the other: where the first takes a small part of its plan, others follow from new weights.

Weights that an optimizer finds on few rows differ by where it began: each climb explains other rows better. A mixture
of what three have found is worth some tenths of a nat to two nats more than one of them, and goes on where sampling is
for the worse (docs/study_appendix.md, "Climbs one after the other"). A climb whose looks turn leaves the rest of its
plan, which sampling may have. Of at most m climbs let i have ended, the longest after l updates, and r updates be left
of the plan:

    another follows     i < m and r ≥ (m − i) l

so that all m have room, as a rule, or there is one. Each begins at weights θ and φ that the layers' initializers draw,
with a new optimizer of θ, whose rate is that of the climb before, planned to the r updates; that of φ goes on. In the
end the chain goes to the best weights of all, by their looks. The others are kept for averages (`posterior.starts`).

A run of several chains has as many climbs, side by side, and makes no others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.mcmc.events import ClimbsAgain, GoesBackTo, Planned, Validated

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Nest, Seed, TensorLike
    from tfdsmcmc.mcmc.events import Event
    from tfdsmcmc.training.steps.step import Step


class Climbs(tf.Module):
    """What the climbs before the present one have found, in variables.

    Args:
      step: `Step` of one chain whose `most_climbs` are m > 1.
      weights: list of tensors, θ and φ.
    """

    def __init__(self, step: Step, weights: Sequence[TensorLike]):
        super().__init__(name="climbs")
        self._step, others = step, step.most_climbs - 1
        counts = ("count", "begun", "longest")  # climbs that have ended but the last, and updates
        self._counts = {name: tf.Variable(np.int64(0), trainable=False, name=name) for name in counts}
        self._best = tf.Variable(np.full(others, np.finfo(np.float32).min, np.float32), trainable=False, name="best")
        kept = [np.zeros((others, *part.shape), part.dtype) for part in map(np.asarray, weights)]
        self._weights = [tf.Variable(part, trainable=False) for part in kept]

    @property
    def saved(self) -> dict[str, tf.Variable]:
        """Named variables that a saved run needs."""
        weights = {f"weights_{i}": variable for i, variable in enumerate(self._weights)}
        return {f"climbs_{name}": value for name, value in {**self._counts, "best": self._best, **weights}.items()}

    @property
    def others(self) -> list[tuple[list[np.ndarray], list[np.ndarray]]]:
        """(θ, φ) of each climb but the best, the earliest first; while the chain climbs, of each that has ended."""
        return [self._found(place) for place in range(self._number("count"))]

    def after(self, event: Event, before: Nest, told: Nest, seed: Seed) -> Nest:
        """The state after an event, and after what follows of it where it ends a climb.

        Args:
          event: that the step was told of.
          before: the state before it.
          told: the state after it.
          seed: of the run at its present step.
        """
        step, until, best = self._step.climb_of(told)
        planned = self._step.climb_of(before)[1]
        goes_on = until > step + 1 and not (isinstance(event, Planned) and self._is_unseen(event, until - 1 - step))
        if planned <= step or goes_on:
            return told
        found = self._best_of(told)
        if isinstance(event, Validated) and found is not None:
            longest = max(self._number("longest"), step - self._number("begun"))
            left = self._step.most_climbs - 1 - self._number("count")
            if left and planned - step >= left * longest:
                again = self._another(planned, seed, told)
                if again is not None:
                    self._keep(self._number("count"), found, best)
                    self._set(count=self._number("count") + 1, begun=step, longest=longest)
                    return again
        return self._at_the_best(told, found, best)

    def forget(self) -> None:
        """Of a run that has made none."""
        self._set(**dict.fromkeys(self._counts, 0))

    def _is_unseen(self, event, updates):
        """Whether a fit will look no more at validation rows within so many updates."""
        first = event.looks[0] if event.looks and event.epoch_steps else None
        return first is None or first * event.epoch_steps * self._step.kernel_steps > updates

    def _best_of(self, told):
        """(θ, φ) of the present climb at its best; None where no look was finite. φ is the present one where none was
        kept."""
        found = self._step.started_at(told)
        return None if found is None else (found[0], found[1] or [np.asarray(part) for part in self._step.beside])

    def _another(self, until, seed, told):
        """The state in which another climb begins; None where layers cannot be made from their configurations."""
        seed = random.fold(random.stream(seed, "another climb"), self._number("count"))
        try:
            weights = self._step.fresh_weights(seed)
        except ValueError:
            return None
        theta, phi = self._parted(weights)
        return self._step.told(told, ClimbsAgain(theta, phi, until))

    def _at_the_best(self, told, found, best):
        """The state that goes to the best weights of all climbs; those of the last take their place among the others.

        One that has had no finite look has found nothing."""
        count = self._number("count")
        looks = self._best.numpy()[:count]
        if not count or (found is not None and best >= np.max(looks)):
            return told
        place = int(np.argmax(looks))
        theta, phi = self._found(place)
        look = float(looks[place])
        if found is None:
            for after in range(place + 1, count):
                self._keep(after - 1, self._found(after), looks[after])
            self._set(count=count - 1)
        else:
            self._keep(place, found, best)
        return self._step.told(told, GoesBackTo(theta, phi, look))

    def _found(self, place):
        return self._parted([variable.numpy()[place] for variable in self._weights])

    def _parted(self, weights):
        count = len(self._step.variables)
        return list(weights[:count]), list(weights[count:])

    def _keep(self, place, found, best):
        for variable, value in zip([self._best, *self._weights], [best, *found[0], *found[1]], strict=True):
            kept = variable.numpy()
            kept[place] = value
            variable.assign(kept)

    def _number(self, name):
        return int(self._counts[name])

    def _set(self, **counts):
        for name, value in counts.items():
            self._counts[name].assign(value)

"""The part of a model that fits it: from the rows that a user passes to the minibatches that its run works off.

Nothing here is of Keras: a loop over the elements of `feed.dataset` that calls `advance` is a fit.

How many chains a run has may be left open by `compile`. That is settled before the first step, once for the whole run,
by the steps that the first fit plans or by a run that is stored.
"""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.training.feeding.feed import feed_of
from tfdsmcmc.training.fitting.callbacks import check_callbacks
from tfdsmcmc.training.fitting.chains_of_files import chains_of_backup
from tfdsmcmc.training.fitting.sources import sources_of_fit
from tfdsmcmc.training.fitting.whole_batches import warn_of_whole_batches
from tfdsmcmc.training.run import Run
from tfdsmcmc.training.steps.several_chains import SeveralChains

if TYPE_CHECKING:
    import keras
    from numpy.typing import ArrayLike

    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.source import Source
    from tfdsmcmc.training.feeding.feed import Feed
    from tfdsmcmc.training.fitting.arguments import FitArguments
    from tfdsmcmc.training.fitting.learnable import Learnable
    from tfdsmcmc.training.steps.step import Step

_guard, _fitted = threading.Lock(), weakref.WeakSet()
_MOST_AT_ONCE = 50  # minibatches in one compiled call, where nothing is said
ChainsFor = Callable[["int | None"], int]


class Compiled(NamedTuple):
    """What `compile` has chosen.

    Attributes:
      step: of one chain; None before `compile`.
      settings: dict of the arguments of `compile`.
      chains_for: function (steps that the first fit plans, or None where they are not known) → C, where the settings
        have "auto"; else None.
      beside: names of what the step learnt beside its own weights when its run began.
    """

    step: Step | None
    settings: dict[str, Any]
    chains_for: ChainsFor | None = None
    beside: frozenset[str] = frozenset()


class Fitting:
    """Begins the runs of a model, and their fits.

    Args:
      model: `Learnable`.

    Attributes:
      compiled: `Compiled`.
      stream: name of the stream of the model's seed that runs draw from.
      feed: of the present fit, else None.
      validation: the source of the validation data of the present fit; None where there are none.
      validates: whether the present fit, or the last, has validation data.
    """

    def __init__(self, model: Learnable):
        self._model = model
        self.compiled: Compiled = Compiled(None, {})
        self.stream: str = "fit"
        self.feed: Feed | None = None
        self.validation: Source | None = None
        self.validates: bool = False

    @property
    def settings(self) -> dict[str, Any]:
        """The arguments of `compile`; empty before."""
        return self.compiled.settings

    @settings.setter
    def settings(self, settings: dict[str, Any]) -> None:
        self.compiled = self.compiled._replace(settings=settings)

    def begin_run(self, step: Step, settings: dict[str, Any], chains_for: ChainsFor | None = None) -> None:
        """A new run of a step, whose counts go on from the last one's.

        Args:
          step: of one chain.
          settings: see `Compiled`; with `num_chains` = C > 1 the run has C chains.
          chains_for: see `Compiled`; until "auto" is settled there are `chains_for(None)` chains.
        """
        chains = settings.get("num_chains", 1)
        chains = chains_for(None) if chains == "auto" else chains
        several = step if chains == 1 else SeveralChains(step, chains)
        self._model.run = Run(several, self.seed_of("chain"), settings["jit_compile"], self._model.run)
        self.compiled = Compiled(step, settings, chains_for, _paths(step.beside))

    def settle(self, steps: int | None, stored: int | None = None) -> None:
        """Settles before the first step how many chains there are, where `compile` has left that open.

        Args:
          steps: that the first `fit` plans, or None where they are not known.
          stored: the number of chains of a stored run that takes this one's place, or None.

        Raises:
          ValueError: for a number that takes another run, of a model with other layers frozen than at `compile`.
        """
        step, settings, chains_for, _ = self.compiled
        if settings.get("num_chains") != "auto":
            return
        chains = stored or chains_for(steps)
        settings = {**settings, "num_chains": chains}
        if chains != self._model.run.num_chains:
            self.check_compiled("load_weights")  # `fit` has checked; a run begun now would be of what learns now
            first, state = self._model.run.step.first_chain(self._model.run.state)
            self.begin_run(step, settings)
            if first.has_ended_climb(state):
                self._model.run.end_climb()
        self.settings = settings

    @property
    def num_theta(self) -> int:
        """How many of the weights of a run are θ; a chain's own φ follows. What was frozen since `compile` counts."""
        return len(self.compiled.step.variables)

    def seed_of(self, purpose: str) -> tf.Tensor:
        """The stateless seed of a run for one purpose."""
        return random.stream(random.stream(self._model.seed, self.stream), purpose)

    def check_compiled(self, name: str) -> None:
        """Raises a ValueError where `name` is called before `compile`, or with other layers frozen than then."""
        model = self._model
        if name == "fit" and not model.theta_variables:
            raise ValueError(
                "Nothing that fit() learns is trainable: set trainable = True before compile(). "
                "Received: no trainable weights"
            )
        if model.run is None:
            raise ValueError(f"Call compile() before {name}(). Received: a model that is not compiled")
        now, compiled = _paths(model.theta_variables), _paths(model.run.step.variables)
        if model.run.num_chains > 1:
            now |= _paths(model.phi_variables)
        elif name != "refit_recognition":  # it learns what of φ is not frozen
            now, compiled = now | _paths(self.compiled.step.beside), compiled | self.compiled.beside
        if now != compiled:
            raise ValueError(
                f"Layers were frozen or unfrozen since compile(): call it again before {name}(). "
                f"Received: other trainable weights {sorted(now ^ compiled)}"
            )

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """One fit of a model at a time, whatever thread or callback it is called from; its rows are let go in the end.

        Raises:
          ValueError: where the model is being fitted.
        """
        with _guard:
            busy = self in _fitted
            _fitted.add(self)
        if busy:
            raise ValueError("A model is fitted once at a time. Received: fit of a model that is being fitted")
        try:
            yield
        finally:
            if self.feed is not None:
                self.feed.close()
            self.feed = self.validation = None
            _fitted.discard(self)

    def begin(
        self, x: RowsLike, mask: ArrayLike | None, validation_data: Any, told: FitArguments,
        callbacks: Sequence[keras.callbacks.Callback] = (), sample_weight: ArrayLike | None = None,
    ) -> Feed:  # fmt: skip
        """Begins a fit; nothing is changed before all that can be wrong with it is found.

        Args:
          x: rows, as `fit` takes them.
          mask: of x, or None.
          validation_data: as `fit` takes them, or None.
          told: `FitArguments`.
          callbacks: the user's, a list.
          sample_weight: of x, or None.

        Returns:
          The feed, whose `dataset` is to be gone through, an epoch each time, with `advance`.

        Raises:
          ValueError: for data, counts or callbacks that do not fit.
        """
        source, validation = sources_of_fit(self._model, x, mask, validation_data, told, sample_weight)
        check_callbacks(callbacks, self._model.weights)
        warn_of_whole_batches(self.compiled.step, self._model.support, source, told)
        steps = told.epoch_steps(source)
        planned = None if steps is None else told.planned_epochs * int(steps)
        if steps is None and validation is None:
            self._model.run.plan(None)  # which refuses what nothing would end
        if planned != 0:
            self.settle(planned, chains_of_backup(callbacks))
        run, order = self._model.run, self.seed_of("row order")
        at_once = self._at_once(steps)
        feed = feed_of(source, told.batch_size, at_once, order, told.shuffle, told.steps_per_epoch, run.num_chains)
        self.feed, self.validation, self.validates = feed, validation, validation is not None
        run.begin(source if source.random_access else None, told.num_rows or source.total_weight)
        self.plan(told)
        if planned != 0:
            run.step.look_at(source, int(run.steps))
        return feed

    def plan(self, told: FitArguments) -> None:
        """Tells the run what the present fit plans; one without a step, or of an unknown number of them, plans nothing.

        Args:
          told: the arguments of the fit, from the epoch on with which it begins.
        """
        steps = told.epoch_steps(self.feed.source)
        if steps and told.planned_epochs:
            looks = told.looks if self.validates else ()
            self._model.run.plan(told.planned_epochs * int(steps), int(steps), looks)

    def advance(self, elements: Iterator[Any]) -> None:
        """Runs the steps of the next elements of `feed.dataset`, as many as are worked off at once.

        Raises:
          StopIteration: where there is none.
        """
        run = self._model.run
        for block in self.feed.blocks(self.feed.elements(elements), int(run.steps)):
            run.advance(block)

    def pairs(self, weights: Sequence[Sequence[np.ndarray]]) -> list[tuple[list[np.ndarray], list[np.ndarray]]]:
        """(θ, φ) of each chain of the weights of a run; φ is that of the model where no chain has its own."""
        count, shared = self.num_theta, [variable.numpy() for variable in self._model.phi_variables]
        return [(list(own[:count]), list(own[count:]) or shared) for own in weights]

    def _at_once(self, steps):
        """S, the minibatches that one compiled call works off."""
        told = self.settings["steps_per_execution"]
        return min(_MOST_AT_ONCE, steps or _MOST_AT_ONCE) if told == "auto" else told


def _paths(variables):
    """The names of variables in their model."""
    return frozenset(variable.path for variable in variables)

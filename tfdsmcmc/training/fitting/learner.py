"""Keras' `fit` around a run, for whatever steps it makes."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks
from tfdsmcmc.rows import DatasetSource, Rows, source_of
from tfdsmcmc.training.feeding import rows_of_fit
from tfdsmcmc.training.feeding.feed import feed_of, take
from tfdsmcmc.training.fitting.callbacks import check_callbacks, listed
from tfdsmcmc.training.fitting.evaluating import with_loss
from tfdsmcmc.training.fitting.restarts import RestoredEpoch, mend_backups
from tfdsmcmc.training.fitting.settled_chains import SettledChains, chains_of_backup
from tfdsmcmc.training.run import EpochCounter, Run

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Callbacks, Verbose
    from tfdsmcmc.rows.context import Context
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.source import Source
    from tfdsmcmc.supports import Support

_guard, _fitted = threading.Lock(), weakref.WeakSet()
_MOST_AT_ONCE = 50  # minibatches in one compiled call, where nothing is said


class Learner(SettledChains):
    """Base class of models that learn by a `Step`.

    A subclass has `seed`, `units`, `support`, `theta_variables` and a `compile` that ends in `_begin_run`;
    `takes_gaps`, `check_rows` and `phi_variables` where they differ.

    Attributes:
      run: `Run`, or None before `compile`.
      validates: whether the present fit has validation data.
      drawn: how often draws were made without a seed.
    """

    drawn: int
    validates: bool
    train_function: Callable[..., Any] | None

    def __init__(self, **kwargs: Any):
        if tf.distribute.has_strategy():
            raise ValueError(
                "A run keeps to one device: make the model outside of a strategy, and give it several chains instead. "
                f"Received: {type(tf.distribute.get_strategy()).__name__}"
            )
        super().__init__(**kwargs)
        self.run: Run | None = None
        self.validates = False
        self._feed = None
        self._validation = None
        self._settings = {}
        self._stream = "fit"  # of the seed
        self.drawn = 0

    @property
    def units(self) -> int:
        """D, the width of the data."""
        raise NotImplementedError(f"{type(self).__name__} must define units.")

    @property
    def support(self) -> Support:
        """Whether data are zeros and ones."""
        raise NotImplementedError(f"{type(self).__name__} must define support.")

    @property
    def theta_variables(self) -> list[keras.Variable]:
        """The model's variables θ that can be learnt at present."""
        raise NotImplementedError(f"{type(self).__name__} must define theta_variables.")

    @property
    def phi_variables(self) -> list[keras.Variable]:
        """The variables φ that learn beside θ, and that a posterior sample keeps with it."""
        return []

    def next_seed(self) -> tf.Tensor:
        """A seed for draws that are to differ from all before, int32 of shape (2,); how many there were is saved."""
        self.drawn += 1
        return random.fold(random.stream(self.seed, "own draws"), self.drawn - 1)

    def chain_weights(self) -> list[tuple[list[np.ndarray], list[np.ndarray]]]:
        """(θ, φ) of each chain, pairs of lists of arrays; φ is that of the model where no chain has its own."""
        self._share_phi()
        return self._pairs(self.run.weights)

    def posterior_draw(self) -> list[tuple[list[np.ndarray], list[np.ndarray]]]:
        """(θ, φ) of a posterior sample of each chain at the present step.

        The weights are `chain_weights`, or drawn around them.
        """
        self._share_phi()
        return self._pairs(self.run.posterior_draw)

    def _pairs(self, weights):
        count, shared = len(self.theta_variables), [variable.numpy() for variable in self.phi_variables]
        return [(own[:count], own[count:] or shared) for own in weights]

    @property
    def validation_source(self) -> Source | None:
        """The validation data of the present fit as a source of rows; None where there are none."""
        return self._validation

    @property
    def context(self) -> Context | None:
        """What rows are given; None for a model of rows alone."""
        return None

    @property
    def takes_gaps(self) -> bool:
        """Whether rows may have missing entries."""
        return True

    def watchers(self) -> list[keras.callbacks.Callback]:
        """Keras callbacks of the model's own, for one `fit`."""
        return []

    def check_rows(self, rows: Rows | Source) -> None:
        """Raises a ValueError for rows that the model cannot learn from, such as rows with gaps for some."""

    @property
    def uses_xla(self) -> bool:
        """Whether the model's programs are compiled with XLA: what `compile` was told, True before."""
        return self._settings.get("jit_compile", True)

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        # Keras asks while the model is being made
        run = self.__dict__.get("run")
        return [] if run is None else list(run.means)

    def get_metrics_result(self) -> dict[str, Any]:
        """The means of the metrics so far, with the loss that callbacks of Keras look for."""
        return with_loss(super().get_metrics_result())

    def fit(
        self, x: RowsLike | None = None, y: None = None, *, batch_size: int | None = None, epochs: int = 1,
        verbose: Verbose = "auto", callbacks: Callbacks | None = None, validation_split: float = 0.0,
        validation_data: RowsLike | None = None, shuffle: bool = True, initial_epoch: int = 0,
        steps_per_epoch: int | None = None, validation_steps: int | None = None,
        validation_batch_size: int | None = None, validation_freq: int | Sequence[int] = 1, num_rows: int | None = None,
        mask: ArrayLike | None = None,
    ) -> keras.callbacks.History:  # fmt: skip
        """Runs the steps over the data; `keras.Model.fit` with data x alone.

        Missing entries, NaN, drop out of log p(x given z), and the recognition network sees a constant in their place:
        the filling of the data layer's support, of binary data ½. The data layer's units must be independent given its
        parents then, unless latents draw what is missing, `latents.Gibbs(persistent=True, draw_missing=True)`.

        Args:
          x: array (n, D), a source of rows such as `datasets.open` gives, or a `tf.data.Dataset` or
            `keras.utils.PyDataset` of batches (B, D).
          y: must be None: a generative model has no targets.
          batch_size: B, of rows with random access; by default 100.
          epochs: the epoch to stop at.
          verbose: as in Keras.
          callbacks: list of Keras callbacks. Those that set a learning rate set that of φ; a kernel takes a schedule. A
            run that `BackupAndRestore` restores goes on bit for bit from the end of an epoch; from the middle of one
            (its `save_freq` a number) the epoch begins anew, with other draws.
          validation_split: fraction of rows with random access, the last ones, to validate on.
          validation_data: what x may be.
          shuffle: whether rows with random access are read in a new order each epoch.
          initial_epoch: the epoch to start at.
          steps_per_epoch: minibatches an epoch.
          validation_steps: how many batches of validation data are looked at, from the first on; by default all.
          validation_batch_size: rows at a time in validation.
          validation_freq: as in Keras.
          num_rows: N, the number of rows that the posterior is given; by default counted.
          mask: (n, D) or (D,), True where an entry of the array x is observed, whatever stands in the others; by
            default all that are not NaN are.

        Returns:
          `keras.callbacks.History` of the step's metrics: of a `DeepGenerativeModel` `log_likelihood` (the estimate of
          the training step, of K samples; with uniform weights the evidence lower bound), `effective_sample_size` (of
          the weights that the gradient gives its draws: K where all weigh alike), `kinetic_temperature` (1 is right),
          `configurational_temperature` (1 in the mean over a chain that has arrived, see `diagnostics`)
          and `skipped_steps` (the fraction of the updates that were left out as not finite); and for validation
          `val_log_likelihood` and `val_effective_sample_size`. Callbacks of Keras find −log_likelihood as `loss` and
          `val_loss`. The log-likelihoods are estimated with the recognition network; where it does not learn they are
          far too low until `refit_recognition`.

        Raises:
          ValueError: for data or counts that do not fit, or a model whose layers were frozen or unfrozen since
            `compile`; nothing is changed then. Of a dataset with `num_rows` only the first batch is seen beforehand.
          DivergedError: where a chain made no update in whole epochs, of ten updates at least, as none was finite.
        """
        self._assert_compiled("fit")
        checks.no_targets("fit", y)
        num_rows = _optional_count("num_rows", num_rows)
        batch_size = checks.positive_integer("batch_size", 100 if batch_size is None else batch_size)
        epochs = checks.nonnegative_integer("epochs", epochs)
        initial_epoch = checks.nonnegative_integer("initial_epoch", initial_epoch)
        validation_batch_size = _optional_count("validation_batch_size", validation_batch_size)
        if not isinstance(validation_freq, (list, tuple, set)):
            validation_freq = checks.positive_integer("validation_freq", validation_freq)
        steps_per_epoch = _optional_count("steps_per_epoch", steps_per_epoch)
        validation_steps = _optional_count("validation_steps", validation_steps)
        with self._alone():
            source = self.source("x", x, mask, num_rows, self.run.step.fills_gaps)
            if validation_split and validation_data is None:
                source, validation_data = rows_of_fit.split_last(source, validation_split)
            if validation_data is not None:
                if isinstance(validation_data, tf.data.Dataset) and validation_steps is not None:
                    validation_data = validation_data.take(validation_steps)
                validation_data = self._validation_source(validation_data)
                validation_data = rows_of_fit.first(validation_data, validation_steps, validation_batch_size)
            self._check_source(source, steps_per_epoch, num_rows)
            check_callbacks(callbacks, self.weights)
            steps = steps_per_epoch or _steps_of_pass(source, batch_size)
            self._settle(steps, max(0, epochs - initial_epoch), validation_data is not None, callbacks)
            feed = self._feed_of(source, batch_size, steps_per_epoch, steps, shuffle)
            self._begin_fit(feed, validation_data, num_rows, steps, max(0, epochs - initial_epoch))
            with self._with_own(callbacks, source, num_rows, initial_epoch) as all_callbacks:
                return super().fit(
                    feed.dataset,
                    epochs=epochs,
                    verbose=verbose,
                    callbacks=all_callbacks,
                    # Keras makes an iterator of what stands here; `evaluate` reads the source
                    validation_data=np.zeros((1, 1)) if self.validates else None,
                    shuffle=False,
                    initial_epoch=initial_epoch,
                    steps_per_epoch=None if source.random_access else steps_per_epoch,
                    validation_batch_size=validation_batch_size,
                    validation_freq=validation_freq,
                )

    @contextlib.contextmanager
    def _alone(self):
        """One fit of a model at a time, whatever thread or callback it is called from."""
        with _guard:
            busy = self in _fitted
            _fitted.add(self)
        if busy:
            raise ValueError("A model is fitted once at a time. Received: fit of a model that is being fitted")
        try:
            yield
        finally:
            _fitted.discard(self)

    def _settle(self, steps, epochs, validates, callbacks):
        """What is decided before the first step of a fit: how many chains there are."""
        if steps is None and not validates:
            self.run.plan(None)  # which refuses what nothing would end
        planned = None if steps is None else epochs * int(steps)
        if planned != 0:
            self._settle_chains(planned, chains_of_backup(listed(callbacks)))

    def _feed_of(self, source, batch_size, steps_per_epoch, steps, shuffle):
        if self._settings.get("steps_per_execution") == "auto":
            self.steps_per_execution = min(_MOST_AT_ONCE, steps or _MOST_AT_ONCE)
        order, chains = self._seed_of("row order"), self.run.num_chains
        return feed_of(source, batch_size, self.steps_per_execution, order, shuffle, steps_per_epoch, chains)

    def _begin_fit(self, feed, validation, num_rows, steps, epochs):
        """The first change that a fit makes to the model and its run."""
        source = feed.source
        self._feed, self._validation = feed, validation
        self.train_function = None
        self.validates = validation is not None
        self._share_phi()
        self.run.begin(source if source.random_access else None, num_rows or source.num_rows)
        if steps is not None and epochs:  # a fit without a step plans nothing
            self.run.plan(epochs * int(steps), int(steps))

    @contextlib.contextmanager
    def _with_own(self, callbacks, source, num_rows, initial_epoch):
        """The callbacks of the user between our own; the rows of the fit are let go in the end."""
        kept = source if source.random_access else None
        before = [EpochCounter(self.run, kept, num_rows or source.num_rows), *self.watchers()]
        restored = RestoredEpoch(self.run, initial_epoch)
        users = callbacks if isinstance(callbacks, keras.callbacks.CallbackList) else None
        mend_backups(listed(callbacks))
        if users is None:
            callbacks = [*before, *listed(callbacks), restored]
        else:  # whose callbacks know their model already
            for callback in (*before, restored):
                callback.set_model(self)
            users.callbacks[:] = [*before, *users.callbacks, restored]
        feed = self._feed
        try:
            yield callbacks
        finally:
            feed.close()
            # the function holds the feed, and with it rows on the device
            self._feed = self._validation = self.train_function = self._initial_epoch = None
            if users is not None:
                own = *before, restored
                users.callbacks[:] = [callback for callback in users.callbacks if callback not in own]

    def make_train_function(self, force: bool = False) -> Callable[..., Any]:
        """The function that Keras calls with an iterator: it advances the run by up to steps_per_execution."""
        if self.train_function is not None and not force:
            return self.train_function
        feed, run = self._feed, self.run

        def train(iterator):
            if self.stop_training:  # a callback has found at the epoch's beginning that the run is over
                return self.get_metrics_result()
            elements = take(iterator, self.steps_per_execution)
            for block in feed.blocks(elements, int(run.steps)):
                run.advance(block)
            return self.get_metrics_result()

        self.train_function = train
        return train

    def source(
        self, name: str, x: RowsLike, mask: ArrayLike | None = None, num_rows: int | None = None,
        gaps_are_filled: bool = False,
    ) -> Source:  # fmt: skip
        """The rows that a user passes as a source, checked; those of a dataset are checked as they come.

        With `gaps_are_filled` they may have gaps whatever the model: the step draws what is missing."""
        takes_gaps = self.takes_gaps or gaps_are_filled
        source = source_of(name, x, self.units, self.support, mask, num_rows, takes_gaps, self.context)
        if not isinstance(source, DatasetSource) and not gaps_are_filled:
            self.check_rows(source)
        return source

    def _validation_source(self, data):
        """The source of validation data, all of them checked: nothing is learnt before a mistake is found."""
        if isinstance(data, tuple) and not isinstance(data, Rows):
            if any(part is not None for part in data[1:]):
                raise ValueError(
                    "validation_data takes data x alone: there are no targets. "
                    f"Received: a tuple of {[type(part).__name__ for part in data]}"
                )
            data = data[0]
        source = self.source("validation_data", data)
        source.check()
        self.check_rows(source)
        return source

    def _begin_run(self, step, optimizer, settings):
        """The end of `compile`: a new run of the step, whose counts go on from the last one's."""
        run = Run(step, self._seed_of("chain"), settings["jit_compile"], self.run)
        at_once = settings["steps_per_execution"]
        super().compile(optimizer, steps_per_execution=1 if at_once == "auto" else at_once, jit_compile=False)
        self.run: Run | None = run
        self._settings = settings

    def _check_source(self, source, steps_per_epoch, num_rows):
        """Raises a ValueError for rows that the step cannot go through; reads a dataset once, or its first batch."""
        rows_of_fit.check(source, self.run.step, steps_per_epoch, num_rows)
        if source.random_access:
            self.run.step.check_rows(source)
        else:
            source.check()
            self.check_rows(source)
            rows_of_fit.check_repeats(source)

    def _seed_of(self, purpose):
        return random.stream(random.stream(self.seed, self._stream), purpose)

    def _assert_compiled(self, name):
        if self.run is None:
            raise ValueError(f"Call compile() before {name}(). Received: a model that is not compiled")
        now = {variable.path for variable in self.theta_variables}
        if self.run.num_chains > 1:
            now |= {variable.path for variable in self.phi_variables}
        compiled = {variable.path for variable in self.run.step.variables}
        if now != compiled:
            raise ValueError(
                f"Layers were frozen or unfrozen since compile(): call it again before {name}(). "
                f"Received: other trainable weights {sorted(now ^ compiled)}"
            )


def _steps_of_pass(source, batch_size):
    """Minibatches of a pass over the rows; None where their number is not known."""
    return -(-source.num_rows // batch_size) if source.random_access else rows_of_fit.cardinality(source)


def _optional_count(name, value):
    return None if value is None else checks.positive_integer(name, value)

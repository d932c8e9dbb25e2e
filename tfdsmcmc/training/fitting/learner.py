"""Keras around a run, for whatever steps it makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common.documenting import described_by
from tfdsmcmc.rows import source_of
from tfdsmcmc.training.fitting import refusing, saving
from tfdsmcmc.training.fitting.evaluating import with_loss
from tfdsmcmc.training.fitting.fit import fit
from tfdsmcmc.training.fitting.fitting import Fitting
from tfdsmcmc.training.fitting.sources import source_for
from tfdsmcmc.training.fitting.stored_run import StoredRun
from tfdsmcmc.training.run import Run

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Callbacks, Config, FilePath, Logs, TensorLike, Verbose
    from tfdsmcmc.rows.context import Context
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.rows.rows import Rows
    from tfdsmcmc.rows.source import Source
    from tfdsmcmc.supports import Support
    from tfdsmcmc.training.fitting.fitting import ChainsFor
    from tfdsmcmc.training.steps.step import Step


class Learner(keras.Model):
    """What Keras calls of a model that learns by a `Step`, handed on to the parts that do it.

    Keras calls methods of the model itself, in `fit` and for files, and finds its class in a file by a registered name:
    so models are subclasses, of this class alone. One says what it is by `learnable.Learnable`: `seed`, `units`,
    `support`, `theta_variables`, and what is below where it differs. Its `compile` ends in `_begin_run`.

    Attributes:
      run: `Run`, or None before `compile`.
      drawn: how often draws were made without a seed.
      fitting: `Fitting`, which has what `compile` was told, and the rows of the present fit.
      instead: of a call, as an error names it.
    """

    drawn: int
    train_function: Callable[..., Any] | None
    instead = "log_likelihood, evaluate or sample"

    def __init__(self, **kwargs: Any):
        if tf.distribute.has_strategy():
            raise ValueError(
                "A run keeps to one device: make the model outside of a strategy, and give it several chains instead. "
                f"Received: {type(tf.distribute.get_strategy()).__name__}"
            )
        super().__init__(**kwargs)
        self.run: Run | None = None
        self.drawn = 0
        self.fitting: Fitting = Fitting(self)
        self._stored = StoredRun(self, self.fitting)

    @property
    def units(self) -> int:
        """D, the width of the data."""
        raise NotImplementedError(f"{type(self).__name__} must define units.")

    @property
    def support(self) -> Support:
        """Of what values data may be."""
        raise NotImplementedError(f"{type(self).__name__} must define support.")

    @property
    def theta_variables(self) -> list[keras.Variable]:
        """The model's variables θ that can be learnt at present."""
        raise NotImplementedError(f"{type(self).__name__} must define theta_variables.")

    @property
    def phi_variables(self) -> list[keras.Variable]:
        """The variables φ that learn beside θ, and that a posterior sample keeps with it."""
        return []

    @property
    def context(self) -> Context | None:
        """What rows are given; None for a model of rows alone."""
        return None

    @property
    def takes_gaps(self) -> bool:
        """Whether rows may have missing entries."""
        return True

    @property
    def saved_frozen(self) -> bool:
        """Whether weights are frozen in a way that a file keeps, beside a run that was compiled before."""
        return False

    def check_rows(self, rows: Rows | Source) -> None:
        """Raises a ValueError for rows that the model cannot learn from, such as rows with gaps for some."""

    def watchers(self) -> list[keras.callbacks.Callback]:
        """Keras callbacks of the model's own, for one `fit`."""
        return []

    def outdoes(self, theta: Sequence[TensorLike], phi: Sequence[TensorLike], logs: Logs) -> bool:
        """Whether the present weights of the first chain are better on validation rows than those that were best there.

        It is asked before a climb goes back to these, for an estimate that is surer than that of each look.

        Args:
          theta: θ that was best.
          phi: φ at that moment; empty where it was not kept.
          logs: what the present look has shown.
        """
        return False

    def source(
        self, name: str, x: RowsLike, mask: ArrayLike | None = None, num_rows: int | None = None,
        gaps_are_filled: bool = False,
    ) -> Source:  # fmt: skip
        """The rows that a user passes as a source, checked; see `sources.source_for`."""
        return source_for(self, name, x, mask, num_rows, gaps_are_filled)

    def source_to_estimate(self, x: RowsLike) -> Source:
        """The source of rows whose log-likelihood is asked for, complete and of values that the data may have."""
        source = source_of("x", x, self.units, self.support, missing=False)
        self.check_rows(source)
        return source

    def next_seed(self) -> tf.Tensor:
        """A seed for draws that are to differ from all before, int32 of shape (2,); how many there were is saved."""
        self.drawn += 1
        return random.fold(random.stream(self.seed, "own draws"), self.drawn - 1)

    def chain_weights(self) -> list[tuple[list[np.ndarray], list[np.ndarray]]]:
        """(θ, φ) of each chain, pairs of lists of arrays; φ is that of the model where no chain has its own."""
        self._stored.share_phi()
        return self.fitting.pairs(self.run.weights)

    def posterior_draw(self) -> list[tuple[list[np.ndarray], list[np.ndarray]]]:
        """(θ, φ) of a posterior sample of each chain at the present step.

        The weights are `chain_weights`, or drawn around them.
        """
        self._stored.share_phi()
        return self.fitting.pairs(self.run.posterior_draw)

    @property
    def validates(self) -> bool:
        """Whether the present fit has validation data."""
        return self.fitting.validates

    @property
    def validation_source(self) -> Source | None:
        """The validation data of the present fit as a source of rows; None where there are none."""
        return self.fitting.validation

    @property
    def uses_xla(self) -> bool:
        """Whether the model's programs are compiled with XLA: what `compile` was told, True before."""
        return self.fitting.settings.get("jit_compile", True)

    @property
    def metrics(self) -> list[keras.metrics.Metric]:
        # Keras asks while the model is being made
        run = self.__dict__.get("run")
        return [] if run is None else list(run.means)

    def get_metrics_result(self) -> dict[str, Any]:
        """The means of the metrics so far, with the loss that callbacks of Keras look for; NaN before the first step.

        An epoch may end before it, and 0 would be the least loss there was.
        """
        found = super().get_metrics_result()
        if self.metrics and not float(self.metrics[0].count):  # as of all, which a step counts alike
            found = dict.fromkeys(found, np.nan)
        return with_loss(found)

    @described_by(fit)
    def fit(
        self, x: RowsLike | None = None, y: None = None, *, batch_size: int | None = None, epochs: int = 1,
        verbose: Verbose = "auto", callbacks: Callbacks | None = None, validation_split: float = 0.0,
        validation_data: RowsLike | None = None, shuffle: bool = True, initial_epoch: int = 0,
        steps_per_epoch: int | None = None, validation_steps: int | None = None,
        validation_batch_size: int | None = None, validation_freq: int | Sequence[int] = 1, num_rows: int | None = None,
        mask: ArrayLike | None = None, sample_weight: ArrayLike | None = None,
    ) -> keras.callbacks.History:  # fmt: skip
        return fit(
            self,
            x,
            y,
            batch_size=batch_size,
            epochs=epochs,
            verbose=verbose,
            callbacks=callbacks,
            validation_split=validation_split,
            validation_data=validation_data,
            shuffle=shuffle,
            initial_epoch=initial_epoch,
            steps_per_epoch=steps_per_epoch,
            validation_steps=validation_steps,
            validation_batch_size=validation_batch_size,
            validation_freq=validation_freq,
            num_rows=num_rows,
            mask=mask,
            sample_weight=sample_weight,
        )

    def make_train_function(self, force: bool = False) -> Callable[..., Any]:
        """The function that Keras calls with an iterator: it advances the run by up to steps_per_execution."""
        self.train_function = self._train
        return self._train

    def _train(self, iterator):
        if not self.stop_training:  # which a callback sets that finds at an epoch's beginning that the run is over
            self.fitting.advance(iterator)
        return self.get_metrics_result()

    def _begin_run(self, step: Step, optimizer: Any, settings: dict[str, Any], chains_for: ChainsFor | None = None):
        """The end of `compile`: a new run, see `Fitting.begin_run`; Keras saves the optimizer of what learns beside."""
        self.fitting.begin_run(step, settings, chains_for)
        at_once = settings["steps_per_execution"]
        super().compile(optimizer, steps_per_execution=1 if at_once == "auto" else at_once, jit_compile=False)

    def save(self, filepath: FilePath, overwrite: bool = True, **kwargs: Any) -> None:
        """Saves model, compile arguments and run as a .keras file; an interrupted save leaves the old file whole."""
        if self.run is not None and not self.saved_frozen:
            self.fitting.check_compiled("save")
        saving.save(super().save, filepath, overwrite, **kwargs)

    def save_weights(self, filepath: FilePath, overwrite: bool = True, **kwargs: Any) -> None:
        """Saves weights and run as a .weights.h5 file; an interrupted save leaves the old file whole.

        A disk without room is found before anything is written.
        """
        saving.save_weights(self, super().save_weights, filepath, overwrite, **kwargs)

    def load_weights(self, filepath: FilePath, **kwargs: Any) -> None:
        """Loads weights, and the run where the file holds one; a file that does not fit changes nothing.

        Raises:
          ValueError: for a file that does not fit; or where `num_chains="auto"` is still open, the file has another
            number of chains than the run so far, and layers were frozen or unfrozen since `compile`.
        """
        saving.load_weights(self, self.fitting, super().load_weights, filepath, **kwargs)

    def get_compile_config(self) -> Config:
        """The arguments of `compile`; objects among them as Keras serialises them."""
        return {} if self.run is None else saving.config_of(self.fitting.settings)

    def compile_from_config(self, config: Config) -> None:
        if config:
            self.compile(**saving.settings_of(config))

    def save_own_variables(self, store: Any) -> None:
        """Adds the state of the run; Keras saves the layers and the optimizer."""
        self._stored.write(store)

    def load_own_variables(self, store: Any) -> None:
        self._stored.read(store)

    def call(self, inputs: Any) -> Any:
        """A generative model is no function of its inputs."""
        refusing.no_function(self.instead, inputs)

    train_on_batch: Callable[..., NoReturn] = refusing.refused("train_on_batch")
    test_on_batch: Callable[..., NoReturn] = refusing.refused("test_on_batch")
    predict: Callable[..., NoReturn] = refusing.refused("predict")
    predict_on_batch: Callable[..., NoReturn] = refusing.refused("predict_on_batch")
    export: Callable[..., NoReturn] = refusing.refused("export")

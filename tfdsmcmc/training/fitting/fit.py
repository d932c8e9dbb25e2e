"""`fit` of a model: Keras' loop over the feed of a fit, whose elements its run works off."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import keras
import numpy as np

from tfdsmcmc._common import checks
from tfdsmcmc.training.fitting import arguments
from tfdsmcmc.training.fitting.callbacks import ValidationEpochs, between, listed
from tfdsmcmc.training.fitting.epochs import EpochCounter
from tfdsmcmc.training.fitting.restarts import RestoredEpoch, mend_backups

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Callbacks, Verbose
    from tfdsmcmc.rows.from_users import RowsLike
    from tfdsmcmc.training.fitting.learner import Learner


def fit(
    self: Learner, x: RowsLike | None = None, y: None = None, *, batch_size: int | None = None, epochs: int = 1,
    verbose: Verbose = "auto", callbacks: Callbacks | None = None, validation_split: float = 0.0,
    validation_data: RowsLike | None = None, shuffle: bool = True, initial_epoch: int = 0,
    steps_per_epoch: int | None = None, validation_steps: int | None = None,
    validation_batch_size: int | None = None, validation_freq: int | Sequence[int] = 1, num_rows: int | None = None,
    mask: ArrayLike | None = None, sample_weight: ArrayLike | None = None,
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
      callbacks: list of Keras callbacks. Those that set a learning rate set that of φ, where its optimizer has a
        number and no schedule; a kernel takes a schedule. A run that `BackupAndRestore` restores goes on bit for bit
        from the end of an epoch; from the middle of one (its `save_freq` a number) the epoch begins anew, with other
        draws. With `steps_per_epoch` a dataset begins anew too.
      validation_split: fraction of rows with random access, the last ones, to validate on. With `validation_data` it is
        of no effect, as in Keras.
      validation_data: what x may be.
      shuffle: whether rows with random access are read in a new order each epoch; else in their own, from where the
        last epoch ended.
      initial_epoch: the epoch to start at.
      steps_per_epoch: minibatches an epoch, by default those of a pass; a dataset goes on where the last epoch ended.
      validation_steps: how many batches of validation data are looked at, from the first on; by default all.
      validation_batch_size: rows at a time in validation; of `validation_steps` by default `batch_size`.
      validation_freq: as in Keras.
      num_rows: N, the number of rows that the posterior is given; by default counted.
      mask: (n, D) or (D,), True where an entry of the array x is observed, whatever stands in the others; by
        default all that are not NaN are.
      sample_weight: w, (n,), how often each row of random access counts: the target is log p(θ) +
        Σ_i w_i log p(x_i; θ), and N is Σ_i w_i. Integers are the rows repeated. Metrics and validation count each row
        once. Of a step that is no triple of kernel, latents and proposal, and of Boltzmann machines, it is refused.

    Returns:
      `keras.callbacks.History` of the step's metrics: of a `DeepGenerativeModel` `log_likelihood` (the estimate of
      the training step, of K samples; with uniform weights the evidence lower bound), `effective_sample_size` (of
      the weights that the gradient gives its draws: K where all weigh alike), `kinetic_temperature` (1 is right),
      `configurational_temperature` (in the mean over a chain that has arrived the kernel's temperature, see
      `diagnostics`)
      and `skipped_steps` (the fraction of the updates that were left out as not finite); and for validation
      `val_log_likelihood` and `val_effective_sample_size`. Callbacks of Keras find −log_likelihood as `loss` and
      `val_loss`. The log-likelihoods are estimated with the recognition network; where it does not learn they are
      far too low until `refit_recognition`. Its `params` have `validation_freq`.

    Warns:
      UserWarning: for rows of numbers with random access, all in a minibatch, where noise tells the length of steps; or
        a dataset some of whose batches have less than half of the rows of others, as each batch counts alike.

    Raises:
      ValueError: for data or counts that do not fit, or a model whose layers were frozen or unfrozen since
        `compile`; nothing is changed then. Of a dataset with `num_rows` only the first batch is seen beforehand.
      DivergedError: where a chain made no update in whole epochs, of ten updates at least, as none was finite.
    """
    self.fitting.check_compiled("fit")
    checks.no_targets("fit", y)
    verbose = checks.verbose(verbose)
    told = arguments.checked(
        batch_size=batch_size, epochs=epochs, initial_epoch=initial_epoch, steps_per_epoch=steps_per_epoch,
        validation_steps=validation_steps, validation_batch_size=validation_batch_size, shuffle=shuffle,
        validation_freq=validation_freq, validation_split=validation_split, num_rows=num_rows,
    )  # fmt: skip
    own = listed(callbacks)
    if not isinstance(callbacks, keras.callbacks.CallbackList):
        callbacks = own  # an iterator is gone through once
    with self.fitting.alone():
        self._stored.share_phi()
        feed = self.fitting.begin(x, mask, validation_data, told, own, sample_weight)
        self.steps_per_execution = feed.at_once
        rows = feed.source if feed.source.random_access else None
        counted = told.num_rows or feed.source.total_weight
        looks = ValidationEpochs(told.validation_freq)
        before = [EpochCounter(self.run, rows, counted, told.epochs_of_look), looks, *self.watchers()]
        restored = RestoredEpoch(
            self.run, told.initial_epoch, lambda epoch: self.fitting.plan(told._replace(initial_epoch=epoch))
        )
        mend_backups(own)
        try:
            with between(self, callbacks, before, [restored]) as all_callbacks:
                return keras.Model.fit(
                    self,
                    feed.dataset,
                    epochs=told.epochs,
                    verbose=verbose,
                    callbacks=all_callbacks,
                    # Keras makes an iterator of what stands here; `evaluate` reads the source
                    validation_data=np.zeros((1, 1)) if self.validates else None,
                    shuffle=False,
                    initial_epoch=told.initial_epoch,
                    steps_per_epoch=None if feed.source.random_access else steps_per_epoch,
                    validation_batch_size=validation_batch_size,
                    validation_freq=told.validation_freq,
                )
        finally:
            self._initial_epoch = None

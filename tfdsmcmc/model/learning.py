"""How the model learns: `compile` and `fit` of Keras, for a Markov chain over the weights."""

from __future__ import annotations

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import checks, incomplete, random
from tfdsmcmc.imputation.incoming import rows_and_mask
from tfdsmcmc.model import choices
from tfdsmcmc.training.chain import Chain, EpochCounter
from tfdsmcmc.training.feed import ArrayFeed, DatasetFeed, in_memory, is_dataset, split_last, take
from tfdsmcmc.training.step import Method


class Learning(keras.Model):
    """The part of `DeepGenerativeModel` that learns; it needs `generative`, `recognition`, `prior` and `seed`."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.chain = None
        self.validates = False  # whether the present fit has validation data
        self._feed = None
        self._stream = "fit"  # of the seed

    def compile(
        self,
        kernel="sgnht",
        latents="nais",
        proposal="wake",
        kernel_steps=1,
        proposal_steps=1,
        steps_per_execution=1,
        jit_compile=True,
        evaluation_samples=100,
        num_chains=1,
    ):
        """Chooses how the weights are learnt, and begins a new chain at the present weights.

        The counts of steps and epochs go on from those of an earlier chain.

        With `num_chains` = C > 1, C chains over θ run in one program, in the time of C runs, compiled in that of one.
        Each has minibatches (of a `tf.data.Dataset` they share them), latent draws and noise of its own. They share φ,
        which learns from the mean of their gradients; metrics are means over them too. The layers' variables are those
        of chain 0, which `evaluate`, `sample` and the validation of `fit` are of; `posterior.Collector` collects all.
        Chain 0 starts at the present weights, the others at fresh draws from the layers' initializers, so that R̂ can
        tell whether they meet: what an initializer sets to a constant starts equal. A chain that an earlier `compile`
        began goes on from where it stands; a frozen layer has the weights of chain 0 in all. Callbacks that set
        weights, such as `EarlyStopping(restore_best_weights=True)`, set those of chain 0.

        Args:
          kernel: transition kernel of θ, or "sgld", "preconditioned_sgld", "sghmc", "sgnht", "map" for one with its
            defaults; its temperature is that of the posterior, 1 unless it is to be tempered.
          latents: how z is drawn, or "nais", "gibbs".
          proposal: how φ learns, or "wake", "sleep", "wake_sleep", "iwae", "nvil"; None if φ does not learn.
          kernel_steps: θ-updates a minibatch; with 0 only φ learns.
          proposal_steps: φ-updates a minibatch; with 0 only θ learns.
          steps_per_execution: minibatches in one compiled call.
          jit_compile: whether to compile with XLA.
          evaluation_samples: importance samples a row in `evaluate` and in the validation of `fit`.
          num_chains: C, the Markov chains over θ.

        Raises:
          ValueError: for an argument of another kind or out of range, or a generative network that is all frozen.
        """
        if not self.generative.trainable_variables:
            raise ValueError("At least one generative layer must be trainable. Received: no trainable weights")
        kernel = choices.kernel_of(kernel)
        latents = choices.latents_of(latents)
        proposal = None if proposal is None else choices.proposal_of(proposal)
        kernel_steps = checks.nonnegative_integer("kernel_steps", kernel_steps)
        proposal_steps = checks.nonnegative_integer("proposal_steps", proposal_steps)
        steps_per_execution = checks.positive_integer("steps_per_execution", steps_per_execution)
        evaluation_samples = checks.positive_integer("evaluation_samples", evaluation_samples)
        num_chains = checks.positive_integer("num_chains", num_chains)

        method = Method(
            self.generative, self.recognition, self.prior, kernel, latents, proposal, kernel_steps, proposal_steps
        )
        choices.check_suits(latents, self.generative)
        choices.check_suits(proposal, self.generative, self.recognition, latents)
        chain = Chain(method, self._seed_of("chain"), bool(jit_compile), self.chain, num_chains)
        optimizer = getattr(proposal, "optimizer", None)
        super().compile(optimizer=optimizer, steps_per_execution=steps_per_execution, jit_compile=False)
        self.chain = chain
        self._settings = {
            "kernel": kernel,
            "latents": latents,
            "proposal": proposal,
            "kernel_steps": kernel_steps,
            "proposal_steps": proposal_steps,
            "steps_per_execution": steps_per_execution,
            "jit_compile": bool(jit_compile),
            "evaluation_samples": evaluation_samples,
            "num_chains": num_chains,
        }

    @property
    def uses_xla(self):
        """Whether the model's programs are compiled with XLA: what `compile` was told, True before."""
        return getattr(self, "_settings", {}).get("jit_compile", True)

    @property
    def metrics(self):
        return [] if getattr(self, "chain", None) is None else list(self.chain.means)

    def fit(
        self,
        x=None,
        y=None,
        *,
        batch_size=None,
        epochs=1,
        verbose="auto",
        callbacks=None,
        validation_split=0.0,
        validation_data=None,
        shuffle=True,
        initial_epoch=0,
        steps_per_epoch=None,
        validation_batch_size=None,
        validation_freq=1,
        num_rows=None,
        mask=None,
    ):
        """Runs the chain over the data; `keras.Model.fit` with data x alone.

        Missing entries, NaN, drop out of log p(x given z), and the recognition network sees a constant in their place:
        ½ where data are binary, else 0. The data layer's units must be independent given its parents then.

        Args:
          x: array (n, D), or a `tf.data.Dataset` of batches (B, D).
          y: must be None: a generative model has no targets.
          batch_size: B, for arrays; by default 100.
          epochs: the epoch to stop at.
          verbose: as in Keras.
          callbacks: list of Keras callbacks. Those that set a learning rate set that of φ; a kernel takes a schedule.
          validation_split: fraction of an array, its last rows, to validate on.
          validation_data: array (n, D); a dataset is read into memory.
          shuffle: whether an array is read in a new order each epoch.
          initial_epoch: the epoch to start at.
          steps_per_epoch: minibatches an epoch.
          validation_batch_size: rows at a time in validation.
          validation_freq: as in Keras.
          num_rows: N, the number of rows that the posterior is given; by default counted.
          mask: (n, D) or (D,), True where an entry of the array x is observed, whatever stands in the others; by
            default all that are not NaN are.

        Returns:
          `keras.callbacks.History` of `log_likelihood` (the estimate of the training step, of K samples; with uniform
          weights the evidence lower bound), `effective_sample_size` (of the weights that the gradient gives its draws:
          K where all weigh alike) and `kinetic_temperature` (1 is right), and for validation `val_log_likelihood` and
          `val_effective_sample_size`. The log-likelihoods are estimated with the recognition network; where it does not
          learn they are far too low until `refit_recognition`.

        Raises:
          ValueError: for data or counts that do not fit, or a model whose layers were frozen or unfrozen since
            `compile`; nothing is changed then. Of a dataset with `num_rows` only the first batch is seen beforehand.
        """
        self._assert_compiled("fit")
        checks.no_targets("fit", y)
        if num_rows is not None:
            num_rows = checks.positive_integer("num_rows", num_rows)
        batch_size = checks.positive_integer("batch_size", 100 if batch_size is None else batch_size)
        epochs = checks.nonnegative_integer("epochs", epochs)
        initial_epoch = checks.nonnegative_integer("initial_epoch", initial_epoch)
        if validation_batch_size is not None:
            validation_batch_size = checks.positive_integer("validation_batch_size", validation_batch_size)
        if not isinstance(validation_freq, (list, tuple, set)):
            validation_freq = checks.positive_integer("validation_freq", validation_freq)
        if steps_per_epoch is not None:
            steps_per_epoch = checks.positive_integer("steps_per_epoch", steps_per_epoch)
        if not is_dataset(x):
            x = self._rows("x", x, mask)
            if validation_split and validation_data is None:
                x, validation_data = split_last(x, validation_split)
        if isinstance(validation_data, tuple) and validation_data[1:] in ((), (None,)):
            validation_data = validation_data[0]
        if validation_data is not None:
            validation_data = self._rows("validation_data", in_memory(validation_data))
        if is_dataset(x):
            if mask is not None:
                raise ValueError(f"In a dataset NaN is missing; mask is for arrays. Received: {type(mask).__name__}")
            if self.chain.carried.kept:
                raise ValueError("Persistent chains over z need the data as an array. Received: x, a dataset")
            if validation_split:
                raise ValueError(f"validation_split is for arrays. Received: validation_split={validation_split}")
            if steps_per_epoch is None and int(x.cardinality()) == tf.data.INFINITE_CARDINALITY:
                raise ValueError("An infinite dataset needs steps_per_epoch. Received: steps_per_epoch=None")
            kind = self.generative.units, self.generative.binary_data
            missing = self.generative.layers[-1].factorised
            feed = DatasetFeed(x, *kind, self.steps_per_execution, num_rows, self.chain.num_chains, missing)
        else:
            order = self._seed_of("row order")
            block, chains = self.steps_per_execution, self.chain.num_chains
            feed = ArrayFeed(x, batch_size, block, order, shuffle, steps_per_epoch, chains)

        self._feed = feed
        self.train_function = None
        self.validates = validation_data is not None
        self.chain.begin(num_rows or feed.num_rows, None if is_dataset(x) else x, feed.with_gaps)
        if isinstance(callbacks, keras.callbacks.CallbackList):
            callbacks.callbacks.insert(0, EpochCounter(self.chain))
        else:
            callbacks = [callbacks] if isinstance(callbacks, keras.callbacks.Callback) else (callbacks or [])
            callbacks = [EpochCounter(self.chain), *callbacks]
        try:
            return super().fit(
                feed.dataset,
                epochs=epochs,
                verbose=verbose,
                callbacks=callbacks,
                validation_data=validation_data,
                shuffle=False,
                initial_epoch=initial_epoch,
                steps_per_epoch=steps_per_epoch if is_dataset(x) else None,
                validation_batch_size=validation_batch_size,
                validation_freq=validation_freq,
            )
        finally:
            self._feed = None

    def refit_recognition(self, x, epochs, batch_size=100, verbose=0, latents=None, proposal=None, num_chains=None):
        """Fits φ at fixed θ with a fresh optimizer; no chain moves.

        Args:
          x: array (n, D).
          epochs: passes over it.
          batch_size: B.
          verbose: as in Keras.
          latents: how z is drawn meanwhile; by default as compiled.
          proposal: how φ learns meanwhile; by default as compiled, or `proposals.Wake()` where it did not learn.
          num_chains: at the weights of how many chains, the first of which are the layers'; by default of all.

        Returns:
          `keras.callbacks.History`, as of `fit`.

        Raises:
          ValueError: before `compile`, or for more chains than there are.
        """
        self._assert_compiled("refit_recognition")
        there = self.chain.num_chains
        num_chains = checks.positive_integer("num_chains", there if num_chains is None else num_chains)
        if num_chains > there:
            raise ValueError(f"There are {there} chains over θ. Received: num_chains={num_chains}")
        settings = {**self._settings, "kernel_steps": 0, "num_chains": num_chains}
        settings["proposal_steps"] = max(1, settings["proposal_steps"])
        settings["latents"] = settings["latents"] if latents is None else latents
        proposal = proposal or settings["proposal"] or "wake"
        if not isinstance(proposal, str):  # its optimizer belongs to the run: take a fresh one of the kind
            proposal = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(proposal))
        twin = type(self)(self.generative, self.recognition, self.prior, seed=self.seed)
        twin._stream = f"refit {int(self.chain.refits)} after step {int(self.chain.steps)}"
        self.chain.refits.assign_add(1)
        twin.compile(**{**settings, "proposal": proposal})
        twin.chain.move_to(self.chain.weights[:num_chains])
        return twin.fit(x, batch_size=batch_size, epochs=epochs, verbose=verbose)

    def make_train_function(self, force=False):
        """The function that Keras calls with an iterator: it advances the chain by up to steps_per_execution."""
        if self.train_function is not None and not force:
            return self.train_function
        feed, chain = self._feed, self.chain

        def train(iterator):
            if self.stop_training:  # a callback has found at the epoch's beginning that the run is over
                return self.get_metrics_result()
            elements = take(iterator, self.steps_per_execution)
            for data, index, count in feed.blocks(elements, int(chain.steps)):
                chain.advance(data, index, count)
            return self.get_metrics_result()

        self.train_function = train
        return train

    def _rows(self, name, x, mask=None):
        """The rows as an array, with NaN where they or the mask say that an entry is missing."""
        kind = self.generative.units, self.generative.binary_data
        if mask is not None:
            values, observed = rows_and_mask(x, mask, *kind)
            x = np.where(observed, values, np.float32(np.nan))
        rows = checks.rows(name, x, *kind, missing=True)
        if incomplete.has_gaps(rows):
            incomplete.check(self.generative)
        return rows

    def _seed_of(self, purpose):
        return random.stream(random.stream(self.seed, self._stream), purpose)

    def _assert_compiled(self, name):
        if self.chain is None:
            raise ValueError(f"Call compile() before {name}(). Received: a model that is not compiled")
        now = {variable.path for variable in self.generative.trainable_variables}
        compiled = {variable.path for variable in self.chain.variables_of_theta}
        if now != compiled:
            raise ValueError(
                f"Layers were frozen or unfrozen since compile(): call it again before {name}(). "
                f"Received: other trainable weights {sorted(now ^ compiled)}"
            )

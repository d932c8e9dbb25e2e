"""The Keras model that joins a generative network, a recognition network and a prior."""

from __future__ import annotations

import contextlib
import os
import pathlib

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import checks, likelihood, random
from tfdsmcmc.latents import NAIS
from tfdsmcmc.mcmc import SGNHT
from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
from tfdsmcmc.priors import Prior
from tfdsmcmc.proposals import Wake
from tfdsmcmc.training.chain import Chain, EpochCounter
from tfdsmcmc.training.feed import ArrayFeed, DatasetFeed, in_memory, is_dataset, split_last, take
from tfdsmcmc.training.step import Method


@keras.saving.register_keras_serializable("tfdsmcmc")
class DeepGenerativeModel(keras.Model):
    """A deep generative model p(x, z; θ) whose weights are drawn from their posterior by doubly stochastic MCMC.

    Args:
      generative: `GenerativeNetwork`, p(x, z; θ).
      recognition: `RecognitionNetwork` that mirrors it, q(z given x; φ).
      prior: of θ: a scalar TFP distribution, a dict from weight-name patterns to such, or a `Prior`; by default
        Student-t with 2.2 degrees of freedom and scale 0.09.
      seed: non-negative integer; the chain, the latent draws and the order of the rows follow from it.
      **kwargs: of `keras.Model`.

    Raises:
      ValueError: if the networks do not mirror each other, or an argument is of another kind.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> model = ds.DeepGenerativeModel(
    ...     generative=ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.SBN(4)]),
    ...     recognition=ds.RecognitionNetwork([ds.layers.SBN(2)]),
    ... )
    >>> model.compile(kernel=ds.mcmc.SGNHT(learning_rate=0.01))
    >>> history = model.fit(np.eye(4), batch_size=2, epochs=1, verbose=0)
    >>> sorted(history.history)
    ['effective_sample_size', 'kinetic_temperature', 'log_likelihood']
    >>> model.sample(3, seed=0).shape
    (3, 4)
    """

    def __init__(self, generative, recognition, prior=None, seed=0, **kwargs):
        _check_networks(generative, recognition)
        seed = checks.nonnegative_integer("seed", seed)
        random.as_seed(seed)  # no larger than a seed may be
        super().__init__(**kwargs)
        if not recognition.built:
            recognition.build((None, generative.units))
        recognition._build_chain(generative.units)
        self.generative = generative
        self.recognition = recognition
        self.prior = prior if isinstance(prior, Prior) else Prior(prior)
        for name, _ in generative.named_weights:
            self.prior.for_weight(name)
        self.seed = seed
        self.chain = None
        self.validates = False  # whether the present fit has validation data
        self._feed = None
        self._stream = "fit"  # of the seed
        self.built = True

    # ---- learning

    def compile(
        self,
        kernel=None,
        latents=None,
        proposal=None,
        kernel_steps=1,
        proposal_steps=1,
        steps_per_execution=1,
        jit_compile=True,
        evaluation_samples=100,
    ):
        """Chooses how the weights are learnt, and begins a new chain at the present weights.

        The counts of steps and epochs go on from those of an earlier chain.

        Args:
          kernel: transition kernel of θ; its temperature is that of the posterior, 1 unless it is to be tempered.
            By default `mcmc.SGNHT()`.
          latents: how z is drawn; by default `latents.NAIS()`.
          proposal: how φ learns; by default `proposals.Wake()`.
          kernel_steps: θ-updates a minibatch; with 0 only φ learns.
          proposal_steps: φ-updates a minibatch; with 0 only θ learns.
          steps_per_execution: minibatches in one compiled call.
          jit_compile: whether to compile with XLA.
          evaluation_samples: importance samples a row in `evaluate` and in the validation of `fit`.

        Raises:
          ValueError: for an argument of another kind or out of range, or a generative network that is all frozen.
        """
        if not self.generative.trainable_variables:
            raise ValueError("At least one generative layer must be trainable. Received: no trainable weights")
        kernel = SGNHT() if kernel is None else kernel
        latents = NAIS() if latents is None else latents
        proposal = Wake() if proposal is None else proposal
        _check_has("kernel", kernel, "integrate")
        _check_has("latents", latents, "draw")
        _check_has("proposal", proposal, "surrogate")
        kernel_steps = checks.nonnegative_integer("kernel_steps", kernel_steps)
        proposal_steps = checks.nonnegative_integer("proposal_steps", proposal_steps)
        steps_per_execution = checks.positive_integer("steps_per_execution", steps_per_execution)
        evaluation_samples = checks.positive_integer("evaluation_samples", evaluation_samples)

        method = Method(
            self.generative, self.recognition, self.prior, kernel, latents, proposal, kernel_steps, proposal_steps
        )
        super().compile(optimizer=proposal.optimizer, steps_per_execution=steps_per_execution, jit_compile=False)
        self.chain = Chain(method, self._seed_of("chain"), bool(jit_compile), follows=self.chain)
        self._settings = {
            "kernel": kernel,
            "latents": latents,
            "proposal": proposal,
            "kernel_steps": kernel_steps,
            "proposal_steps": proposal_steps,
            "steps_per_execution": steps_per_execution,
            "jit_compile": bool(jit_compile),
            "evaluation_samples": evaluation_samples,
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
    ):
        """Runs the chain over the data; `keras.Model.fit` with data x alone.

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

        Returns:
          `keras.callbacks.History` of `log_likelihood` (the estimate of the training step, of K samples),
          `effective_sample_size` (of its weights) and `kinetic_temperature` (1 is right), and for validation
          `val_log_likelihood` and `val_effective_sample_size`.

        Raises:
          ValueError: for data that do not fit the model; nothing is changed then. Of a dataset with `num_rows` only the
            first batch is seen beforehand.
        """
        self._assert_compiled("fit")
        _refuse_targets("fit", y)
        if num_rows is not None:
            num_rows = checks.positive_integer("num_rows", num_rows)
        batch_size = checks.positive_integer("batch_size", 100 if batch_size is None else batch_size)
        if steps_per_epoch is not None:
            steps_per_epoch = checks.positive_integer("steps_per_epoch", steps_per_epoch)
        if not is_dataset(x):
            x = self._rows("x", x)
            if validation_split and validation_data is None:
                x, validation_data = split_last(x, validation_split)
        if isinstance(validation_data, tuple) and len(validation_data) == 1:
            validation_data = validation_data[0]
        if validation_data is not None:
            validation_data = self._rows("validation_data", in_memory(validation_data))
        if is_dataset(x):
            if validation_split:
                raise ValueError(f"validation_split is for arrays. Received: validation_split={validation_split}")
            if steps_per_epoch is None and int(x.cardinality()) == tf.data.INFINITE_CARDINALITY:
                raise ValueError("An infinite dataset needs steps_per_epoch. Received: steps_per_epoch=None")
            binary = self.generative.binary_data
            feed = DatasetFeed(x, self.generative.units, binary, self.steps_per_execution, num_rows)
        else:
            order = self._seed_of("row order")
            feed = ArrayFeed(x, batch_size, self.steps_per_execution, order, shuffle, steps_per_epoch)

        self._feed = feed
        self.train_function = None
        self.validates = validation_data is not None
        self.chain.begin(num_rows or feed.num_rows)
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

    def refit_recognition(self, x, epochs, batch_size=100, verbose=0):
        """Fits φ at fixed θ with a fresh optimizer of the compiled kind; the chain does not move.

        Args:
          x: array (n, D).
          epochs: passes over it.
          batch_size: B.
          verbose: as in Keras.
        """
        self._assert_compiled("refit_recognition")
        proposal = self._settings["proposal"]
        fresh = keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(proposal))
        twin = DeepGenerativeModel(self.generative, self.recognition, self.prior, seed=self.seed)
        twin._stream = "refit"
        steps = max(1, self._settings["proposal_steps"])
        twin.compile(**{**self._settings, "proposal": fresh, "kernel_steps": 0, "proposal_steps": steps})
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

    # ---- estimates

    def evaluate(
        self,
        x=None,
        y=None,
        *,
        batch_size=None,
        verbose="auto",
        callbacks=None,
        return_dict=False,
        num_samples=None,
        seed=0,
        **keras_arguments,
    ):
        """Estimates the mean log-likelihood of data by importance sampling.

        Args:
          x: array (n, D) or a dataset of batches.
          y: must be None.
          batch_size: rows at a time.
          verbose: 0 is silent; otherwise a line is printed.
          callbacks: Keras callbacks; they see the beginning and the end of the test.
          return_dict: whether to return a dict, or the list [log_likelihood, effective_sample_size].
          num_samples: samples a row; by default the `evaluation_samples` of compile.
          seed: of the draws; the same seed compares models on the same randomness.

        Returns:
          The mean log p(x) in nats and the mean effective sample size.
        """
        inside_fit = keras_arguments.pop("_use_cached_eval_dataset", False)
        _refuse_targets("evaluate", y)
        for name in ("sample_weight", "steps"):
            if keras_arguments.pop(name, None) is not None:
                raise ValueError(f"evaluate takes data x alone. Received: {name}")
        if keras_arguments:
            raise ValueError(f"evaluate has no such arguments. Received: {sorted(keras_arguments)}")
        if num_samples is None:
            num_samples = getattr(self, "_settings", {}).get("evaluation_samples", 100)
        if not isinstance(callbacks, keras.callbacks.CallbackList):
            callbacks = keras.callbacks.CallbackList(callbacks, model=self)
        callbacks.on_test_begin()
        mean = likelihood.importance_sampling(
            self, in_memory(x), num_samples, seed, batch_size=batch_size or 100, warn=not inside_fit
        ).mean()
        logs = {"log_likelihood": float(mean), "effective_sample_size": mean.effective_sample_size}
        callbacks.on_test_end(logs)
        if verbose and not inside_fit:
            print(" - ".join(f"{name}: {value:.4f}" for name, value in logs.items()))
        return logs if return_dict else list(logs.values())

    def log_likelihood(self, x, num_samples=1000, seed=0, batch_size=100):
        """Importance-sampling estimates of log p(x), see `likelihood.importance_sampling`."""
        return likelihood.importance_sampling(self, in_memory(x), num_samples, seed, batch_size)

    def call(self, inputs):
        """A generative model is no function of its inputs: a ValueError names what there is instead."""
        raise ValueError(
            "Use log_likelihood, evaluate or sample: a generative model is no function of its inputs. "
            f"Received: a call with {type(inputs).__name__}"
        )

    def sample(self, num_samples, seed=0, probabilities=False):
        """Ancestral samples of the data.

        Args:
          num_samples: n.
          seed: integer, or int32 tensor of shape (2,).
          probabilities: True for the means p(x given z₁) of the sampled z₁ instead of draws of x.

        Returns:
          float32 array (n, D).
        """
        num_samples = checks.positive_integer("num_samples", num_samples)
        x, z = self.generative.sample(num_samples, seed)
        if probabilities:
            x = self.generative.layers[-1].distribution(z[0] if z else tf.zeros([num_samples, 0])).mean()
        return x.numpy()

    # ---- saving

    def save(self, filepath, overwrite=True, **kwargs):
        """Saves model, compile arguments and chain as a .keras file; an interrupted save leaves the old file whole."""
        path = pathlib.Path(filepath)
        if path.suffix != ".keras" or (path.exists() and not overwrite):
            return super().save(filepath, overwrite=overwrite, **kwargs)  # Keras asks, or says what is wrong
        with _replacing(path) as temporary:
            super().save(temporary, **kwargs)

    def save_weights(self, filepath, overwrite=True, **kwargs):
        """Saves weights and chain as a .weights.h5 file; an interrupted save leaves the old file whole."""
        path = pathlib.Path(filepath)
        if not path.name.endswith(".weights.h5") or (path.exists() and not overwrite):
            return super().save_weights(filepath, overwrite=overwrite, **kwargs)
        with _replacing(path) as temporary:
            super().save_weights(temporary, **kwargs)

    def load_weights(self, filepath, **kwargs):
        """Loads weights, and the chain where the file holds one; a file that does not fit changes nothing."""
        chain = list(self.chain.state.values()) if self.chain else []
        optimizer = self.optimizer.variables if self.chain else []
        before = [(variable, variable.numpy()) for variable in (*self.weights, *chain, *optimizer)]
        try:
            super().load_weights(filepath, **kwargs)
        except BaseException:
            for variable, value in before:
                variable.assign(value)
            raise

    def get_config(self):
        parts = {"generative": self.generative, "recognition": self.recognition, "prior": self.prior}
        config = {name: keras.saving.serialize_keras_object(part) for name, part in parts.items()}
        return {"name": self.name, "trainable": self.trainable, "seed": self.seed, **config}

    @classmethod
    def from_config(cls, config):
        parts = {name: keras.saving.deserialize_keras_object(config[name]) for name in _PARTS}
        return cls(**{**config, **parts})

    def get_compile_config(self):
        if self.chain is None:
            return {}
        return {
            name: keras.saving.serialize_keras_object(value) if name in _CHOICES else value
            for name, value in self._settings.items()
        }

    def compile_from_config(self, config):
        if config:
            choices = {name: keras.saving.deserialize_keras_object(config[name]) for name in _CHOICES}
            self.compile(**{**config, **choices})

    def save_own_variables(self, store):
        """Adds the state of the chain; Keras saves the layers and the optimizer."""
        for name, variable in (self.chain.state if self.chain else {}).items():
            store[name] = variable.numpy()

    def load_own_variables(self, store):
        state = self.chain.state if self.chain else {}
        if not set(state) & set(store.keys()):  # weights alone, or no chain to restore
            return
        found = {name: np.asarray(store[name]) for name in state if name in store.keys()}
        shapes = {name: tuple(array.shape) for name, array in found.items()}
        if shapes != {name: tuple(variable.shape) for name, variable in state.items()}:
            raise ValueError(
                "The file holds the chain of another kernel; compile the model as it was when it was saved. "
                f"Received: {shapes}"
            )
        for name, variable in state.items():
            variable.assign(found[name])

    # ---- private helpers

    def _rows(self, name, x):
        return checks.rows(name, x, self.generative.units, self.generative.binary_data)

    def _seed_of(self, purpose):
        return random.stream(random.stream(self.seed, self._stream), purpose)

    def _assert_compiled(self, name):
        if self.chain is None:
            raise ValueError(f"Call compile() before {name}(). Received: a model that is not compiled")


_PARTS = ("generative", "recognition", "prior")
_CHOICES = ("kernel", "latents", "proposal")


def _check_networks(generative, recognition):
    if not isinstance(generative, GenerativeNetwork):
        raise ValueError(f"generative must be a GenerativeNetwork. Received: {type(generative).__name__}")
    if not isinstance(recognition, RecognitionNetwork):
        raise ValueError(f"recognition must be a RecognitionNetwork. Received: {type(recognition).__name__}")
    if {id(layer) for layer in generative.layers} & {id(layer) for layer in recognition.layers}:
        raise ValueError("The two networks must not share layers. Received: a layer that stands in both")
    if recognition.latent_units != generative.latent_units:
        raise ValueError(
            "The recognition network must mirror the generative one: its widths, data first, are "
            f"{generative.latent_units}. Received: {recognition.latent_units}"
        )


@contextlib.contextmanager
def _replacing(path):
    """A temporary name beside `path` that takes its place at the end."""
    temporary = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield str(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _refuse_targets(name, y):
    if y is not None:
        raise ValueError(f"{name} takes data x alone: there are no targets. Received: y={type(y).__name__}")


def _check_has(name, value, method):
    if isinstance(value, type) or not callable(getattr(value, method, None)):
        raise ValueError(f"{name} must be an object with a method {method}. Received: {name}={value!r}")

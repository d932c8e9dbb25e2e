"""How the model is kept: whole files, all or nothing, the chain included."""

from __future__ import annotations

import contextlib
import os
import pathlib

import keras
import numpy as np
import tensorflow as tf

_CHOICES = ("kernel", "latents", "proposal")


class Saving(keras.Model):
    """The part of `DeepGenerativeModel` that saves and loads; it needs `chain` and the settings of `compile`."""

    def save(self, filepath, overwrite=True, **kwargs):
        """Saves model, compile arguments and chain as a .keras file; an interrupted save leaves the old file whole."""
        path = pathlib.Path(filepath)
        if self.chain is not None:
            self._assert_compiled("save")
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
        optimizer = self.optimizer.variables if self.chain and self.optimizer else []
        before = [(variable, variable.numpy()) for variable in (*self.weights, *chain, *optimizer)]
        try:
            super().load_weights(filepath, **kwargs)
        except BaseException:
            for variable, value in before:
                variable.assign(value)
            raise

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
        if "refits" not in store.keys():  # written before there was such a count
            state = {name: variable for name, variable in state.items() if name != "refits"}
        if not set(state) & set(store.keys()):  # weights alone, or no chain to restore
            return
        stored = len(store["weights_0"]) if "weights_0" in store.keys() else 1
        if stored != self.chain.num_chains:
            raise ValueError(
                f"The file holds a run of num_chains={stored}; compile the model as it was when it was saved. "
                f"Received: a model compiled with num_chains={self.chain.num_chains}"
            )
        found = {name: np.asarray(store[name]) for name in state if name in store.keys()}
        if not all(name in found and _fits(variable, found[name]) for name, variable in state.items()):
            raise ValueError(
                "The file holds the chain of another kernel; compile the model as it was when it was saved. "
                f"Received: {({name: array.shape for name, array in found.items()})}"
            )
        for name, variable in state.items():
            variable.assign(found[name])


def _fits(variable, array):
    """Whether the shapes agree; some variables take any number of rows."""
    return tf.TensorShape(variable.shape).is_compatible_with(array.shape)


@contextlib.contextmanager
def _replacing(path):
    """A temporary name beside `path` that takes its place at the end."""
    temporary = path.with_name(f".{os.getpid()}-{path.name}")
    try:
        yield str(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)

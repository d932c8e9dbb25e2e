"""How a model is kept: whole files, all or nothing, the run included."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import files
from tfdsmcmc.training.fitting.refusing import Refusing

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, FilePath
    from tfdsmcmc.training.run import Run

_DRAWN = "drawn"  # among the variables of a file


class Saving(Refusing):
    """The part of a model that saves and loads; it needs `run`, `drawn` and the settings of `compile`."""

    run: Run | None
    drawn: int
    _phi_is_shared = False  # by all chains of a run that was loaded, until the layers are loaded too

    def save(self, filepath: FilePath, overwrite: bool = True, **kwargs: Any) -> None:
        """Saves model, compile arguments and run as a .keras file; an interrupted save leaves the old file whole."""
        path = pathlib.Path(filepath)
        if path.suffix in (".h5", ".hdf5"):  # Keras would write a file that it cannot load
            raise ValueError(f"A model is saved as NAME.keras. Received: filepath={str(filepath)!r}")
        if self.run is not None:
            self._assert_compiled("save")
        if path.suffix != ".keras" or (path.exists() and not overwrite):
            return super().save(filepath, overwrite=overwrite, **kwargs)  # Keras asks, or says what is wrong
        with files.replacing(path) as temporary:
            super().save(str(temporary), **kwargs)

    def save_weights(self, filepath: FilePath, overwrite: bool = True, **kwargs: Any) -> None:
        """Saves weights and run as a .weights.h5 file; an interrupted save leaves the old file whole.

        A disk without room is found before anything is written.
        """
        path = pathlib.Path(filepath)
        if not path.name.endswith(".weights.h5") or (path.exists() and not overwrite):
            return super().save_weights(filepath, overwrite=overwrite, **kwargs)
        with files.replacing(path) as temporary:
            files.check_room(path.parent, self._most_bytes())
            super().save_weights(str(temporary), **kwargs)

    def _most_bytes(self):
        """What a file of the weights and the run may take, with room for HDF5's own about each array."""
        run = list(self.run.saved.values()) if self.run else []
        optimizer = self.optimizer.variables if self.run and self.optimizer else []
        parts = [*self.weights, *run, *optimizer]
        return 2**16 + sum(2**14 + np.asarray(part).nbytes for part in parts)

    def load_weights(self, filepath: FilePath, **kwargs: Any) -> None:
        """Loads weights, and the run where the file holds one; a file that does not fit changes nothing."""
        run = list(self.run.saved.values()) if self.run else []
        optimizer = self.optimizer.variables if self.run and self.optimizer else []
        before = [(variable, variable.numpy()) for variable in (*self.weights, *run, *optimizer)]
        drawn = self.drawn
        try:
            super().load_weights(filepath, **kwargs)
        except BaseException:
            for variable, value in before:
                variable.assign(value)
            self.drawn = drawn
            raise

    def get_compile_config(self) -> Config:
        """The arguments of `compile`; objects among them as Keras serialises them."""
        if self.run is None:
            return {}
        return {
            name: keras.saving.serialize_keras_object(value) if hasattr(value, "get_config") else value
            for name, value in self._settings.items()
        }

    def compile_from_config(self, config: Config) -> None:
        if config:
            found = {
                name: keras.saving.deserialize_keras_object(value) if isinstance(value, dict) else value
                for name, value in config.items()
            }
            self.compile(**found)

    def save_own_variables(self, store: Any) -> None:
        """Adds the state of the run; Keras saves the layers and the optimizer."""
        self._share_phi()
        store[_DRAWN] = np.int64(self.drawn)
        for name, variable in (self.run.saved if self.run else {}).items():
            store[name] = variable.numpy()

    def load_own_variables(self, store: Any) -> None:
        self.drawn = int(np.asarray(store[_DRAWN])) if _DRAWN in store.keys() else 0
        state = self.run.saved if self.run else {}
        # written before there were such counts, or each chain had a recognition network of its own, or a climb its best
        kept = ("refits", "epochs_before", "assigned_", "best_phi_", *(f"weights_{i}" for i in self._places_beside()))
        later = {name for name in state if name.startswith(kept) and name not in store.keys()}
        later |= _added_last(state, store)
        state = {name: variable for name, variable in state.items() if name not in later}
        self._phi_is_shared = any(name.startswith("weights_") for name in later)
        if not set(state) & set(store.keys()):  # weights alone, or no run to restore
            return
        stored = len(store["weights_0"]) if "weights_0" in store.keys() else 1
        if stored != self.run.num_chains:
            raise ValueError(
                f"The file holds a run of num_chains={stored}; compile the model as it was when it was saved. "
                f"Received: a model compiled with num_chains={self.run.num_chains}"
            )
        found = {name: np.asarray(store[name]) for name in state if name in store.keys()}
        if not all(name in found and _fits(variable, found[name]) for name, variable in state.items()):
            raise ValueError(
                "The file holds the run of another kernel; compile the model as it was when it was saved. "
                f"Received: { ({name: array.shape for name, array in found.items()}) }"
            )
        for name, variable in state.items():
            variable.assign(found[name])

    def _share_phi(self):
        """Gives all chains the recognition network of chain 0, if a file of a run that had one for all was loaded."""
        if self._phi_is_shared:
            self._phi_is_shared = False
            first = self.run.weights[0]
            count = len(self.theta_variables)
            self.run.move_to([[*weights[:count], *first[count:]] for weights in self.run.weights])

    def _places_beside(self):
        """The places of φ among the weights of a run of several chains."""
        return range(len(self.theta_variables), len(self.run.step.variables) if self.run else 0)


def _added_last(state, store):
    """The last of the kernel's results where it alone is missing: a warm start has one more than there once were."""
    results = [name for name in state if name.startswith("kernel_results_")]
    missing = {name for name in results if name not in store.keys()}
    return missing if missing == set(results[-1:]) and len(results) > 1 else set()


def _fits(variable, array):
    """Whether the shapes agree; some variables take any number of rows."""
    return tf.TensorShape(variable.shape).is_compatible_with(array.shape)

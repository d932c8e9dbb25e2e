"""The run of a model among the variables of a file, which Keras hands over as a mapping from names to arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import tensorflow as tf

from tfdsmcmc.training.fitting.chains_of_files import chains_in

if TYPE_CHECKING:
    from tfdsmcmc.training.fitting.fitting import Fitting
    from tfdsmcmc.training.fitting.learnable import Learnable

_DRAWN = "drawn"  # among the variables of a file
_ADDED = "attempt", "gentle"  # results of a warm start that files may lack, the last first


class StoredRun:
    """Writes the run of a model, and puts one that was written in its place.

    Args:
      model: `Learnable`.
      fitting: its `Fitting`.
    """

    def __init__(self, model: Learnable, fitting: Fitting):
        self._model, self._fitting = model, fitting
        self._phi_is_shared = False  # by all chains of a run that was loaded, until the layers are loaded too

    def write(self, store: Any) -> None:
        """Adds the state of the run and the number of draws to a store; Keras saves the layers and the optimizer."""
        self.share_phi()
        store[_DRAWN] = np.int64(self._model.drawn)
        for name, variable in (self._model.run.saved if self._model.run else {}).items():
            store[name] = variable.numpy()

    def read(self, store: Any) -> None:
        """Sets the run to one that `write` put into a store, where there is one.

        Raises:
          ValueError: for a run of another kernel or prior, of another number of chains, or of several climbs where the
            model is compiled for one; nothing is changed then.
        """
        model, names = self._model, set(store.keys())
        stored = chains_in(store)
        if stored is not None and model.run is not None:
            self._fitting.settle(None, stored)
        model.drawn = int(np.asarray(store[_DRAWN])) if _DRAWN in names else 0
        state = model.run.saved if model.run else {}
        later = self._later(state, names)
        state = {name: variable for name, variable in state.items() if name not in later}
        self._phi_is_shared = any(name.startswith("weights_") for name in later)
        if not set(state) & names:  # weights alone, or no run to restore
            return
        _check_chains(store, names, model.run.num_chains)
        found = {name: np.asarray(store[name]) for name in state if name in names}
        _check_climbs(store, names, model.run)
        if not all(name in found and _fits(variable, found[name]) for name, variable in state.items()):
            raise ValueError(
                "The file holds the run of another kernel or prior; compile the model as it was when it was saved. "
                f"Received: { ({name: array.shape for name, array in found.items()}) }"
            )
        for name, variable in state.items():
            variable.assign(found[name])
        if "epochs_begun" in later:  # all epochs counted then
            model.run.epochs_begun.assign(0)
        if model.run.climbs is not None and "climbs_count" in later:
            model.run.climbs.forget()

    def share_phi(self) -> None:
        """Gives all chains the recognition network of chain 0, if a file of a run that had one for all was loaded."""
        if self._phi_is_shared:
            self._phi_is_shared = False
            run, count = self._model.run, self._fitting.num_theta
            first = run.weights[0]
            run.move_to([[*weights[:count], *first[count:]] for weights in run.weights])

    def _later(self, state, names):
        """Variables that files lack which were written before there were such."""
        run = self._model.run
        # of φ among the weights of a run of several chains
        places = range(self._fitting.num_theta, len(run.step.variables)) if run else ()
        added = "refits", "epochs_begun", "epochs_before", "row_spread", "assigned_", "best_phi_", "climbs_"
        kept = (*added, *(f"weights_{i}" for i in places))
        later = {name for name in state if name.startswith(kept) and name not in names}
        return later | (_added_last(run.state, state, names) if run else set())


def _check_chains(store, names, chains):
    stored = len(store["weights_0"]) if "weights_0" in names else 1
    if stored != chains:
        raise ValueError(
            f"The file holds a run of num_chains={stored}; compile the model as it was when it was saved. "
            f"Received: a model compiled with num_chains={chains}"
        )


def _check_climbs(store, names, run):
    """What the climbs before the present one have found would be lost."""
    found = int(np.asarray(store["climbs_count"])) if "climbs_count" in names else 0
    if found and run.climbs is None:
        raise ValueError(
            "The file holds a run of several climbs; compile the model with mcmc.WarmStart(climbs=…) as it was when it "
            f"was saved. Received: a model compiled for one climb, and {found + 1} in the file"
        )


def _added_last(state, variables, names):
    """The last of the kernel's results where they alone are missing: a warm start has more than there once were."""
    results = [name for name in variables if name.startswith("kernel_results_")]
    missing, count = {name for name in results if name not in names}, 0
    for field in _ADDED:
        count += len(tf.nest.flatten(getattr(getattr(state, "kernel_results", ()), field, ())))
        if missing and missing == set(results[len(results) - count :]):
            return missing
    return set()


def _fits(variable, array):
    """Whether the shapes agree; some variables take any number of rows."""
    return tf.TensorShape(variable.shape).is_compatible_with(array.shape)

"""How a model is kept: whole files, all or nothing, and the arguments of `compile` beside the weights.

`write` and `read` are what Keras does with a file; these functions make sure that it is done whole or not at all.
"""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from tfdsmcmc import files

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config, FilePath
    from tfdsmcmc.training.fitting.fitting import Fitting
    from tfdsmcmc.training.fitting.learnable import Learnable


def save(write: Callable[..., None], filepath: FilePath, overwrite: bool, **options: Any) -> None:
    """Saves a whole model; an interrupted save leaves the old file whole.

    Args:
      write: function (path, …) that does it.
      filepath: NAME.keras; a folder with `zipped=False`, or hf://…, as Keras has them.
      overwrite: whether a file that is there may be replaced; else `write` asks.
      **options: of `write`.

    Raises:
      ValueError: for another ending. A file of HDF5 Keras would write and could not load.
    """
    path = pathlib.Path(filepath)
    if options.get("zipped") is False or str(filepath).startswith("hf://"):  # a folder, which Keras writes
        return write(filepath, overwrite=overwrite, **options)
    if path.suffix != ".keras":
        raise ValueError(f"A model is saved as NAME.keras. Received: filepath={str(filepath)!r}")
    if path.exists() and not overwrite:
        return write(filepath, overwrite=overwrite, **options)
    with files.replacing(path) as temporary:
        write(str(temporary), **options)


def save_weights(
    model: Learnable, write: Callable[..., None], filepath: FilePath, overwrite: bool, **options: Any
) -> None:
    """Saves weights and run, as `save`; a disk without room is found before anything is written.

    Args:
      model: `Learnable`, whose weights and run these are.
      write: function (path, …) that does it.
      filepath: NAME.weights.h5.
      overwrite: as of `save`.
      **options: of `write`.
    """
    path = pathlib.Path(filepath)
    if not path.name.endswith(".weights.h5") or (path.exists() and not overwrite):
        return write(filepath, overwrite=overwrite, **options)
    with files.replacing(path) as temporary:
        # what the arrays may take, with room for HDF5's own about each
        most = 2**16 + sum(2**14 + np.asarray(variable).nbytes for variable in _variables(model))
        files.check_room(path.parent, most)
        write(str(temporary), **options)


def load_weights(
    model: Learnable, fitting: Fitting, read: Callable[..., None], filepath: FilePath, **options: Any
) -> None:
    """Loads weights, and the run where the file holds one; a file that does not fit changes nothing.

    Args:
      model: `Learnable`.
      fitting: its `Fitting`.
      read: function (path, …) that does it.
      filepath: what `save_weights` wrote.
      **options: of `read`.
    """
    before = [(variable, variable.numpy()) for variable in _variables(model)]
    drawn, run, compiled = model.drawn, model.run, fitting.compiled
    try:
        read(filepath, **options)
    except BaseException:
        for variable, value in before:
            variable.assign(value)
        model.drawn, model.run, fitting.compiled = drawn, run, compiled
        raise


def config_of(settings: dict[str, Any]) -> Config:
    """The arguments of `compile` as a configuration; objects among them as Keras serialises them."""
    return {
        name: keras.saving.serialize_keras_object(value) if hasattr(value, "get_config") else value
        for name, value in settings.items()
    }


def settings_of(config: Config) -> dict[str, Any]:
    """The arguments of `compile` of a configuration."""
    return {
        name: keras.saving.deserialize_keras_object(value) if isinstance(value, dict) else value
        for name, value in config.items()
    }


def _variables(model):
    """All that a file of the weights has: those of the layers, of the run and of the optimizer."""
    run = list(model.run.saved.values()) if model.run else []
    optimizer = model.optimizer.variables if model.run and model.optimizer else []
    return [*model.weights, *run, *optimizer]

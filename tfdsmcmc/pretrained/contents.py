"""What a release has in it: a model, and of most the samples of its weights.

FOLDER/model.json      the model as Keras describes it, without weights
FOLDER/weights.h5      its weights, θ and φ
FOLDER/posterior/      samples, as a `Collector` writes them; of a posterior alone
FOLDER/card.md         the card
"""

from __future__ import annotations

import json
import pathlib
import shutil
from typing import TYPE_CHECKING

import keras

from tfdsmcmc import contract, files
from tfdsmcmc._common.finite import check_finite
from tfdsmcmc._common.reasons import reason_of
from tfdsmcmc.boltzmann import RBM
from tfdsmcmc.model import DeepGenerativeModel
from tfdsmcmc.posterior import store

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath

POSTERIOR = "posterior"
_MODEL, _WEIGHTS = "model.json", "weights.h5"
_OF_SAMPLES = ("sample_*.h5", "start*.h5", "average.json")  # means can be computed, the history is of the run


def write(folder: FilePath, model: DeepGenerativeModel | RBM, samples: FilePath | None = None) -> None:
    """Writes a model and a posterior's files into a folder.

    Args:
      folder: of what is to be released; made if missing.
      model: with the weights that it is to have.
      samples: folder of a `Collector`; None for a model alone.
    """
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    files.write_json(folder / _MODEL, keras.saving.serialize_keras_object(model))
    weights = [[variable.numpy() for variable in group] for group in _variables(model)]
    store.write_weights(folder / _WEIGHTS, *weights)
    if samples is not None:
        (folder / POSTERIOR).mkdir(exist_ok=True)
        for pattern in _OF_SAMPLES:
            for path in sorted(pathlib.Path(samples).glob(pattern)):
                shutil.copyfile(path, folder / POSTERIOR / path.name)


def read_model(folder: FilePath) -> DeepGenerativeModel | RBM:
    """The model of a folder, with its weights, not compiled.

    Raises:
      ValueError: for files of another kind, or that cannot be read.
    """
    file = pathlib.Path(folder) / _MODEL
    try:
        described = json.loads(file.read_text(encoding="utf-8"))
        described.pop("compile_config", None)  # of the method that it learnt by
        model = keras.saving.deserialize_keras_object(described)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(f"Not a model of a release ({reason_of(error)}). Received: {file}") from error
    if not isinstance(model, (DeepGenerativeModel, RBM)):
        raise ValueError(f"A release has a DeepGenerativeModel or an RBM. Received: {file}, a {type(model).__name__}")
    theta, phi, _ = store.read_weights(pathlib.Path(folder) / _WEIGHTS)
    check_finite(f"the weights in {folder}", [*theta, *phi])
    variables = [variable for group in _variables(model) for variable in group]
    if [tuple(variable.shape) for variable in variables] != [part.shape for part in (*theta, *phi)]:
        raise ValueError(f"The weights of a release are its model's. Received: {folder}, with others")
    for variable, value in zip(variables, (*theta, *phi)):
        variable.assign(value)
    return model


def _variables(model):
    """Those of θ and of φ, lists."""
    return contract.sampled_theta(model), getattr(model, "phi_variables", [])

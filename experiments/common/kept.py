"""What takes long to make is kept in files as soon as it is made: an interrupted row does not make it again.

Whoever makes something anew chooses the name of its file by all that it depends on.
"""

import json

import numpy as np

import tfdsmcmc as ds


def content(path, make):
    """What is in a file, .json: what `make()` returned when it was not there."""
    if not path.exists():
        ds.files.write_json(path, make())
    return json.loads(path.read_text())


def estimate(path, make):
    """The same of a `tfdsmcmc.likelihood.LogLikelihood`, .npz."""
    if not path.exists():
        fields = make()._asdict().items()
        with ds.files.replacing(path) as temporary:
            np.savez(temporary, **{name: field for name, field in fields if field is not None})
    with np.load(path) as kept:
        return ds.likelihood.LogLikelihood(**kept)


def weights(model, path, make):
    """Gives the model the weights in a file, .npz: those that it had after `make()` when the file was not there."""
    if path.exists():
        read_weights(model, path)
    else:
        make()
        write_weights(model, path)


def read_weights(model, path):
    """Gives the model the weights of a file."""
    with np.load(path) as kept:
        model.set_weights([kept[str(i)] for i in range(len(model.weights))])


def write_weights(model, path, **others):
    """Writes the weights of a model, and other arrays by name."""
    arrays = {str(i): weight for i, weight in enumerate(model.get_weights())}
    with ds.files.replacing(path) as temporary:
        np.savez(temporary, **arrays, **others)

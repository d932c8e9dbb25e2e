"""What takes long to make is kept in files as soon as it is made: an interrupted run does not make it again.

Whoever makes something anew chooses the name of its file by all that it depends on.
"""

import tfdsmcmc as ds
from experiments.common import files


def content(path, make):
    """What is in a file, .json: what `make()` returned when it was not there."""
    if not path.exists():
        files.write_json(path, make())
    return files.read_json(path)


def estimate(path, make):
    """The same of a `tfdsmcmc.likelihood.LogLikelihood`, .npz."""
    if not path.exists():
        fields = make()._asdict().items()
        files.write_arrays(path, {name: field for name, field in fields if field is not None})
    return ds.likelihood.LogLikelihood(**files.read_arrays(path))


def weights(model, path, make):
    """Gives the model the weights in a file, .npz: those that it had after `make()` when the file was not there."""
    if path.exists():
        read_weights(model, path)
    else:
        make()
        write_weights(model, path)


def read_weights(model, path):
    """Gives the model the weights of a file."""
    arrays = files.read_arrays(path)
    model.set_weights([arrays[str(i)] for i in range(len(model.weights))])


def write_weights(model, path, **others):
    """Writes the weights of a model, and other arrays by name."""
    files.write_arrays(path, {**{str(i): weight for i, weight in enumerate(model.get_weights())}, **others})

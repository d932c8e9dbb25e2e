"""Samples of (θ, φ) on disk: one HDF5 file a sample, and their running mean.

    PATH/sample_000012500.h5    the weights after 12,500 steps: groups theta and phi, datasets 0, 1, …
    PATH/mean.h5                their mean in float64, and how many it is of
    PATH/history.json           what the collector has seen, epoch by epoch

A file is written under a temporary name, flushed to the disk and renamed: a killed run leaves whole files only.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
from typing import NamedTuple

import h5py
import numpy as np

_GROUPS = ("theta", "phi")


class Sample(NamedTuple):
    """Weights of the generative and the recognition network, lists of arrays, after `step` steps."""

    theta: list[np.ndarray]
    phi: list[np.ndarray]
    step: int


def sample_paths(folder) -> list[pathlib.Path]:
    """The samples' files, in the order of their steps."""
    return sorted(p for p in pathlib.Path(folder).glob("sample_*.h5") if re.fullmatch(r"sample_\d+\.h5", p.name))


def step_of(path) -> int:
    """The step that a sample's file name states."""
    return int(pathlib.Path(path).stem.split("_")[1])


def write_sample(folder, sample: Sample):
    """Writes a sample into the folder."""
    write_weights(pathlib.Path(folder) / f"sample_{sample.step:09d}.h5", sample.theta, sample.phi, step=sample.step)


def read_sample(path) -> Sample:
    """Reads a sample; a ValueError says which file cannot be read."""
    theta, phi, attributes = read_weights(path, "step")
    return Sample(theta, phi, attributes["step"])


def update_mean(folder, sample: Sample, count: int):
    """Makes `sample` the `count`-th that the stored mean is of; recomputes the mean where it is not of count − 1."""
    folder = pathlib.Path(folder)
    stored = _read_mean(folder)
    if count == 1:
        mean = [np.asarray(w, np.float64) for w in (*sample.theta, *sample.phi)]
    elif stored is not None and stored[1] == count - 1:
        mean = [m + (w - m) / count for m, w in zip(stored[0], (*sample.theta, *sample.phi))]
    else:
        mean = _streamed_mean(folder)
    split = len(sample.theta)
    write_weights(folder / "mean.h5", mean[:split], mean[split:], count=count)


def read_mean(folder):
    """(θ, φ), lists of float64 arrays: the mean of the samples in the folder."""
    folder = pathlib.Path(folder)
    paths = sample_paths(folder)
    stored = _read_mean(folder)
    mean = stored[0] if stored is not None and stored[1] == len(paths) else _streamed_mean(folder)
    split = len(read_sample(paths[0]).theta)
    return mean[:split], mean[split:]


def write_weights(path, theta, phi, **attributes):
    """Writes lists of arrays and integers to an HDF5 file, atomically."""
    path = pathlib.Path(path)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        with h5py.File(temporary, "w") as file:
            for name, arrays in zip(_GROUPS, (theta, phi)):
                group = file.create_group(name)
                for i, array in enumerate(arrays):
                    group.create_dataset(str(i), data=np.asarray(array))
            file.attrs.update(attributes)
        _sync(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read_weights(path, *attributes):
    """(θ, φ, the named attributes) of a file; a ValueError where it is unreadable, truncated or of another kind."""
    try:
        with h5py.File(path, "r") as file:
            theta, phi = ([file[g][str(i)][()] for i in range(len(file[g]))] for g in _GROUPS)
            found = {name: int(file.attrs[name]) for name in attributes}
    except (OSError, KeyError, RuntimeError, AttributeError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"Not a whole file of posterior samples ({reason}). Received: {path}") from error
    return theta, phi, found


def write_json(path, content):
    """Writes JSON, atomically."""
    path = pathlib.Path(path)
    temporary = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        temporary.write_text(json.dumps(content))
        _sync(temporary)
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def _read_mean(folder):
    """(weights, count), or None where there is no readable mean: it can always be computed anew."""
    try:
        theta, phi, attributes = read_weights(folder / "mean.h5", "count")
    except ValueError:
        return None
    return [*theta, *phi], attributes["count"]


def _streamed_mean(folder):
    mean = None
    for count, path in enumerate(sample_paths(folder), 1):
        sample = read_sample(path)
        weights = (*sample.theta, *sample.phi)
        mean = mean or [np.zeros(w.shape) for w in weights]
        mean = [m + (w - m) / count for m, w in zip(mean, weights)]
    return mean


def _sync(path):
    with open(path, "rb+") as file:
        os.fsync(file.fileno())

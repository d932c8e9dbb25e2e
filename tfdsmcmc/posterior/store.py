"""Samples of (θ, φ) on disk: one HDF5 file a sample, and their running mean.

    PATH/sample_000012500.h5            the weights after 12,500 steps: groups theta and phi, datasets 0, 1, …
    PATH/sample_000012500_chain_2.h5    those of chain 2, where the run has several chains over θ
    PATH/mean.h5                        their mean in float64, over all chains, and how many it is of
    PATH/history.jsonl                  what the collector has seen, epoch by epoch

A file is there whole or not at all (see `files`). The samples of several chains after one step are one draw, whose
chain 0 is written last: without it the others do not count.
"""

from __future__ import annotations

import hashlib
import pathlib
import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import h5py
import numpy as np

from tfdsmcmc import files
from tfdsmcmc._common.finite import check_finite
from tfdsmcmc._common.reasons import reason_of

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import FilePath
    from tfdsmcmc.training.fitting.learner import Learner

_GROUPS = ("theta", "phi")
_BIASES = "label_biases"
_NAME = re.compile(r"sample_(\d+)(?:_chain_(\d+))?\.h5")


class Sample(NamedTuple):
    """Weights of the generative and the recognition network, after `step` steps of chain `chain`.

    Attributes:
      theta: list of arrays.
      phi: list of arrays.
      step: integer.
      chain: integer.
    """

    theta: list[np.ndarray]
    phi: list[np.ndarray]
    step: int
    chain: int = 0

    @property
    def arrays(self) -> list[np.ndarray]:
        """All arrays, a list."""
        return [*self.theta, *self.phi]

    @property
    def shapes(self) -> list[list[tuple[int, ...]]]:
        """The shapes of θ and of φ, lists of tuples."""
        return [[part.shape for part in group] for group in (self.theta, self.phi)]


def draw_of(model: Learner) -> list[Sample]:
    """A sample of each chain over θ of a compiled model at its present step, chain 0 first."""
    step = int(model.run.steps)
    return [Sample(*pair, step, chain) for chain, pair in enumerate(model.posterior_draw())]


def present(model: Learner) -> list[Sample]:
    """The present weights of each chain over θ of a compiled model, chain 0 first, whatever a step would draw."""
    return [Sample(*pair, int(model.run.steps), chain) for chain, pair in enumerate(model.chain_weights())]


def sample_paths(folder: FilePath) -> list[pathlib.Path]:
    """The samples' files that count, in the order of their steps and, after one step, of their chains."""
    paths = written_paths(folder)
    whole = {step_of(path) for path in paths if chain_of(path) == 0}
    return [path for path in paths if step_of(path) in whole]


def written_paths(folder: FilePath) -> list[pathlib.Path]:
    """All samples' files in that order, those of half a draw included."""
    paths = (path for path in pathlib.Path(folder).glob("sample_*.h5") if _NAME.fullmatch(path.name))
    return sorted(paths, key=lambda path: (step_of(path), chain_of(path), path.name))


def step_of(path: FilePath) -> int:
    """The step that a sample's file name states."""
    return int(_NAME.fullmatch(pathlib.Path(path).name)[1])


def chain_of(path: FilePath) -> int:
    """The chain that a sample's file name states; 0 where it states none."""
    return int(_NAME.fullmatch(pathlib.Path(path).name)[2] or 0)


def write_draw(folder: FilePath, samples: Sequence[Sample]) -> None:
    """Writes the samples of one step, one of each chain, into the folder; killed, it leaves none that count.

    Args:
      folder: the folder.
      samples: list of `Sample`, chain 0 first.

    Raises:
      ValueError: for weights that are not finite; nothing is written then.
    """
    for sample in samples:
        check_finite("the weights of a posterior sample", sample.arrays)
    for sample in reversed(samples):
        of_chain = f"_chain_{sample.chain}" if len(samples) > 1 else ""
        attributes = {"step": sample.step, "chain": sample.chain} if of_chain else {"step": sample.step}
        path = pathlib.Path(folder) / f"sample_{sample.step:09d}{of_chain}.h5"
        write_weights(path, sample.theta, sample.phi, **attributes)


def checksum(samples: Sequence[Sample], *numbers: int) -> str:
    """Sixteen hexadecimal digits of the weights of a draw, and of some integers.

    Args:
      samples: list of `Sample`.
      *numbers: integers.
    """
    digest = hashlib.blake2b(repr([int(number) for number in numbers]).encode(), digest_size=8)
    for sample in samples:
        for part in sample.arrays:
            digest.update(repr((part.shape, part.dtype.str)).encode())
            digest.update(np.ascontiguousarray(part))
    return digest.hexdigest()


def delete(folder: pathlib.Path, paths: Iterable[pathlib.Path]) -> None:
    """Deletes samples' files, chain 0 first: killed, it leaves no half draw that counts. The mean of what there was
    goes before them, as it is trusted by its count alone."""
    (folder / "mean.h5").unlink(missing_ok=True)
    for path in sorted(paths, key=chain_of):
        path.unlink()


def read_sample(path: FilePath) -> Sample:
    """Reads a sample; a ValueError says which file cannot be read, or has weights that are not finite."""
    theta, phi, attributes = read_weights(path, "step", chain=0)
    sample = Sample(theta, phi, attributes["step"], attributes["chain"])
    check_finite(f"the weights in {path}", sample.arrays)
    return sample


def update_mean(folder: FilePath, samples: Sample | Sequence[Sample], count: int) -> None:
    """Makes a sample, or those of one draw, the last of the `count` samples that the stored mean is of.

    The mean is computed anew where the stored one is not of those before, which its count alone tells: whoever replaces
    samples by as many others deletes mean.h5.

    Args:
      folder: the folder, with the samples in it.
      samples: `Sample`, or a list of them.
      count: the number of samples in the folder.
    """
    folder, samples = pathlib.Path(folder), [samples] if isinstance(samples, Sample) else list(samples)
    stored, before = _read_mean(folder), count - len(samples)
    if before == 0:
        mean = _mean(samples)
    elif stored is not None and stored[1] == before:
        mean = _mean(samples, stored[0], before)
    else:
        mean = _streamed_mean(folder)
    split = len(samples[0].theta)
    write_weights(folder / "mean.h5", mean[:split], mean[split:], count=count)


def read_mean(folder: FilePath) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """(θ, φ), lists of float64 arrays: the mean of the samples in the folder.

    The stored mean is taken where it is of as many samples as there are, else the mean is computed anew; that they are
    the same samples is not looked into.
    """
    folder = pathlib.Path(folder)
    paths = sample_paths(folder)
    stored = _read_mean(folder)
    mean = stored[0] if stored is not None and stored[1] == len(paths) else _streamed_mean(folder)
    split = len(read_sample(paths[0]).theta)
    return mean[:split], mean[split:]


def write_weights(
    path: FilePath,
    theta: Sequence[ArrayLike],
    phi: Sequence[ArrayLike],
    **attributes: int,
) -> None:
    """Writes lists of arrays and integers to an HDF5 file, atomically, and not where the disk has no room."""
    size = 2**16 + sum(2**14 + np.asarray(part).nbytes for part in (*theta, *phi))
    files.check_room(pathlib.Path(path).parent, size)
    with files.replacing(path) as temporary, h5py.File(temporary, "w") as file:
        for name, arrays in zip(_GROUPS, (theta, phi)):
            group = file.create_group(name)
            for i, array in enumerate(arrays):
                group.create_dataset(str(i), data=np.asarray(array))
        file.attrs.update(attributes)


def read_weights(
    path: FilePath,
    *attributes: str,
    **optional: int,
) -> tuple[list[np.ndarray], list[np.ndarray], dict[str, int]]:
    """(θ, φ, the named attributes) of a file.

    Of an earlier version's samples with biases of the top layer for each label, θ is that of a network whose context is
    the label.

    Args:
      path: the file.
      *attributes: names of attributes that it must have.
      **optional: names of others, and what they are where it has none.

    Raises:
      ValueError: where it is unreadable, truncated or of another kind.
    """
    try:
        with h5py.File(path, "r") as file:
            groups = [[group[str(i)] for i in range(len(group))] for group in (file[name] for name in _GROUPS)]
            datasets = [*groups[0], *groups[1], *([file[_BIASES]] if _BIASES in file else [])]
            if (stated := sum(part.nbytes for part in datasets)) > _size(path):
                raise ValueError(f"weights of {stated:,} bytes, more than the file has")  # before memory is asked for
            theta, phi = ([part[()] for part in group] for group in groups)
            biases = file[_BIASES][()] if _BIASES in file else None
            if not all(np.issubdtype(part.dtype, np.floating) for part in datasets):
                raise TypeError("weights that are no numbers")
            if biases is not None:
                if [biases.shape[1:]] != [part.shape for part in theta[1:2]]:
                    raise ValueError(f"biases of labels of the shape {biases.shape}")
                theta = [biases, np.zeros_like(theta[1]), *theta[2:]]
            found = {name: int(file.attrs[name]) for name in attributes}
            found.update({name: int(file.attrs.get(name, value)) for name, value in optional.items()})
    except (OSError, KeyError, RuntimeError, AttributeError, TypeError, ValueError) as error:
        raise ValueError(f"Not a whole file of posterior samples ({reason_of(error)}). Received: {path}") from error
    return theta, phi, found


def _size(path):
    return pathlib.Path(path).stat().st_size


def _read_mean(folder):
    """(weights, count), or None where there is no readable mean: it can always be computed anew."""
    try:
        theta, phi, attributes = read_weights(folder / "mean.h5", "count")
    except ValueError:
        return None
    return [*theta, *phi], attributes["count"]


def _streamed_mean(folder):
    return _mean(read_sample(path) for path in sample_paths(folder))


def _mean(samples, mean=None, count=0):
    """The mean of samples, and of the `count` before them whose mean is given."""
    for sample in samples:
        count += 1
        weights = [np.asarray(w, np.float64) for w in (*sample.theta, *sample.phi)]
        mean = weights if mean is None else [m + (w - m) / count for m, w in zip(mean, weights)]
    return mean

"""Where a posterior comes from: the folder of a collector, or a model as it stands."""

from __future__ import annotations

import os
import pathlib
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tfdsmcmc.posterior import choice, merged, starts, store
from tfdsmcmc.posterior.averages import without_missing
from tfdsmcmc.posterior.ensemble import Posterior
from tfdsmcmc.posterior.samples import Samples, chain_of

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath
    from tfdsmcmc.training.fitting.learner import Learner


def load(path: FilePath | Sequence[FilePath]) -> Posterior:
    """Opens the samples that a `Collector` wrote, or those of several.

    Args:
      path: the collector's folder; a folder of `cluster.fit_chains`; or a list of such folders. Of several folders the
        chains are numbered one after the other, and all are one posterior.

    Returns:
      `Posterior`, averaged where nothing else is said to what the run's validation rows chose (`posterior.choice`),
      else to the mean of each chain's weights.

    Raises:
      ValueError: where there are no samples, a file is unreadable, truncated, or of another model than the first, or
        folders of chains that learnt from other rows, or by another method.

    Warns:
      RuntimeWarning: of chains that are not done yet, or have begun and have no sample.
    """
    several = isinstance(path, (list, tuple))
    for chain in [chain for each in (path if several else [path]) for chain in merged.without_samples(each)]:
        warnings.warn(f"A chain has no sample yet, and does not count: {chain}", RuntimeWarning, stacklevel=2)
    if several:
        return merged.merged([part for each in path for part in _parts(each)])
    parts = merged.folders_of(path)
    return merged.merged([_one(part) for part in parts]) if parts else _one(path)


def _parts(path):
    parts = merged.folders_of(path)
    return [_one(part) for part in parts] if parts else [_one(path)]


def _one(path):
    """The posterior of one collector's folder."""
    folder = pathlib.Path(path) if isinstance(path, (str, os.PathLike)) else None
    paths = store.sample_paths(folder) if folder is not None and folder.is_dir() else []
    if not paths:
        raise ValueError(f"A posterior is a folder with files sample_*.h5. Received: path={str(path)!r}")
    shapes, chains = None, []
    for file in paths:
        sample = store.read_sample(file)
        found = sample.shapes
        shapes = shapes or found
        if found != shapes:
            raise ValueError(f"The samples of a posterior must have the same shapes. Received: {file}")
        chains.append(chain_of(sample))
    begun = starts.read(folder)
    average = without_missing(choice.read(folder) or "weights", begun, chains)
    return Posterior(folder, Samples(paths, chains), average, begun)


def present(model: Learner) -> Posterior:
    """The present weights of a compiled model as a posterior: one sample of each chain, in memory.

    Of variational Bayes they are the means. Of a model given a label `present(model).label_probabilities(model, x)` are
    those of the labels.

    Args:
      model: a compiled `DeepGenerativeModel`.

    Returns:
      `Posterior`.

    Raises:
      ValueError: for a model that is not compiled.
    """
    if getattr(model, "run", None) is None:
        raise ValueError(f"The present weights of a run are of a compiled model. Received: {model!r}")
    return Posterior(None, store.present(model))

"""Loading a release by its name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, overload

from tfdsmcmc.boltzmann import RBM
from tfdsmcmc.model import DeepGenerativeModel
from tfdsmcmc.posterior import load as load_posterior
from tfdsmcmc.pretrained import cached, contents
from tfdsmcmc.pretrained.catalogue import release
from tfdsmcmc.pretrained.pretrained_posterior import PretrainedPosterior

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath

PosteriorName: TypeAlias = Literal["digits", "letters"]
MachineName: TypeAlias = Literal["rbm"]


@overload
def load(
    name: PosteriorName, source: FilePath | None = ..., cache: FilePath | None = ...
) -> PretrainedPosterior: ...
@overload
def load(name: MachineName, source: FilePath | None = ..., cache: FilePath | None = ...) -> RBM: ...
@overload
def load(name: str, source: FilePath | None = ..., cache: FilePath | None = ...) -> PretrainedPosterior | RBM: ...
def load(name: str, source: FilePath | None = None, cache: FilePath | None = None) -> PretrainedPosterior | RBM:
    """Loads a model that has learnt already.

    `card(name)` says what it is. Its file is verified by its SHA-256 before anything is unpacked, and kept in the
    cache, unpacked; later loads need no source.

    Args:
      name: see `names`.
      source: folder with the release's file, or the address of one; by default `$TFDSMCMC_PRETRAINED`.
      cache: folder for what is unpacked; by default `models/tfdsmcmc` in the Keras cache.

    Returns:
      `PretrainedPosterior`, what `posterior.load` returns with a `model` beside; of "rbm" an `RBM`, whose log Z is
      exact. Neither is compiled: `fit` needs `compile` first, all else does not.

    Raises:
      ValueError: for a name that is none; where no source is said; for a source without the file, or with one that is
        cut or another; and for a cache that cannot be written to, or whose files have changed.

    Example, of a folder that `python -m experiments.pretrained` has made:

        posterior = ds.pretrained.load("digits", source="dist/pretrained")
        posterior.log_likelihood(posterior.model, data.test).mean()
    """
    folder = cached.folder_of(release(name), source, cache)
    model = contents.read_model(folder)
    if not (folder / contents.POSTERIOR).exists():
        if isinstance(model, DeepGenerativeModel):
            raise ValueError(f"A release of a network has samples of its weights. Received: {folder}, without")
        return model
    if isinstance(model, RBM):
        raise ValueError(f"A release of a machine has one set of weights. Received: {folder}, with samples")
    return PretrainedPosterior.of(load_posterior(folder / contents.POSTERIOR), model)

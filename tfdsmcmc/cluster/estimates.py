"""Estimates of many rows over many components, in shards.

    log p̂(x) = log (1/C) Σ_c p̂_c(x)      component c, shard s: a task; then the sums, in the order of one machine

A task carries the names of its component's samples, and of no others. A shard is a run of whole batches, and a batch
has the seed that it has on one machine: the values are those of `posterior.log_likelihood` bit for bit, however many
workers there are; of "units_and_start" up to rounding, as one machine takes a start for so many equal draws there.
"""

from __future__ import annotations

import hashlib
import pathlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from tfdsmcmc import contract, files, random
from tfdsmcmc._common import checks
from tfdsmcmc._common.estimates import LogLikelihood
from tfdsmcmc.cluster import places, work
from tfdsmcmc.cluster.checking import checked_folder, reading
from tfdsmcmc.cluster.digest import digest_of
from tfdsmcmc.cluster.rows import opened
from tfdsmcmc.likelihood.importance import warn_of
from tfdsmcmc.posterior.ensemble import check_annealing
from tfdsmcmc.posterior.running_means import PredictiveAverage
from tfdsmcmc.rows import kept

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Average, FilePath
    from tfdsmcmc.posterior.ensemble import Posterior
    from tfdsmcmc.rows.from_users import RowsLike

_FIELDS = ("value", "standard_error", "effective_sample_size", "num_samples", "pareto_k")


def log_likelihood(
    posterior: Posterior | FilePath,
    make_model: Callable[[int], Any],
    rows: RowsLike | str,
    num_samples: int = 1000,
    seed: int = 0,
    batch_size: int = 100,
    average: Average | None = None,
    shard_rows: int = 1000,
    folder: FilePath | None = None,
    verbose: bool = False,
    timeout: float | None = None,
) -> LogLikelihood:
    """`posterior.log_likelihood` over shards of rows and components, by `joblib`.

    Args:
      posterior: a folder, whose samples workers read themselves, each those of its component; or a `Posterior`, of
        which samples in memory travel so.
      make_model: function of a seed; returns a model of the samples' architecture.
      rows: see `opened`; of a dataset's name the test rows.
      num_samples: K.
      seed: integer.
      batch_size: rows at a time.
      average: as of `posterior.log_likelihood`.
      shard_rows: rows of a task.
      folder: where results of tasks are kept, so that a further call does what is missing; None to keep none.
      verbose: whether a line says how many tasks are done.
      timeout: seconds within which some task must get done, see `fit_chains`.

    Raises:
      ValueError: for arguments out of range, a model of another architecture, or data that do not fit.
      TasksFailed: in the end, naming the tasks that failed and why; those that are done are in the folder, if any.
    """
    how = ("importance", {"num_samples": checks.positive_integer("num_samples", num_samples)})
    arguments = (posterior, make_model, rows, how, seed, batch_size, average, shard_rows, folder, verbose, timeout)
    return _estimated(*arguments)


def annealed_log_likelihood(
    posterior: Posterior | FilePath,
    make_model: Callable[[int], Any],
    rows: RowsLike | str,
    seed: int = 0,
    batch_size: int = 100,
    average: Average | None = None,
    shard_rows: int = 100,
    folder: FilePath | None = None,
    verbose: bool = False,
    timeout: float | None = None,
    **annealing: Any,
) -> LogLikelihood:
    """`posterior.annealed_log_likelihood` over shards of rows and components; arguments as of `log_likelihood`.

    Where the runs are tuned to the rows, with an adaptive schedule or step sizes of real latent layers, a task has all
    rows.

    Args:
      posterior: see `log_likelihood`.
      make_model: see `log_likelihood`.
      rows: see `log_likelihood`.
      seed: integer.
      batch_size: rows at a time.
      average: see `log_likelihood`.
      shard_rows: rows of a task.
      folder: see `log_likelihood`.
      verbose: see `log_likelihood`.
      timeout: see `log_likelihood`.
      **annealing: of `likelihood.annealed_importance_sampling`, as `posterior.annealed_log_likelihood` takes them.
    """
    how = ("annealed", dict(annealing))
    arguments = (posterior, make_model, rows, how, seed, batch_size, average, shard_rows, folder, verbose, timeout)
    return _estimated(*arguments)


def _estimated(posterior, make_model, rows, how, seed, batch_size, average, shard_rows, folder, verbose, timeout):
    batch_size, shard_rows = (
        checks.positive_integer(name, value) for name, value in (("batch_size", batch_size), ("shard_rows", shard_rows))
    )
    folder = None if folder is None else checked_folder(folder)
    call, (model, own, source) = places.called(make_model, posterior, rows, _source)
    if how[0] == "annealed":
        check_annealing(model, how[1])
    average = own.average if average is None else average
    own.components(model, average)  # which refuses what does not fit
    parts = own.parts(average)
    whole = how[0] == "annealed" and not _plain(model, how[1])
    limits = _shards(source.num_rows, batch_size, source.num_rows if whole else shard_rows)
    store = None if folder is None else _folder(folder, model, own, source, how, seed, batch_size, average, limits)
    call, shards = places.shards(call._replace(posterior=None), limits)
    numbered = list(zip(limits, shards, strict=True))
    tasks = [
        (f"component {c}, rows {first} to {last - 1}",
         (call, part, how, random.fold(seed, c).numpy(), batch_size, average, _file(store, c, first), shard))
        for c, part in enumerate(parts)
        for (first, last), shard in numbered
    ]  # fmt: skip
    try:
        found = work.run(_task, tasks, verbose, "tasks", timeout=timeout)
    finally:
        places.forget()
    mixed = PredictiveAverage()
    for c in range(len(parts)):
        estimate = LogLikelihood.joined(found[c * len(shards) : (c + 1) * len(shards)])
        if not c and how[0] == "importance":
            warn_of(estimate)
        mixed.add(estimate)
    return mixed.log_likelihood()


def _task(call, part, how, seed, batch_size, average, file, shard):
    """The estimates of a shard by one component, whose samples `part` has: those kept, or made and kept."""
    if file is not None and file.is_file():
        with reading(file, "delete it, and call again"), np.load(file, allow_pickle=False) as stored:
            return LogLikelihood(*(stored[name] if name in stored else None for name in _FIELDS), stored["shared"])
    (component,) = part.components(call.here().model)
    estimate = _importance if how[0] == "importance" else _annealed
    found = estimate(component.density, call.shard_here(shard), how[1], seed, batch_size)
    if file is not None:
        arrays = {name: field for name, field in zip(_FIELDS, found) if field is not None}
        with files.replacing(file) as temporary, open(temporary, "wb") as stream:
            np.savez(stream, shared=found.shared_standard_error, **arrays)
    return found


def _file(store, component, first):
    return None if store is None else pathlib.Path(store) / f"component_{component:04d}_rows_{first:08d}.npz"


def _source(model, rows):
    return kept(model.source_to_estimate(opened(rows, "test")))


def _importance(density, part, options, seed, batch_size):
    return density.log_likelihood(part, options["num_samples"], seed, batch_size, warn=False)


def _annealed(density, part, options, seed, batch_size):
    return density.annealed_log_likelihood(part, seed, batch_size=batch_size, **options)


def _plain(model, options):
    """Whether runs are the same whatever rows stand beside: a fixed schedule, and layers that are swept."""
    generative = getattr(model, "generative", None)
    binary = generative is not None and all(layer.binary for layer in generative.layers[:-1])
    return binary and options.get("schedule") != "adaptive"


def _shards(num_rows, batch_size, shard_rows):
    """[(first, last)], whole batches each; the last has as many rows as a batch at least, for its size tells theirs."""
    size = max(1, shard_rows // batch_size) * batch_size
    firsts = list(range(0, num_rows, size))
    if len(firsts) > 1 and num_rows - firsts[-1] < batch_size:
        firsts.pop()
    return list(zip(firsts, [*firsts[1:], num_rows]))


def _folder(folder, model, posterior, source, how, seed, batch_size, average, shards):
    """The folder of results that depend on all these."""
    digest = hashlib.blake2b(digest_size=8)
    for sample in (*posterior.samples, *(posterior.starts if average.endswith("start") else ())):
        digest.update(repr((sample.step, sample.chain)).encode())
        for part in (*sample.theta, *sample.phi):
            digest.update(np.ascontiguousarray(part))
    for weights in contract.frozen_weights(model):
        digest.update(np.ascontiguousarray(weights))
    config = model.get_config() if hasattr(model, "get_config") else None
    facts = (config, int(source.checksum), how, seed, batch_size, average, shards)
    digest.update(digest_of(facts).encode())
    own = pathlib.Path(folder) / digest.hexdigest()
    own.mkdir(parents=True, exist_ok=True)
    return str(own)

"""Export to SavedModel, with the signatures of `serving.saved_model.signatures`."""

from __future__ import annotations

import json
import math
import warnings
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from tfdsmcmc import contract
from tfdsmcmc._common import checks
from tfdsmcmc.serving.arrays import optional
from tfdsmcmc.serving.saved_model import serving_files
from tfdsmcmc.serving.saved_model.content import functions_of, manifest
from tfdsmcmc.serving.saved_model.signatures import names, signatures
from tfdsmcmc.serving.saved_model.writing import free_target, write_version

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Average, FilePath
    from tfdsmcmc.boltzmann.deep.dbn import DBN
    from tfdsmcmc.boltzmann.machines.rbm import RBM
    from tfdsmcmc.boltzmann.partition.estimates import LogPartition, PartitionLike
    from tfdsmcmc.contract import Model
    from tfdsmcmc.posterior.ensemble import Posterior


def export(
    model: Model,
    path: FilePath,
    version: int = 1,
    posterior: Posterior | None = None,
    overwrite: bool = False,
    ensemble: bool = False,
    data_shape: Sequence[int] | None = None,
    figures: Mapping[str, Any] | None = None,
    only: str | Collection[str] | None = None,
    sweeps: int | None = None,
    max_draws: int = 10_000_000,
    jit: bool = False,
    serving_config: bool = False,
    verbose: bool = True,
    average: Average | None = None,
    log_partition: PartitionLike | None = None,
) -> str:
    """Writes PATH/VERSION/saved_model.pb and its variables, ready for `tf.saved_model.load` and model servers.

    Args:
      model: `DeepGenerativeModel`, `RBM`, `DBN` or `MixtureOfBernoullis`.
      path: the served model's folder; its name is the model's, and its versions lie beside each other.
      version: positive integer.
      posterior: `Posterior` to export; by default the model's present weights.
      overwrite: whether to replace an existing version, and other serving files.
      ensemble: the same as average="draws".
      data_shape: of a row, such as (28, 28), for those who draw it; by default (D,).
      figures: dictionary of numbers and words for the manifest, such as the test log-likelihood.
      only: names of the signatures to export; by default all that the model can have (see
        `serving.saved_model.signatures`).
      sweeps: of the Markov chain behind each imputation. By default 10 of binary latent units over independent ones,
        which begin near where they end, and else 50. Of Boltzmann machines they are full Gibbs steps, behind each
        sample too, by default 1,000.
      max_draws: draws of the latents, or states of Gibbs chains, that a request may ask for; others are refused.
        Importance samples count 32 for a row at a time. Of up to 16 rows as many as 512 more are made: fewer than
        256 draws of one row take as long as 256, and count so row by row. A likelihood for which nothing is drawn
        takes any count.
      jit: whether to compile the parts with XLA, which a stock server refuses ("XLA compilation disabled") unless it is
        started with --xla_cpu_compilation_enabled=true. A seed gives the same answers as without, up to rounding.
      serving_config: whether to write warm-up records into the version and `models.config` and `batching.config` beside
        the versions (see `serving.saved_model.serving_files`); needs the package tensorflow-serving-api. A server with
        batching takes row-wise signatures alone: export `only` those for it.
      verbose: whether to print the size and the time of a call of each signature.
      average: what the posterior is averaged to, see `posterior.averages`; by default its own. "weights" exports the
        mean of each chain's weights, "draws" all samples, "units" the samples of each chain averaged unit by unit,
        "start" what a warm start found, and a name with "_and_start" both, in equal parts. Of several components
        likelihoods are averages, samples and imputations draw one. A likelihood by "draws" or "units" costs as many
        times as much as there are samples, and an imputation 256 draws for each component before its chains. Of
        Boltzmann machines imputations weigh the components alike.
      log_partition: of Boltzmann machines, `LogPartition` or log Z, or a function from a `Machine` to it, of each
        component of a posterior; by default exact, where a layer has at most 25 units. It is stored with its error.

    Returns:
      The version's path, a string.

    Raises:
      ValueError: for an existing version without `overwrite`, a posterior of another architecture, chains of unequal
        numbers of draws with "units", an argument out of range, weights that are not finite, or where log Z is needed
        and not given; nothing is written then.
      ImportError: with `serving_config` and without tensorflow-serving-api.
      RuntimeError: where the graph holds what a server refuses, or the loaded model answers otherwise than the live
        one; the version is not put in place then.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds, tempfile
    >>> model = ds.DeepGenerativeModel(
    ...     generative=ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.SBN(4)]),
    ...     recognition=ds.RecognitionNetwork([ds.layers.SBN(2)]),
    ... )
    >>> path = ds.serving.export(model, tempfile.mkdtemp() + "/tiny", only=["sample"], verbose=False)
    >>> served = tf.saved_model.load(path)
    >>> served.signatures["sample"](num_samples=tf.constant(3), seed=tf.constant([0, 1]))["x"].shape
    TensorShape([3, 4])
    """
    flags = {"overwrite": overwrite, "ensemble": ensemble, "jit": jit, "serving_config": serving_config}
    for name, flag in flags.items():
        checks.boolean(name, flag)
    verbose = checks.verbose(verbose)
    average = _average_of(model, posterior, ensemble, average)
    version = checks.positive_integer("version", version)
    sweeps = None if sweeps is None else checks.positive_integer("sweeps", sweeps)
    max_draws = checks.positive_integer("max_draws", max_draws)
    if max_draws >= 2**63:
        raise ValueError(f"max_draws must fit 64 bits. Received: max_draws={max_draws}")
    shape, figures = _shape(data_shape, model.units), _figures(figures)
    functions = functions_of(model, posterior, average, sweeps, jit, log_partition)
    chosen = _chosen(only, names(functions))
    target = free_target(path, version, overwrite)
    name = target.parent.name
    if serving_config:
        optional("tensorflow_serving.apis.prediction_log_pb2")
        serving_files.configuration(target.parent, name, overwrite)
    served = signatures(functions, chosen, max_draws)
    settings = {"max_draws": max_draws}
    text = manifest(name, model, posterior, average, functions, served, settings, figures, shape)
    seconds = write_version(target, functions, served, text, jit, overwrite, serving_config)
    if verbose:
        size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
        print(f"{target}: {size / 1e6:.2f} MB")
        for name, duration in seconds.items():
            print(f"  {name:30} {1e3 * duration:9.1f} ms for two rows")
    return str(target)


def export_machines(
    model: RBM | DBN,
    path: FilePath,
    version: int = 1,
    log_partition: LogPartition | float | None = None,
    steps: int = 1000,
    **arguments: Any,
) -> str:
    """`export` of Boltzmann machines, with `steps` for `sweeps`: call that. Warns of it by a DeprecationWarning."""
    warnings.warn("Call serving.export: it takes every model.", DeprecationWarning, stacklevel=2)
    return export(model, path, version, sweeps=steps, log_partition=log_partition, **arguments)


def _average_of(model, posterior, ensemble, average):
    """The name of the average to export; None for the model's own weights."""
    contract.check_model(model)
    if posterior is None:
        if ensemble or average is not None:
            found = f"{ensemble!r} and {average!r}, posterior=None"
            raise ValueError(f"ensemble and average are of a posterior. Received: {found}")
        return None
    if not hasattr(posterior, "components") or not len(posterior.samples):
        raise ValueError(f"Export takes a Posterior of at least one sample. Received: posterior={posterior!r}")
    if ensemble and average not in (None, "draws"):
        raise ValueError(f"An ensemble is the average over draws. Received: ensemble=True, average={average!r}")
    return "draws" if ensemble else posterior.average if average is None else average


def _shape(data_shape, units):
    """The shape of a row as a list of integers whose product is D."""
    try:
        shape = [units] if data_shape is None else [checks.positive_integer("data_shape", n) for n in data_shape]
    except (TypeError, ValueError):
        raise ValueError(f"data_shape is a sequence of positive integers. Received: {data_shape!r}") from None
    if math.prod(shape) != units:
        raise ValueError(f"data_shape must have {units} entries in all. Received: {data_shape!r}")
    return shape


def _figures(figures):
    """The figures as plain numbers and words, arrays as lists."""
    try:
        return json.loads(json.dumps(dict(figures or {}), default=lambda array: array.tolist(), allow_nan=False))
    except (AttributeError, TypeError, ValueError):
        raise ValueError(f"figures is a dictionary of numbers and words. Received: {figures!r}") from None


def _chosen(only, possible):
    """The names of the signatures to write, in their own order."""
    if only is None:
        return possible
    wanted = [only] if isinstance(only, str) else list(only) if isinstance(only, Collection) else []
    if not wanted or any(name not in possible for name in wanted):
        raise ValueError(f"only has names among {possible}. Received: {only!r}")
    return [name for name in possible if name in wanted]

"""The model behind an imputer, and samples of its weights along the way.

A run of `updates` minibatches is cut into epochs of equal length, whatever the number of rows. The M samples of the
weights are those at the ends of M epochs, spread evenly over the second half of the run (`posterior.last_part`).
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from tfdsmcmc import methods, models, random
from tfdsmcmc._common import checks
from tfdsmcmc.columns import Layout, Real
from tfdsmcmc.imputer import choices
from tfdsmcmc.layers import Mixed, MLPGaussian
from tfdsmcmc.model import DeepGenerativeModel
from tfdsmcmc.networks import GenerativeNetwork
from tfdsmcmc.posterior import Posterior, store
from tfdsmcmc.posterior.last_part import last_epochs
from tfdsmcmc.rows import ArraySource, Rows
from tfdsmcmc.training.steps.starts import fresh_weights

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Logs, Verbose
    from tfdsmcmc.columns import Kind
    from tfdsmcmc.posterior.store import Sample

_BLOCK = 100  # minibatches in one compiled call, at most


def build(
    rows: Rows,
    binary: bool,
    architecture: str,
    hidden_units: int | Sequence[int],
    seed: int,
    kinds: Sequence[Kind] | None = None,
) -> DeepGenerativeModel:
    """A model for rows, with initial weights that follow the seed.

    Args:
      rows: `Rows` of arrays (n, D).
      binary: whether they are of zeros and ones; otherwise the data layer is an `MLPGaussian`, or of a DARN a
        dependent `Mixed` one.
      architecture: as in `models.from_name`.
      hidden_units: of each layer that has an inner network.
      seed: integer.
      kinds: of the columns, where these differ: the data layer is a `Mixed` one then, linear in hidden units that are
        binary.
    """
    units, logits = rows.values.shape[1], _log_odds(rows) if binary else None
    model = models.from_name(architecture, units, hidden_units, logits, prior=choices.prior(), seed=seed)
    if not binary:
        dependent = choices.dependent_columns(architecture)
        if kinds is None and not dependent:
            data_layer = MLPGaussian(units, hidden_units=[hidden_units])
        else:
            inner = [hidden_units] if "VAE" in architecture else []
            data_layer = data_layer_of([Real()] * units if kinds is None else kinds, rows, inner, dependent)
        generative = GenerativeNetwork([*model.generative.layers[:-1], data_layer])
        model = DeepGenerativeModel(generative, model.recognition, prior=choices.prior(), seed=seed)
    for place, network in enumerate((model.generative, model.recognition)):
        start = fresh_weights(network, random.fold(random.stream(seed, "first weights of an imputer"), place))
        for variable, value in zip(network.trainable_variables, start, strict=True):
            variable.assign(value)
    return model


def data_layer_of(
    kinds: Sequence[Kind], rows: Rows, hidden_units: Sequence[int], dependent: bool = False
) -> Mixed:  # fmt: skip
    """A data layer for columns of several kinds, which starts at about the law of each by itself.

    Args:
      kinds: list of `columns.Kind`.
      rows: `Rows` of arrays (n, D).
      hidden_units: widths of its inner network.
      dependent: whether columns depend on each other; those that are missing more often on those that are less often.
    """
    if dependent:
        kinds = [kind.of_same_scale() for kind in kinds]
    layout, x = Layout(kinds), rows.with_nan()
    bias, shared = [], []
    for group in layout.groups:
        columns = (x[:, entries] for entries in group.entries)
        own, common = zip(*(group.kind.fitted(values[~np.isnan(values[:, 0])]) for values in columns))
        bias.extend(own)
        shared.append(np.stack(common))
    return Mixed(
        kinds,
        hidden_units,
        dependent,
        np.argsort(np.isnan(x[:, layout.first_entries]).sum(0), kind="stable") if dependent else None,
        bias_initializer=keras.initializers.Constant(np.concatenate(bias)),
        shared_initializer=[keras.initializers.Constant(values) for values in shared],
    )


def compile_arguments(method: str, options: dict[str, Any]) -> dict[str, Any]:
    """The arguments of `DeepGenerativeModel.compile` for a method of the literature.

    Args:
      method: name of a function in `methods`.
      options: its arguments, a dict; copied, for an optimizer serves one model only.

    Raises:
      ValueError: for another name, or options that the method does not have.
    """
    if method not in methods.__all__:
        raise ValueError(f"method is one of {sorted(methods.__all__)}. Received: method={method!r}")
    function = getattr(methods, method)
    check_options(f"method_options of {method!r}", options, inspect.signature(function).parameters)
    return function(**copy.deepcopy(dict(options)))


def check_options(name: str, options: object, allowed: Iterable[str]) -> None:
    """Raises a ValueError unless `options` is a dict with keys among the allowed ones."""
    if not isinstance(options, dict):
        raise ValueError(f"{name} must be a dict or None. Received: {options!r}")
    unknown = sorted(set(map(str, options)) - set(allowed))
    if unknown:
        raise ValueError(f"{name} are among {sorted(allowed)}. Received: {unknown}")


def learn(
    model: DeepGenerativeModel,
    rows: Rows,
    updates: int,
    batch_size: int,
    posterior_samples: int,
    verbose: Verbose,
) -> Posterior | None:
    """Learns a compiled model from rows.

    Args:
      model: `DeepGenerativeModel`, compiled with `steps_per_execution` of `epoch_length`.
      rows: `Rows` of arrays (n, D).
      updates: minibatches, fewer by less than one an epoch; of a method that goes over all rows before it moves, whole
        passes, rounded up, and at least two a sample.
      batch_size: rows in each.
      posterior_samples: M; 0 for the last weights alone.
      verbose: as in Keras.

    Returns:
      `Posterior` of M samples in memory, or None where M = 0.
    """
    length = epoch_length(updates, posterior_samples)
    if model.run.step.needs_passes:
        length = None
        epochs = max(1, 2 * posterior_samples, -(-updates // -(-len(rows.values) // batch_size)))
    else:
        epochs = updates // length
    snapshots = Snapshots(last_epochs(epochs, posterior_samples))
    model.fit(
        ArraySource(rows),
        batch_size=batch_size,
        epochs=epochs,
        steps_per_epoch=length,
        callbacks=[snapshots],
        verbose=checks.verbose(verbose),
    )
    return posterior_of(*snapshots.samples) if posterior_samples else None


def posterior_of(*samples: Sample) -> Posterior:
    """A posterior of samples in memory, one chain after the other: what is cut evenly from them is of all chains, and
    chains over what is missing go from run to run as seldom as can be."""
    return Posterior(None, sorted(samples, key=lambda sample: (sample.chain, sample.step)), "draws")


def epoch_length(updates: int, posterior_samples: int) -> int:
    """Minibatches an epoch: few enough for M epochs in the second half of the run, and a hundred at most.

    Raises:
      ValueError: for counts out of range, or too few updates for the samples.
    """
    updates = checks.positive_integer("updates", updates)
    posterior_samples = checks.nonnegative_integer("posterior_samples", posterior_samples)
    length = updates // max(1, 2 * posterior_samples, -(-updates // _BLOCK))
    if length == 0:
        raise ValueError(f"posterior_samples must be at most half of updates={updates}. Received: {posterior_samples}")
    return length


class Snapshots(keras.callbacks.Callback):
    """Keeps the weights at the ends of chosen epochs in memory, of several chains those of each in turn.

    Args:
      epochs: their numbers, counted from 0.

    Attributes:
      samples: list of `posterior.store.Sample`.
    """

    def __init__(self, epochs: Iterable[int]):
        super().__init__()
        self.samples: list[Sample] = []
        self._epochs = set(epochs)

    def on_epoch_end(self, epoch: int, logs: Logs | None = None) -> None:
        if epoch in self._epochs:
            drawn = store.draw_of(self.model)
            self.samples.append(drawn[len(self.samples) % len(drawn)])


def _log_odds(rows):
    """The log-odds of the columns' means, one half added to the ones and to the zeros observed."""
    x = rows.with_nan()
    ones, known = np.nansum(x, 0), (~np.isnan(x)).sum(0)
    return np.log((ones + 0.5) / (known - ones + 0.5)).astype(np.float32)

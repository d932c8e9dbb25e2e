"""Models that learn and impute in place of others of the same kind, whose compiled programs are then shared.

Nearly all of the time of a fit of a small table goes into compiling. So a model that is only built and compiled, in
Keras' sense, hands its state to a twin that is kept here, of the same networks and methods, whatever their weights and
seeds; the twin learns, and hands the state back. What was compiled for the twin serves the next model of its kind.
"""

from __future__ import annotations

import collections
import contextlib
import json
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdsmcmc.model import DeepGenerativeModel

_MOST = 8  # twins that are kept, each with programs of some 100 MiB; the one that was used last goes last

_twins = collections.OrderedDict()  # by kind: (twin, lock)
_guard = threading.Lock()


@contextlib.contextmanager
def in_place_of(model: DeepGenerativeModel, run: bool = False) -> Iterator[DeepGenerativeModel]:
    """A twin of a model with its weights, for this thread alone; others of the same kind wait.

    Args:
      model: `DeepGenerativeModel`, compiled. It gets the twin's weights at the end.
      run: whether its run, with the optimizer of its recognition network, goes there and back too.

    Yields:
      The twin; the model itself where it cannot be made again from its configuration.
    """
    kind = _kind(model)
    twin, lock = (None, None) if kind is None else _twin_of(kind, model)
    if twin is None:
        yield model
        return
    with lock:
        _hand_over(model, twin, run)
        yield twin
        _hand_over(twin, model, run)


def clear() -> None:
    """Lets all twins go."""
    with _guard:
        _twins.clear()


def _twin_of(kind, model):
    with _guard:
        if kind not in _twins:
            try:
                twin = type(model).from_config(model.get_config())
                twin.compile_from_config(model.get_compile_config())
            except (TypeError, ValueError, NotImplementedError):  # of parts that Keras cannot find again
                return None, None
            _twins[kind] = twin, threading.Lock()
        _twins.move_to_end(kind)
        while len(_twins) > _MOST:
            _twins.popitem(last=False)
        return _twins[kind]


def _kind(model):
    """What a model's programs depend on, as text; None where it cannot be told."""
    try:
        return json.dumps([_plain(model.get_config()), _plain(model.get_compile_config())], sort_keys=True)
    except (TypeError, ValueError, NotImplementedError):
        return None


def _plain(config):
    """A configuration without names, seeds and what weights begin at."""
    if isinstance(config, dict):
        kept = {key: value for key, value in config.items() if key not in ("name", "seed")}
        return {key: _plain(value) for key, value in kept.items() if not str(key).endswith("initializer")}
    return [_plain(value) for value in config] if isinstance(config, (list, tuple)) else config


def _hand_over(source, target, run):
    """Weights, and the run with the optimizer, from one model to another of its kind."""
    for theirs, mine in zip(target.weights, source.weights, strict=True):
        theirs.assign(mine)
    if run:
        target.seed = source.seed
        target.run.take_over(source.run)
        for theirs, mine in zip(_optimizer(target), _optimizer(source), strict=True):
            theirs.assign(mine)


def _optimizer(model):
    return getattr(model.optimizer, "variables", [])

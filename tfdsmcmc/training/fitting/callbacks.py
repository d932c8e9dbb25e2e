"""Callbacks of Keras: those of users that do not suit a model, and the model's own beside them."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import keras

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Callbacks


def listed(callbacks: Callbacks | None) -> list[keras.callbacks.Callback]:
    """The callbacks that a user passes, as a list: one, several, a `keras.callbacks.CallbackList` or None."""
    if isinstance(callbacks, keras.callbacks.CallbackList):
        return list(callbacks.callbacks)
    if isinstance(callbacks, keras.callbacks.Callback):
        return [callbacks]
    try:
        found = [] if callbacks is None else list(callbacks)
    except TypeError:
        found = [callbacks]
    if not all(hasattr(callback, "set_model") and not isinstance(callback, type) for callback in found):
        raise ValueError(f"callbacks must be Keras callbacks, one or a list. Received: callbacks={callbacks!r}")
    return found


def check_callbacks(callbacks: Callbacks | None, weights: Iterable[keras.Variable]) -> None:
    """Raises a ValueError for callbacks that would end the process.

    Args:
      callbacks: what a user passes.
      weights: variables of the model.
    """
    images = [c for c in listed(callbacks) if isinstance(c, keras.callbacks.TensorBoard) and c.write_images]
    empty = [variable.path for variable in weights if 0 in variable.shape]
    if empty and any(callback.histogram_freq for callback in images):
        raise ValueError(
            "TensorBoard ends the process at an image of a weight without entries, as a layer without parents has: "
            f"give it write_images=False. Received: write_images=True, empty weights {empty}"
        )


class ValidationEpochs(keras.callbacks.Callback):
    """Has the `History` of a fit say at which epochs it validates; Keras notes the values alone.

    Args:
      validation_freq: as of `fit`.
    """

    def __init__(self, validation_freq: int | Sequence[int]):
        super().__init__()
        self.validation_freq: int | Sequence[int] = validation_freq

    def on_train_begin(self, logs: Any = None) -> None:
        history = getattr(self.model, "history", None)
        if isinstance(history, keras.callbacks.History):
            history.params = {**(history.params or {}), "validation_freq": self.validation_freq}


@contextlib.contextmanager
def between(
    model: keras.Model,
    callbacks: Callbacks | None,
    before: Sequence[keras.callbacks.Callback],
    after: Sequence[keras.callbacks.Callback],
) -> Iterator[keras.callbacks.CallbackList | list[keras.callbacks.Callback]]:
    """The callbacks of a user between those of a model, for one fit.

    Args:
      model: which the model's own are told of where the user's are a `CallbackList`, whose callbacks know it already.
      callbacks: what a user passes; a list of Keras' is the user's again in the end.
      before: list of callbacks that see each event first.
      after: list of those that see it last.
    """
    if not isinstance(callbacks, keras.callbacks.CallbackList):
        yield [*before, *listed(callbacks), *after]
        return
    for callback in (*before, *after):
        callback.set_model(model)
    callbacks.callbacks[:] = [*before, *callbacks.callbacks, *after]
    try:
        yield callbacks
    finally:
        own = [*before, *after]
        callbacks.callbacks[:] = [callback for callback in callbacks.callbacks if callback not in own]

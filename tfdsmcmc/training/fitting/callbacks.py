"""Callbacks of Keras that do not suit a model, found before anything is learnt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import keras

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Callbacks


def listed(callbacks: Callbacks | None) -> list[keras.callbacks.Callback]:
    """The callbacks that a user passes, as a list: one, several, a `keras.callbacks.CallbackList` or None."""
    if isinstance(callbacks, keras.callbacks.CallbackList):
        return list(callbacks.callbacks)
    return [callbacks] if isinstance(callbacks, keras.callbacks.Callback) else list(callbacks or [])


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

"""What is refused before a task is run, in words that name what was given."""

from __future__ import annotations

import inspect
import os
import pathlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import keras


def check_function(make_model: object) -> None:
    """Raises a ValueError for what is no function of a seed; a model is none, though Keras lets it be called."""
    fits = callable(make_model) and not isinstance(make_model, keras.Model)
    if fits:
        try:
            inspect.signature(make_model).bind(0)
        except TypeError:
            fits = False
        except ValueError:  # of what has no signature, as some functions in C
            pass
    if not fits:
        raise ValueError(f"make_model is a function of a seed. Received: make_model={make_model!r}")


def made(make_model: Callable[[int], Any], seed: int) -> Any:
    """The model of a seed; a ValueError where the function makes none."""
    check_function(make_model)
    model = make_model(seed)
    if not hasattr(model, "density"):
        raise ValueError(f"make_model returns a model. Received: {type(model).__name__}")
    return model


def check_folder(folder: object) -> None:
    """Raises a ValueError for what is no path of a folder, and where a file is in the way."""
    if not isinstance(folder, (str, os.PathLike)) or not str(folder) or "\0" in str(folder):
        raise ValueError(f"folder is a path. Received: folder={folder!r}")
    for path in (pathlib.Path(folder), *pathlib.Path(folder).parents):
        if path.is_file():
            raise ValueError(f"folder is a path of folders. Received: folder={str(folder)!r}, where {path} is a file")


@contextmanager
def reading(file: pathlib.Path) -> Iterator[None]:
    """Of a file whose content cannot be read a ValueError says which it is."""
    try:
        yield
    except Exception as error:  # damaged files fail in many ways
        reason = f"{type(error).__name__}: {error}"
        raise ValueError(f"A file is damaged ({reason}): delete it, and call again. Received: {file}") from None

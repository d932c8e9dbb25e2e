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


def checked_folder(folder: object) -> str:
    """The path of a folder that is there or can be made; a ValueError for others, as where a file is in the way."""
    path = os.fspath(folder) if isinstance(folder, (str, os.PathLike)) else None
    if not isinstance(path, str) or not path or "\0" in path:
        raise ValueError(f"folder is a path. Received: folder={folder!r}")
    try:
        in_the_way = [part for part in (pathlib.Path(path), *pathlib.Path(path).parents) if part.is_file()]
    except OSError as error:  # as of a name that is too long
        raise ValueError(f"folder is a path ({error.strerror}). Received: folder={path!r}") from None
    if in_the_way:
        raise ValueError(f"folder is a path of folders. Received: folder={path!r}, where {in_the_way[0]} is a file")
    return path


@contextmanager
def reading(file: pathlib.Path, remedy: str) -> Iterator[None]:
    """Of a file whose content is damaged a ValueError says which it is, and what is to be done.

    A file that cannot be read now, as over a network, may be whole: such errors are left as they are."""
    try:
        yield
    except (OSError, MemoryError):
        raise
    except Exception as error:  # damaged files fail in many ways
        raise ValueError(f"A file is damaged ({type(error).__name__}: {error}): {remedy}. Received: {file}") from None

"""Methods said once: a class has the signature, which a type checker reads, a function the words and the work."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

_F = TypeVar("_F", bound=Callable[..., Any])


def described_by(function: Callable[..., Any]) -> Callable[[_F], _F]:
    """A decorator that gives a method the docstring of the function that does its work."""

    def describe(method):
        method.__doc__ = function.__doc__
        return method

    return describe

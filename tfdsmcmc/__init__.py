"""Bayesian learning of deep generative models by doubly stochastic MCMC."""

import importlib
import sys
from typing import TYPE_CHECKING

__version__ = "0.1.0"


def _room(name):
    """A room of the package that nothing has imported so far."""
    if name.startswith("_"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from None


if not TYPE_CHECKING:  # so that a type checker finds what is no public name
    __getattr__ = _room


def _is_command_line():
    """Whether this is the start of `python -m tfdsmcmc`, whose commands import what they need."""
    words = sys.orig_argv
    return sys.argv[:1] == ["-m"] and "-m" in words and words[words.index("-m") + 1 :][:1] == [__name__]


if not _is_command_line():
    from tfdsmcmc.public import *  # noqa: F403
    from tfdsmcmc.public import __all__  # noqa: F401

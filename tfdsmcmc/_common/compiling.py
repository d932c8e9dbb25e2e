"""Functions of tensors as one program each, and what tells a computation, while it is traced, whether XLA compiles it.

What XLA makes fast may be slow where TensorFlow runs operation after operation, and the other way round. Nothing public
of TensorFlow tells which of the two will be.
"""

from __future__ import annotations

import contextlib
import contextvars
import functools
from collections.abc import Callable
from typing import Any

import tensorflow as tf

_xla = contextvars.ContextVar("xla", default=None)  # None where users trace themselves


def program(function: Callable[..., Any], jit_compile: bool) -> Callable[..., Any]:
    """The program of a function.

    Args:
      function: takes tensors, and structures of them.
      jit_compile: whether XLA compiles the program, which `by_xla` and `by_operations` tell while it is traced.
    """
    return tf.function(telling(function, jit_compile), jit_compile=jit_compile, autograph=False)


def telling(function: Callable[..., Any], jit_compile: bool) -> Callable[..., Any]:
    """A function whose computations are told how they will run, for a trace of one's own; arguments of `program`."""

    @functools.wraps(function)  # TensorFlow knows it by the function's signature, and counts how often that is traced
    def traced(*arguments, **named):
        before = _xla.set(jit_compile or bool(_xla.get()))
        try:
            return function(*arguments, **named)
        finally:
            _xla.reset(before)

    return traced


def by_xla() -> bool:
    """Whether what is traced now is within a `program` that XLA compiles.

    False within what users compile themselves, and where a gradient is traced after the program, by a tape outside. A
    trace within another program is kept with the answer that it had. So the answer may decide on speed alone.
    """
    return bool(_xla.get())


def by_operations() -> bool:
    """Whether what is traced now is within a `program` that XLA does not compile, or runs at once, without a trace.

    False where `by_xla` does not know either. The answer may decide on speed alone, too, and on what XLA cannot take: a
    program that users compile after all, within one of their own, may need shapes that this one does not have.
    """
    return tf.executing_eagerly() if _xla.get() is None else not _xla.get()


def apart() -> contextlib.AbstractContextManager[Any]:
    """Within it are operations whose shapes are known when they run alone, which XLA cannot take.

    Where TensorFlow looks for parts of a program that it might compile (`tf.config.optimizer.set_jit`), it leaves them.
    """
    return contextlib.nullcontext() if tf.executing_eagerly() else tf.xla.experimental.jit_scope(compile_ops=False)

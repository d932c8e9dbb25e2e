"""TensorFlow's start without its log, which is for whoever develops with it."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator


@contextlib.contextmanager
def quiet_start() -> Iterator[None]:
    """Keeps standard error from being seen, that of libraries in C too; where the block raises all of it is."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # looked at after the first lines have been written
    if sys.stderr is None:  # it was closed before the start
        yield
        return
    sys.stderr.flush()
    own = os.dup(2)
    with tempfile.TemporaryFile() as kept:
        os.dup2(kept.fileno(), 2)
        try:
            yield
        except BaseException:
            sys.stderr.flush()
            kept.seek(0)
            os.write(own, kept.read())
            raise
        finally:
            sys.stderr.flush()
            os.dup2(own, 2)
            os.close(own)

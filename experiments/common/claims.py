"""Folders that one process has to itself, so that several share their work."""

import contextlib
import os


@contextlib.contextmanager
def claimed(folder):
    """Claims a folder for the block; a kill gives it back.

    Who claims it may find that the work was finished meanwhile: results are to be read after this, not before.

    Args:
      folder: `pathlib.Path`; made if missing.

    Yields:
      Whether this process has it: False where another process does. Where the system has no locks of files, True.
    """
    folder.mkdir(parents=True, exist_ok=True)
    try:
        import fcntl
    except ImportError:
        yield True
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True
    finally:
        os.close(descriptor)

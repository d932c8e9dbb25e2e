"""The file of a table's rows, results.jsonl, which several processes may write side by side: no row is made twice."""

import contextlib
import hashlib
import json
import os
import re

import tfdsmcmc as ds

# settings on which learning does not depend, but the figures of importance sampling do, or only those of annealing, or
# of annealing draws of the weights
OF_IMPORTANCE = ("refit_updates", "refit_learning_rate", "test_samples", "test_rows")
OF_ANNEALING = ("annealing_rows", "annealing_steps", "annealing_runs", "drawn_rows")
OF_DRAWS = ("annealing_draws",)


def key_of(method, architecture, settings):
    """A string that two rows share if and only if one stands for the other."""
    return json.dumps([method, architecture, settings], sort_keys=True)


def lines(path):
    """The rows in a file, a list of dicts; a line that was cut off is as if it were not there."""
    rows = []
    for line in path.read_bytes().splitlines() if path.exists() else []:
        with contextlib.suppress(ValueError):
            rows.append(json.loads(line))
    return [row for row in rows if isinstance(row, dict)]


def finished(path):
    """The rows in the file, a dict from their keys."""
    known = [row for row in lines(path) if {"method", "architecture", "settings"} <= set(row)]
    return {key_of(row["method"], row["architecture"], row["settings"]): row for row in known}


def append(path, row):
    """Adds a row to the file; it is on the disk when this returns."""
    with ds.files.locked(path.parent):
        cut_off = path.exists() and not path.read_bytes().endswith(b"\n")
        with open(path, "a") as file:
            file.write("\n" * cut_off + json.dumps(row) + "\n")
            file.flush()
            os.fsync(file.fileno())


def folder_of(output, method, architecture, settings):
    """The folder of what a row has learnt, which rows that only evaluate it in other ways share."""
    learning = [name for name in settings if name not in (*OF_IMPORTANCE, *OF_ANNEALING, *OF_DRAWS)]
    return output / "learnt" / name_of(method, architecture, {name: settings[name] for name in learning})


def name_of(method, architecture, settings):
    """A name for files, other for other settings."""
    return re.sub("[^A-Za-z0-9]+", "-", f"{method} {architecture}-") + digest_of(key_of(method, architecture, settings))


def digest_of(text):
    """Some letters and digits, other for another text."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]


@contextlib.contextmanager
def claimed(folder):
    """Claims a folder for the block; a kill gives it back.

    Who claims it may find that the row was finished meanwhile: the file is to be read after this, not before.

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

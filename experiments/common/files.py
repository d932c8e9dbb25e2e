"""Files of results: each is there whole or not at all, and a line that is added is on the disk."""

import contextlib
import json
import os

import numpy as np

import tfdsmcmc as ds


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def write_json(path, content, indent=None):
    ds.files.write_json(path, content, indent)


def write_arrays(path, arrays):
    """Writes a dict of arrays as .npz."""
    with ds.files.replacing(path) as temporary, open(temporary, "wb") as file:
        np.savez(file, **arrays)


def read_arrays(path):
    """The dict of arrays in an .npz."""
    with np.load(path) as arrays:
        return dict(arrays)


def write_text(path, text):
    """Writes a text, unless the file says that already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        with ds.files.replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")


def checked_record(path):
    """The path of a file that a command has made; ends the program where there is none."""
    if not path.is_file():
        raise SystemExit(f"--table needs a file that --record has made. Received: {path}")
    return path


def lines(path):
    """The dicts in a file of JSON lines; a line that was cut off is as if it were not there."""
    found = []
    for line in path.read_bytes().splitlines() if path.exists() else []:
        with contextlib.suppress(ValueError):
            found.append(json.loads(line))
    return [line for line in found if isinstance(line, dict)]


def append(path, line):
    """Adds a line to a file, which several processes may write; it is on the disk when this returns."""
    with ds.files.locked(path.parent):
        cut_off = path.exists() and not path.read_bytes().endswith(b"\n")
        with open(path, "a", encoding="utf-8") as file:
            file.write("\n" * cut_off + json.dumps(line) + "\n")
            file.flush()
            os.fsync(file.fileno())


def write_lines(path, content):
    """Writes a file of JSON lines anew, unless it says that already."""
    write_text(path, "".join(json.dumps(line) + "\n" for line in content))

"""Finished runs of a study: folders with result.json and rows.npz, and the file where they are on record."""

import numpy as np

from experiments.common import files


def leave(folder, result, rows):
    """Leaves a finished run: a dict of figures, and a dict of the test rows' log-likelihoods."""
    files.write_arrays(folder / "rows.npz", rows)
    files.write_json(folder / "result.json", result)  # the last: with it the run is finished


def finished(output):
    """What the runs in a folder have left: list of (dict of figures, dict of the test rows' log-likelihoods)."""
    return [
        ({"name": file.parent.name, **files.read_json(file)}, files.read_arrays(file.parent / "rows.npz"))
        for file in sorted(output.glob("*/result.json"))
    ]


def recorded(path):
    """The same of a file that `record` has written."""
    return [(line, {name: np.array(values) for name, values in line.pop("rows").items()}) for line in files.lines(path)]


def told(path):
    """The same, where a table is made of it: a misspelt name is no empty record."""
    return recorded(files.checked_record(path))


def record(path, runs):
    """Adds runs to a file, a line each, in place of those of the same names; log-likelihoods to two decimals.

    Args:
      path: the file; made where there is none.
      runs: list of pairs, as `finished` has them.
    """
    lines = {}
    for about, rows in [*recorded(path), *runs]:
        rounded = {name: np.round(np.asarray(values, np.float64), 2).tolist() for name, values in rows.items()}
        lines[about["name"]] = {**about, "rows": rounded}
    files.write_lines(path, lines.values())
    print(f"{len(lines)} runs in {path}, {len(runs)} of them new or written again")

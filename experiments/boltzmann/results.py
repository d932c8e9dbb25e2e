"""Results that are there already."""

from experiments.common import files


def measured_already(path, arguments):
    """Whether a file has the results of these arguments."""
    return any(arguments.items() <= line.get("arguments", {}).items() for line in files.lines(path))

"""The records of a folder: files of JSON lines that experiments leave."""

from typing import NamedTuple

from experiments.common import files, finished_runs
from experiments.common.published import PUBLISHED
from experiments.method_table import rows_file

_NEEDED = {  # what a line of each record has
    "results": {"method", "architecture", "settings", "dataset", "log_likelihood"},
    "budget": {"name", "architecture", "dataset", "budget", "temperature", "prior", "average", "rows"},
    "study": {"name", "architecture", "dataset", "setting", "seed", "rows"},
    "averages": {"name", "architecture", "dataset", "chains", "budget", "seed", "rows"},
    "one_hot": {"dataset", "form", "units", "seed", "updates", "parts", "value", "row_error", "error", "rows"},
    "printed": {"dataset", "experiment", "of", "measure", "value", "error", "published", "section"},
}


class Records(NamedTuple):
    """The records of a folder.

    Attributes:
      results: rows of `experiments.method_table`, list of dicts.
      budget: runs of `experiments.budget_study`, list of pairs, see `finished_runs.recorded`.
      study: the same of `experiments.sampler_study`.
      averages: the same of `experiments.budget_study.averages`.
      one_hot: runs of `experiments.one_hot`, list of dicts.
      printed: figures that commands printed and that were copied by hand, list of dicts.
    """

    results: list
    budget: list
    study: list
    averages: list
    one_hot: list
    printed: list

    def of(self, dataset):
        """The records of a data set, parts of its training rows included."""
        return Records(*([line for line in lines if dataset_of(line) == dataset] for lines in self))

    def datasets(self):
        """The names of the data sets that something was measured of, in the order of the alphabet."""
        return sorted({dataset_of(line) for lines in self for line in lines})


def dataset_of(line):
    """The data set of a line, a dict or a pair that begins with it; "NAME[:400]" is of NAME."""
    about = line if isinstance(line, dict) else line[0]
    return about["dataset"].split("[")[0]


def only_published(records):
    """The data sets of which there are published figures alone."""
    return [name for name in PUBLISHED if name not in records.datasets()]


def read(folder):
    """The `Records` of a folder; a file that is not there is an empty record.

    Raises:
      ValueError: for a folder without any, or a line that lacks what lines of its record have.
    """
    paths = {name: folder / f"{name}.jsonl" for name in _NEEDED}
    if not any(path.exists() for path in paths.values()):
        known = ", ".join(path.name for path in paths.values())
        raise ValueError(f"A folder of records has at least one of {known}. Received: {folder}, which has none")
    for name, path in paths.items():
        for line in files.lines(path):
            if not _NEEDED[name] <= set(line):
                lacking = sorted(_NEEDED[name] - set(line))
                raise ValueError(f"A line of {path.name} has {lacking} too. Received: a line without them")
    runs = [finished_runs.recorded(paths[name]) for name in ("budget", "study", "averages")]
    plain = [files.lines(paths[name]) for name in ("one_hot", "printed")]
    return Records(list(rows_file.finished(paths["results"]).values()), *runs, *plain)


def add(folder, paths):
    """Adds the rows in files of `experiments.method_table` to results.jsonl of a folder.

    Of rows with the same method, architecture and settings the one on record stays.

    Raises:
      ValueError: for a file that is not there, before anything is written.
    """
    record = folder / "results.jsonl"
    rows = rows_file.finished(record)
    before = len(rows)
    for path in paths:
        if not path.is_file():
            raise ValueError(f"A table leaves its rows in results.jsonl. Received: {path}, which is not there")
        for key, row in rows_file.finished(path).items():
            rows.setdefault(key, row)
    if len(rows) > before:
        files.write_lines(record, rows.values())

"""Six lines of the summary of the study, which stand in the README."""

from experiments.budget_study.table import summary
from experiments.common.markdown import table

HEAD = ("data", "model", "sampler", "`rws`", "sampler less `rws`")
PAIRS = (  # a large gain, usual ones, one that is level, and the one where the sampler is behind
    ("dna", "DARN/DARN 50"),
    ("binarized_mnist", "DARN/DARN 50"),
    ("digits", "DARN/DARN 50"),
    ("ocr_letters", "SBN/SBN 100-50"),
    ("digits", "SBN/SBN 100-50"),
    ("caltech101_silhouettes_28[:400]", "SBN/SBN 100-50"),
)


def glance(runs):
    """The lines of `PAIRS`, those that are there, without the budget; arguments as of `tables`."""
    cells = [line.strip("| ").split(" | ") for line in summary(runs).splitlines()]
    found = {(data, model): (data, model, *figures) for data, model, _, *figures in filter(None, map(_whole, cells))}
    return "\n".join([*table(HEAD, [found[pair] for pair in PAIRS if pair in found]), ""])


def _whole(cells):
    """The cells of a line of the table, None for others."""
    return cells if len(cells) == len(HEAD) + 1 else None

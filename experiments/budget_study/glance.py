"""Six lines of the summary of the study, which stand in the README."""

from experiments.budget_study.table import summary_cells
from experiments.common.markdown import table

PAIRS = (  # a large gain, usual ones, one that is level, and the worst of all
    ("dna", "DARN/DARN 50"),
    ("binarized_mnist", "DARN/DARN 50"),
    ("digits", "DARN/DARN 50"),
    ("ocr_letters", "SBN/SBN 100-50"),
    ("caltech101_silhouettes_28", "SBN/SBN 100-50"),
    ("bbc[:400]", "SBN/SBN 100-50"),
)


def glance(runs):
    """The lines of `PAIRS`, those that are there; arguments as of `tables`."""
    head, lines = summary_cells(runs)
    found = {line[:2]: line for line in lines}
    return "\n".join([*table(head, [found[pair] for pair in PAIRS if pair in found]), ""])

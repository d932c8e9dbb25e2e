"""The page of data sets of which there are published figures alone."""

from experiments.method_table.report.published import lines_of
from experiments.report.titles import title_of


def page(datasets):
    """The lines of the page."""
    lines = ["# Published figures alone", "", "Nothing of these data sets is on record here; others have figures.", ""]
    for name in datasets:
        lines += [f"## {title_of(name)}", "", *lines_of(name), ""]
    return lines[:-1]

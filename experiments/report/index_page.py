"""The summary: headline figures beside published ones, and a list of the pages."""

from experiments.common.markdown import table
from experiments.method_table.report.tables import HIGHEST, highest_cells
from experiments.method_table.report.text import architecture_of
from experiments.method_table.report.worth import exceeds, highest, worth
from experiments.report import equal_time, summary
from experiments.report.records import dataset_of, only_published
from experiments.report.titles import short_title, title_of

_NOTE = (
    "The highest figure of each kind of network for which a figure is published. Errors are standard errors, over test "
    "rows and of the estimate together. Bold exceeds the best published figure of the same network by more than its "
    "error; lower bounds are such figures too."
)
_STUDY = (
    "The sampler has its defaults, and as many updates as fit the optimizer's processor time: it took 0.4 to 2 times "
    "of it. Ahead and behind are by more than two standard errors over test rows. These do not say how runs differ. "
    "The [study](../study.md) has the figures."
)
_AHEAD = "Each point is a data set and a model; bars are standard errors over the test rows."


def page(records):
    """The lines of the page, of `Records`: what is won and what is not stands first."""
    rows, found = headline(records.results), equal_time.comparisons(records.budget)
    lines = [*(summary.equal_time(found) if found else []), *(summary.published(rows) if rows else [])]
    if rows:
        cells = [[short_title(dataset_of(row)), architecture_of(row), *highest_cells(row)] for row in rows]
        lines += ["## Headline figures", "", _NOTE, "", *table(("data", *HIGHEST), cells), ""]
    if found:
        lines += ["## In equal time beside an optimizer", "", _STUDY, "", *summary.counted(found), ""]
        lines += ["![The sampler less the optimizer](equal_time.png)", "", _AHEAD, ""]
    listed = [_entry(name, records.of(name)) for name in records.datasets()]
    others = [("all_rows", "All rows of the records, with the commands that make them")]
    if only_published(records):
        others.append(("published", "Data sets of which others have figures and there are none here"))
    return [*lines, "## Pages", "", *listed, *(f"- [{what}]({name}.md)" for name, what in others)]


def headline(rows):
    """Of each data set and kind of network the row with the highest figure, where a figure is published beside it."""
    best = {}
    for name in sorted({row["dataset"] for row in rows}):
        for row in highest([row for row in rows if row["dataset"] == name]):
            key = name, architecture_of(row).split()[0]
            if exceeds(row) is not None and (key not in best or worth(row).value > worth(best[key]).value):
                best[key] = row
    return list(best.values())


def _entry(name, records):
    kinds = (
        (records.results, "published tables"),
        (records.budget, "equal time"),
        (records.study, "settings of the sampler"),
        (records.one_hot, "one-hot codes"),
        (records.printed, "other experiments"),
    )
    return f"- [{title_of(name)}]({name}.md): {', '.join(what for lines, what in kinds if lines)}"

"""The page of a data set: what was found, tables of figures, pictures, and what is published."""

from experiments.common.markdown import number, table
from experiments.common.published import PUBLISHED
from experiments.method_table.report import published, tables
from experiments.method_table.report.text import architecture_of
from experiments.method_table.report.worth import exceeds, highest
from experiments.report import equal_time
from experiments.report.titles import title_of

_ONE_HOT = ("learnt as", "parts of a row", "climb", "updates", "processor seconds", "nats a test row", "error", "rows")
_PRINTED = ("of", "figure is", "figure", "error", "published")
_LOOKS = (
    "*A line is a row, a point a look at its last weights on some test rows: with Gibbs sampling by short annealing, "
    "else by few importance samples, which understate.*"
)
_EQUAL_TIME = (
    "The sampler is `methods.dsgnht_nais()`, with as many updates as fit the processor time of the optimizer, "
    "`methods.rws()`, both with defaults alone. Errors are over the same test rows. How they were run is in the "
    "[study](../study.md)."
)
_SETTINGS = (
    "Means over the seeds, in equal processor time. Paired differences and what the settings are stand in the "
    "[appendix of the study](../study_appendix.md#the-sampler-beside-optimizers)."
)
_CODES = (
    "Rows are one-hot codes, learnt bit by bit as columns, or as groups that `rows.groups` finds. One seed each. The "
    "chain begins at the weights of the climb that were best on validation rows, or where the climb ended after so "
    "many updates."
)
_COPIED = "Commands printed these figures, whose records were not kept."


def page(dataset, records):
    """The lines of the page.

    Args:
      dataset: name.
      records: `Records` of this data set alone.
    """
    lines = [f"# {title_of(dataset)}", "", " ".join(lead(dataset, records)), ""]
    if records.results:
        lines += _reached(dataset, records.results)
    found = equal_time.comparisons(records.budget)
    if found:
        lines += ["## In equal time beside an optimizer", "", _EQUAL_TIME, "", *equal_time.beside(found), ""]
    if records.study:
        lines += ["## Settings of the sampler", "", _SETTINGS, "", *equal_time.settings(records.study), ""]
    if records.one_hot:
        lines += ["## One-hot codes", "", _CODES, "", *one_hot(records.one_hot), ""]
    if records.printed:
        lines += ["## Other experiments", "", _COPIED, "", *printed(records.printed)]
    if dataset in PUBLISHED:
        lines += ["## Published", "", *published.lines_of(dataset), ""]
    return [*lines, "All estimates and the commands of rows are on the [page of all rows](all_rows.md)."]


def lead(dataset, records):
    """Sentences of what was found."""
    compared = [row for row in highest(records.results) if exceeds(row) is not None]
    found = equal_time.comparisons(records.budget)
    said = []
    if compared:
        above = [architecture_of(row).split(",")[0] for row in compared if exceeds(row)]
        named = f": {_and(above)}" if above else ""
        what = "exceed the best published figure by more than their errors"
        said.append(f"Figures here {what} with {len(above)} of {len(compared)} architectures{named}.")
    if found:
        gains = "; ".join(f"{one.stated()} with {label}" for one, label in zip(found, equal_time.labels(found)))
        said.append(f"In equal time the sampler gains on the optimizer, in nats a test row: {gains}.")
    return said or [f"The figures on record of {title_of(dataset)} stand below."]


def one_hot(lines):
    """The table of runs of `experiments.one_hot`."""
    cells = [
        [
            *(one["form"], one["parts"], _climb(one), f"{one['updates']:,}", one["processor_seconds"]),
            *(number(one["value"]), number(one["row_error"]), one["rows"]),
        ]
        for one in sorted(lines, key=lambda one: (one["form"], one.get("climb") or 0))
    ]
    return table(_ONE_HOT, cells)


def _climb(line):
    """What ended the climb: validation rows, or a number of updates."""
    return f"{line['climb']:,} updates" if line.get("climb") else "by validation rows"


def printed(lines):
    """A table for each experiment of the figures that commands printed, and where its command stands."""
    experiments = {}
    for one in lines:
        figures = (tables.minus(one[name]) for name in ("value", "error", "published"))
        experiments.setdefault((one["experiment"], one["section"]), []).append([one["of"], one["measure"], *figures])
    found = []
    for (name, section), cells in experiments.items():
        found += [f"### {name[0].upper()}{name[1:]}", "", f"[How it was measured](archive.md#{section})", ""]
        found += [*table(_PRINTED, cells), ""]
    return found


def _reached(dataset, rows):
    lines = ["## Highest figures", "", tables.NOTE, "", *tables.highest_of(rows), ""]
    lines += [f"![Test log-likelihood of each architecture and method]({dataset}.png)", ""]
    lines += ["## Each method", "", *tables.each_method(rows), ""]
    lines += [f"![Test log-likelihood against minutes of learning]({dataset}_curves.png)", "", _LOOKS, ""]
    climbing = tables.climbing(rows)
    return [*lines, "## Still climbing", "", tables.NOTE_OF_CLIMBING, "", *climbing, ""] if climbing else lines


def _and(parts):
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))

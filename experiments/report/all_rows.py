"""The page of all rows: a line an estimate, of every record of log-likelihoods."""

from experiments.common.markdown import number, table
from experiments.common.paired import with_error
from experiments.method_table.report.estimates import NOTE
from experiments.method_table.report.tables import ESTIMATES, OF_ROW, estimate_lines, minus, notes_of
from experiments.method_table.settings import command_of
from experiments.sampler_study.settings import OPTIMIZERS

_HEAD = ("record", "row", *OF_ROW, *ESTIMATES)
_RECORDS = (
    ("results", "`python -m experiments.method_table`"),
    ("budget", "`python -m experiments.budget_study`"),
    ("averages", "`python -m experiments.budget_study.averages`"),
    ("study", "`python -m experiments.sampler_study`"),
    ("one_hot", "`python -m experiments.one_hot`"),
    ("printed", "figures that commands printed, copied by hand"),
)


def page(records):
    """The lines of the page, of `Records`."""
    kept = [f"- [{name}](../{name}.jsonl): {what}" for name, what in _RECORDS if getattr(records, name)]
    commands = [f"    {command_of(row)}  # row {place}" for place, row in enumerate(records.results, 1)]
    of_results = ["", "## The commands of results", "", *commands] if commands else []
    return [
        "# All rows of the records",
        "",
        "A line is an estimate, in nats a row unless it says otherwise. The commands need a checkout of "
        "the source. A row is a line of the record that it names:",
        "",
        *kept,
        "",
        NOTE,
        *notes_of(records.results),
        "",
        *table(_HEAD, lines(records)),
        *of_results,
    ]


def lines(records):
    """The cells of all lines."""
    found = []
    for name, _ in _RECORDS:
        for place, row in enumerate(getattr(records, name), 1):
            found += [[name, place, *cells] for cells in _LINES[name](row)]
    return found


def _of_run(run):
    """A line for each kind of estimate of a run with the log-likelihoods of its test rows."""
    about, rows = run
    own = f"`{about.get('setting', 'sampler')}`", about.get("updates_made", about.get("updates"))
    own_seconds = about.get("seconds_again", about.get("processor_seconds", about.get("seconds")))
    for name, values in rows.items():
        (method, updates), seconds, what = own, own_seconds, name
        if name == "rws":  # the optimizer beside the sampler
            method, updates, seconds = "`rws`", about.get("rws_updates"), about.get("rws_seconds")
        if name == "rws" or (name == "last" and about.get("setting") in OPTIMIZERS):
            what = "best on validation"
        value, error = with_error(values)
        spent = "" if updates is None else f"{updates:,}", "" if seconds is None else number(seconds / 60, 1)
        error = "" if error is None else number(error)
        figures = number(value), error, "", "", "", "", len(values), about.get("steps", "")
        what += _differs({**about, "scales": None} if name == "rws" else about)  # scales are of the sampler's prior
        yield [about["dataset"], about["architecture"], method, about["seed"], *spent, what, *figures]


def _differs(about):
    """What distinguishes runs of one architecture and seed."""
    differs = [f"{about['budget']:g} s"] if "budget" in about else []
    if about.get("prior", "flat") != "flat":
        differs.append(f"{about['prior']} prior of `rws`")
    if about.get("temperature", 1.0) != 1.0:
        differs.append(f"temperature {about['temperature']:g}")
    if about.get("scales"):
        differs.append(f"a scale for each {about['scales']}")
    if about.get("annealing_steps"):
        differs.append(f"annealed in {about['annealing_steps']} steps")
    return "".join(f", {text}" for text in differs)


def _of_one_hot(row):
    about = [row["dataset"], f"DARN {row['units']}", f"`{row['form']}`", row["seed"], f"{row['updates']:,}"]
    figures = number(row["value"]), number(row["row_error"]), "", number(row["error"]), ""
    what = f"average by {row['average']}" + (f", climb of {row['climb']:,}" if row["climb"] else "")
    yield [*about, number(row["processor_seconds"] / 60, 1), what, *figures, f"{row['samples']:,}", row["rows"], ""]


def _of_printed(row):
    about = [row["dataset"], row["of"], row["experiment"], "", "", ""]
    yield [*about, row["measure"], minus(row["value"]), row["error"], *[""] * 6]


_LINES = {
    "results": estimate_lines,
    "budget": _of_run,
    "averages": _of_run,
    "study": _of_run,
    "one_hot": _of_one_hot,
    "printed": _of_printed,
}

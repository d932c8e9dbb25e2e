"""What sampling the weights wins and where it does not, in a few lines."""

from experiments.budget_study.verdict import VERDICTS, counts, verdict
from experiments.common.markdown import number, table
from experiments.method_table.report.text import architecture_of
from experiments.method_table.report.worth import exceeds
from experiments.report.records import dataset_of
from experiments.report.titles import short_title

_HEAD = ("the sampler is", "data", "model", "budget, s", "sampler less optimizer", "error")
_MOST = 3  # of the gains that are named


def equal_time(found):
    """The lines of comparisons in equal time: how many are won, the largest gains, and all that are lost or level."""
    ordered = sorted(found, key=lambda one: -one.difference[0])
    of = {name: [one for one in ordered if one.verdict() == name] for name in VERDICTS}
    ahead, level, behind, unknown = (len(of[name]) for name in VERDICTS)
    rest = f" and not to be judged in {unknown}" if unknown else ""
    head = (
        f"In equal time sampling the weights is **ahead of an optimizer in {ahead} of {len(found)} comparisons**. "
        f"Each is of a data set, a model and a budget. It is level in {level} and behind in {behind}{rest}."
    )
    ahead, level, behind, _ = counts(verdict(*one.to_best) for one in found)
    head += f" Beside the best optimizer of any seed it is ahead in {ahead}, level in {level} and behind in {behind}."
    best = {(one.data, one.model): one for one in reversed(of["ahead"])}  # of a pair the budget of its largest gain
    most = [one for one in of["ahead"] if best[one.data, one.model] is one][:_MOST]
    shown = ("ahead, the most", most), ("behind", of["behind"][::-1]), ("level", of["level"])
    lines = [[what, *_cells(one)] for what, own in shown for one in own]
    return [head, "", *([*table(_HEAD, lines), ""] if lines else [])]


def published(rows):
    """The lines of headline rows beside the best published figures of their networks."""
    above = [row for row in rows if exceeds(row)]
    others = [row for row in rows if exceeds(row) is False]  # without an error over rows it is not judged
    below = "; ".join(f"{short_title(dataset_of(row))}, {architecture_of(row)}" for row in others)
    lead = (
        f"In {len(above)} of {len(rows)} kinds of network the highest figure here **exceeds the best published one** "
        "by more than its error."
    )
    return [lead, "", *([f"- **Not exceeded**: {below}.", ""] if below else [])]


def counted(found):
    """The table of how many comparisons are won: a line for each budget and model."""
    keys = sorted({(one.seconds, one.model) for one in found})
    own = [[one.verdict() for one in found if (one.seconds, one.model) == key] for key in keys]
    cells = [[f"{key[0]:g}", key[1], len(verdicts), *counts(verdicts)] for key, verdicts in zip(keys, own)]
    shown = VERDICTS if any(line[-1] for line in cells) else VERDICTS[:-1]
    return table(("budget, s", "model", "comparisons", *shown), [line[: 3 + len(shown)] for line in cells])


def _cells(one):
    """Of a comparison that is judged, which has an error."""
    rows, (difference, error) = one.first_rows(), one.difference
    data = short_title(one.dataset()) + (f", first {rows} rows" if rows else "")
    return data, one.model, f"{one.seconds:g}", number(difference, sign="+"), number(error)

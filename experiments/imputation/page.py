"""The tables of docs/imputation.md, from the lines of cells.

An imputer stands beside ours over the cells that both have; ranks are of the cells that all have, and means are given
where an imputer has all cells that ours has. Errors are of means of tables, the tables as a sample.
"""

import statistics

import numpy as np
import scipy.stats

from experiments.common.markdown import number, table
from experiments.imputation.amputation import MECHANISMS
from experiments.imputation.imputers import IMPUTERS, OWN, VARIANTS

# title, 1 where less is better, what others are beside ours
SCORES = {
    "log_loss": ("log-loss", 1, "difference"),
    "crps": ("CRPS", 1, "ratio"),
    "rmse": ("RMSE", 1, "ratio"),
    "accuracy": ("accuracy", -1, "difference"),
}
SPREAD = ("coverage_0.5", "width_0.5", "coverage_0.9", "width_0.9")
SKEWED = f"{OWN}, skewed"
PLACE = ("table", "mechanism", "rate", "seed")


def page(lines):
    """Markdown of all tables."""
    told_of_skew = _skewed(lines)
    lines = [line for line in lines if line["imputer"] not in VARIANTS]
    at_random = [line for line in lines if line["mechanism"] == "MAR"]
    of_each = {name: own for name in MECHANISMS if (own := [line for line in lines if line["mechanism"] == name])}
    parts = [_about(lines)]
    for mechanism, own in of_each.items():
        parts += [f"### Beside ours: {mechanism}", _beside(own), ahead(own)]
    if at_random:
        parts += ["### Intervals: MAR", _intervals(at_random), "### Each table: MAR", _tables(at_random)]
    parts += ["### Each mechanism and rate", _mechanisms(lines)]
    parts += ["### Ranks, and how many tables stand behind a figure"]
    parts += [part for mechanism, own in of_each.items() for part in (f"**{mechanism}**", _ranks(own))]
    parts += ["### Skewed columns told to be such", told_of_skew] if told_of_skew else []
    return "\n\n".join(part for part in parts if part) + "\n"


def _skewed(lines):
    """Each cell of ours that was told which columns are skewed, beside that of the defaults."""
    scores = [SCORES[name][0] for name in ("crps", "rmse")]
    header = [*PLACE, *(f"{score}: {what}" for score in scores for what in ("defaults", "told"))]
    found = {name: scores_of(lines, name) for name in ("crps", "rmse")}
    cells = sorted(set(found["crps"].get(SKEWED, ())) & set(found["crps"].get(OWN, ())))
    rows = [
        [*cell, *(number(found[score][who][cell], 3) for score in ("crps", "rmse") for who in (OWN, SKEWED))]
        for cell in cells
    ]
    return "\n".join(table(header, rows)) if rows else ""


def scores_of(lines, score):
    """Dict from imputers, in their order, to dicts from (table, mechanism, rate, seed) to the score."""
    found = {}
    for line in lines:
        if score in line:
            found.setdefault(line["imputer"], {})[tuple(line[name] for name in PLACE)] = line[score]
    return {name: found[name] for name in IMPUTERS if name in found}


def over_tables(values):
    """(mean, standard error) of a dict from cells to values: of the means of the tables, whatever their order.

    A mean half way between two printed figures would otherwise be printed as the order has it.
    """
    names = sorted({key[0] for key in values})
    means = [statistics.fmean(value for key, value in values.items() if key[0] == name) for name in names]
    return np.mean(means), np.std(means, ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan


def means(lines, score):
    """Dict from imputers that have all cells of ours to (mean, standard error) over these."""
    found = scores_of(lines, score)
    own = set(found.get(OWN, ()))
    there = {name: values for name, values in found.items() if own and own <= set(values)}
    return {name: over_tables({key: values[key] for key in own}) for name, values in there.items()}


def beside(lines, score):
    """Dict from imputers to (value, standard error, cells) of what they are beside ours.

    Ratios are geometric means, whose errors are those of logarithms.
    """
    found = scores_of(lines, score)
    kind, own = SCORES[score][2], found.get(OWN, {})
    beside_ours = {}
    for name, values in found.items():
        both = sorted(set(values) & set(own))
        if kind == "ratio":
            against = {key: np.log(values[key] / own[key]) for key in both if min(values[key], own[key]) > 0}
        else:
            against = {key: values[key] - own[key] for key in both}
        if against:
            mean, error = over_tables(against)
            beside_ours[name] = np.exp(mean) if kind == "ratio" else mean, error, len(against)
    return beside_ours


def ranks(lines, score):
    """(dict from imputers to their mean rank, the best 1, the count of cells that all have)."""
    found = scores_of(lines, score)
    keys = sorted(set.intersection(*map(set, found.values()))) if found else []
    values = SCORES[score][1] * np.array([[each[key] for key in keys] for each in found.values()])
    return (dict(zip(found, scipy.stats.rankdata(values, axis=0).mean(1))) if keys else {}), len(keys)


def ahead(lines):
    """A list: who is ahead of ours, score by score."""
    said = []
    for score, (title, sign, kind) in SCORES.items():
        surely, maybe, unknown = [], [], []
        for name, (value, error, _) in beside(lines, score).items():
            gain = -sign * (np.log(value) if kind == "ratio" else value)
            if name != OWN and gain > 0:
                (unknown if np.isnan(error) else surely if gain > 2 * error else maybe).append(name)
        said += [f"- {title}: ahead of ours by more than two errors: {'; '.join(surely)}."] if surely else []
        said += [f"- {title}: ahead of ours within two errors: {'; '.join(maybe)}."] if maybe else []
        said += [f"- {title}: ahead of ours on one table: {'; '.join(unknown)}."] if unknown else []
        said += [] if surely or maybe or unknown else [f"- {title}: none is ahead of ours."]
    return "\n".join(said)


def _about(lines):
    keys = {name: {line[name] for line in lines} for name in PLACE}
    head = ["", *(name for name in MECHANISMS if any(line["mechanism"] == name for line in lines))]
    own = [line for line in lines if line["imputer"] == OWN]
    rows = [
        ["tables", *(len({line["table"] for line in lines if line["mechanism"] == name}) for name in head[1:])],
        ["tables with ours", *(len({line["table"] for line in own if line["mechanism"] == name}) for name in head[1:])],
        ["cells", *(sum(line["mechanism"] == name for line in lines) for name in head[1:])],
    ]
    rates = ", ".join(f"{100 * rate:g} %" for rate in sorted(keys["rate"]))
    seeds = f"Seeds: {len(keys['seed'])}. Missing: {rates}."
    return f"{seeds} A cell is a table, a mechanism, a rate, a seed and an imputer.\n\n" + "\n".join(table(head, rows))


def _against(value, error, kind):
    said = number(value, 3, sign="+" if kind == "difference" else "")
    return f"{said} ± {number(error, 3)}" if np.isfinite(error) else said


def _named(lines):
    return [name for name in IMPUTERS if any(line["imputer"] == name for line in lines)]


def _beside(lines):
    head = [f"{title}: {'ratio to ours' if kind == 'ratio' else 'less ours'}" for title, _, kind in SCORES.values()]
    rows = []
    for name in (name for name in _named(lines) if name != OWN):
        found = {score: beside(lines, score).get(name) for score in SCORES}
        rows.append([name, *("" if one is None else _against(*one[:2], SCORES[s][2]) for s, one in found.items())])
    return "\n".join(table(["imputer", *head], rows))


def _ranks(lines):
    """Mean ranks over the cells that all have, and the cells of each that ours has too."""
    head, columns = [], []
    for score, (title, *_) in SCORES.items():
        places, count = ranks(lines, score)
        cells = {name: found[2] for name, found in beside(lines, score).items()}
        head += [f"{title}: mean rank in {count} cells", "cells beside ours"]
        columns += [{name: number(rank) for name, rank in places.items()}, cells]
    rows = [[name, *(column.get(name, "") for column in columns)] for name in _named(lines)]
    return "\n".join(table(["imputer", *head], rows))


def _intervals(lines):
    found = {score: means(lines, score) for score in SPREAD}
    head = ["imputer", "covered by 50 %", "width", "covered by 90 %", "width"]
    rows = [
        [name, *(f"{number(found[score][name][0], 3)} ± {number(found[score][name][1], 3)}" for score in SPREAD)]
        for name in found[SPREAD[0]]
    ]
    return "\n".join(table(head, rows)) if rows else ""


def _mechanisms(lines):
    """A column for each mechanism and rate, means over tables."""
    groups = sorted({(line["rate"], MECHANISMS.index(line["mechanism"])) for line in lines})
    parts = []
    for score, title in (("log_loss", "log-loss"), ("crps", "CRPS"), ("coverage_0.9", "covered by 90 %")):
        own = [[line for line in lines if (line["rate"], MECHANISMS.index(line["mechanism"])) == g] for g in groups]
        found = [means(each, score) for each in own]
        names = [name for name in IMPUTERS if any(name in each for each in found)]
        rows = [[name, *(number(each[name][0], 3) if name in each else "" for each in found)] for name in names]
        parts.append("\n".join(table([title, *(f"{MECHANISMS[m]} {100 * r:g} %" for r, m in groups)], rows)))
    return "\n\n".join(parts)


def _tables(lines):
    """A line for each table; the best in bold."""
    parts = []
    for score, (title, sign, _) in SCORES.items():
        names, rows = list(scores_of(lines, score)), []
        for each in sorted({line["table"] for line in lines if score in line}):
            found = means([line for line in lines if line["table"] == each], score)
            best = min((sign * mean for mean, _ in found.values()), default=None)
            cells = {name: number(mean, 3) for name, (mean, _) in found.items()}
            cells |= {name: f"**{cells[name]}**" for name, (mean, _) in found.items() if sign * mean == best}
            rows.append([each, *(cells.get(name, "") for name in names)])
        if rows:
            parts.append("\n".join(table([title, *names], rows)))
    return "\n\n".join(parts)

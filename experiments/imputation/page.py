"""The tables of docs/imputation.md, from the lines of cells."""

import numpy as np
import scipy.stats

from experiments.common.markdown import number, table
from experiments.imputation.amputation import MECHANISMS
from experiments.imputation.imputers import IMPUTERS, OWN, VARIANTS

# of lower is better: (title, sign, whether others stand as ratios to ours or as differences)
SCORES = {
    "log_loss": ("log-loss", 1, "difference"),
    "crps": ("CRPS", 1, "ratio"),
    "rmse": ("RMSE", 1, "ratio"),
    "accuracy": ("accuracy", -1, "difference"),
}
SPREAD = {
    "coverage_0.5": "covered by 50 %",
    "width_0.5": "width",
    "coverage_0.9": "covered by 90 %",
    "width_0.9": "width",
}


def page(lines):
    """Markdown of all tables."""
    lines = [line for line in lines if line["imputer"] not in VARIANTS]
    parts = [_about(lines)]
    for title, made in (("Over all cells", _overall), ("Intervals", _intervals), ("Each mechanism", _mechanisms)):
        parts.append(f"### {title}\n\n{made(lines)}")
    parts.append(f"### Each table\n\n{_tables(lines)}")
    return "\n\n".join(parts) + "\n"


def cells_of(lines, score):
    """(imputers, keys, values (imputers, cells)): the cells for which all imputers that have this score have it."""
    found = {}
    for line in lines:
        if score in line:
            key = tuple(line[name] for name in ("table", "mechanism", "rate", "seed"))
            found.setdefault(line["imputer"], {})[key] = line[score]
    imputers = [name for name in IMPUTERS if name in found]
    keys = sorted(set.intersection(*(set(found[name]) for name in imputers))) if imputers else []
    return imputers, keys, np.array([[found[name][key] for key in keys] for name in imputers])


def over_tables(values, keys):
    """(mean, standard error) of a value for each cell: of the means of the tables, the tables as a sample."""
    names = np.array([key[0] for key in keys])
    means = [np.mean(np.asarray(values)[names == name]) for name in sorted(set(names))]
    return np.mean(means), np.std(means, ddof=1) / np.sqrt(len(means)) if len(means) > 1 else np.nan


def beside(lines, score):
    """Dict from imputers to (mean rank, mean of what they are beside ours, its standard error), and the count of cells.

    Ours is left out of the last two; ratios are geometric means, whose errors are those of logarithms.
    """
    imputers, keys, values = cells_of(lines, score)
    _, sign, kind = SCORES[score]
    if not keys or OWN not in imputers:
        return {}, 0
    ranks, own = scipy.stats.rankdata(sign * values, axis=0), values[imputers.index(OWN)]
    found = {}
    for name, each, rank in zip(imputers, values, ranks):
        with np.errstate(divide="ignore", invalid="ignore"):
            against = np.log(each / own) if kind == "ratio" else each - own
        kept = np.isfinite(against)
        mean, error = over_tables(against[kept], [key for key, keep in zip(keys, kept) if keep])
        found[name] = rank.mean(), np.exp(mean) if kind == "ratio" else mean, error
    return found, len(keys)


def ahead(lines):
    """Sentences: who is ahead of ours, score by score."""
    said = []
    for score, (title, sign, kind) in SCORES.items():
        found, _ = beside(lines, score)
        better = []
        for name, (_, value, error) in found.items():
            gain = -sign * (np.log(value) if kind == "ratio" else value)
            if name != OWN and gain > 0:
                surely = "beyond" if gain > 2 * error else "within"
                better.append(f"{name} ({_against(value, error, kind)}, {surely} two standard errors)")
        said.append(f"- **{title}**: " + ("ahead of ours " + "; ".join(better) if better else "none is ahead of ours"))
    return "\n".join(said)


def _about(lines):
    keys = {name: {line[name] for line in lines} for name in ("table", "mechanism", "rate", "seed")}
    rates = ", ".join(f"{100 * rate:g}" for rate in sorted(keys["rate"]))
    count = len({tuple(line[name] for name in keys) for line in lines})
    return (
        f"{len(keys['table'])} tables, {len(keys['mechanism'])} mechanisms, rates {rates} %, "
        f"{len(keys['seed'])} seed(s): {count} tables with gaps."
    )


def _against(value, error, kind):
    return f"{number(value, 3, sign='+' if kind == 'difference' else '')} ± {number(error, 3)}"


def _overall(lines):
    found = {score: beside(lines, score) for score in SCORES}
    head = ["imputer"]
    for score, (title, _, kind) in SCORES.items():
        head += [f"{title}: rank ({found[score][1]} cells)", "ratio to ours" if kind == "ratio" else "less ours"]
    rows = []
    for name in (name for name in IMPUTERS if any(name in each for each, _ in found.values())):
        row = [f"**{name}**" if name == OWN else name]
        for score, (_, _, kind) in SCORES.items():
            if name not in found[score][0]:
                row += ["", ""]
                continue
            rank, value, error = found[score][0][name]
            row += [number(rank), "" if name == OWN else _against(value, error, kind)]
        rows.append(row)
    return "\n".join(table(head, rows)) + "\n\n" + ahead(lines)


def _intervals(lines):
    found = {score: cells_of(lines, score) for score in SPREAD}
    imputers = found["coverage_0.5"][0]
    rows = []
    for i, name in enumerate(imputers):
        means = [over_tables(values[i], keys) for _, keys, values in found.values()]
        rows.append([name, *(f"{number(mean, 3)} ± {number(error, 3)}" for mean, error in means)])
    return "\n".join(table(["imputer", *SPREAD.values()], rows))


def _mechanisms(lines):
    """A column for each mechanism and rate, means over tables."""
    groups = sorted({(line["rate"], MECHANISMS.index(line["mechanism"])) for line in lines})
    parts = []
    for score, title in (("log_loss", "Log-loss"), ("crps", "CRPS"), ("coverage_0.9", "Covered by 90 %")):
        rows = {}
        for rate, place in groups:
            own = [line for line in lines if (line["rate"], line["mechanism"]) == (rate, MECHANISMS[place])]
            imputers, keys, values = cells_of(own, score)
            for name, each in zip(imputers, values):
                mean = number(over_tables(each, keys)[0], 3) if keys else ""
                rows.setdefault(name, {})[rate, place] = mean
        head = [title, *(f"{MECHANISMS[place]} {100 * rate:g} %" for rate, place in groups)]
        ordered = [name for name in IMPUTERS if name in rows]
        parts.append("\n".join(table(head, [[name, *(rows[name].get(g, "") for g in groups)] for name in ordered])))
    return "\n\n".join(parts)


def _tables(lines):
    """A line for each table, means over its cells; the best in bold."""
    parts = []
    for score, (title, sign, _) in SCORES.items():
        imputers, keys, values = cells_of(lines, score)
        rows = []
        for name in sorted({key[0] for key in keys}):
            means = values[:, [key[0] == name for key in keys]].mean(1)
            best = (sign * means).min()
            rows.append(
                [name, *(f"**{number(m, 3)}**" if sign * m == best else number(m, 3) for m in means)],
            )
        parts.append("\n".join(table([title, *imputers], rows)))
    return "\n\n".join(parts)

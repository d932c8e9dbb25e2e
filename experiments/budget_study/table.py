"""The tables of the study, from its runs."""

from experiments.common.markdown import number, table
from experiments.common.paired import mean_and_error

HEAD = ("data", "budget, s", "seconds", "seeds", "chains", "rows", "average", "sampler", "`rws`", "sampler less `rws`")
AVERAGES = ("weights", "units", "draws", "start")
SUMMARY = ("data", "model", "budget, s", "sampler", "`rws`", "sampler less `rws`")
BESIDE = ("data", "budget, s", *AVERAGES, "units less weights", "draws less weights", "stacked less the chosen")


def tables(runs):
    """Two tables in Markdown for each architecture: the chosen average beside `rws`, and the averages beside another.

    Args:
      runs: list of pairs (dict of figures, dict of the test rows' log-likelihoods).
    """
    groups, lines = _grouped(runs), []
    for architecture in sorted({key[0] for key in groups}):
        own = {key[1:]: found for key, found in sorted(groups.items()) if key[0] == architecture}
        lines += [f"**{architecture}**", ""]
        lines += [*table(HEAD, []), *(_against(*key, found) for key, found in own.items()), ""]
        lines += [*table(BESIDE, []), *(_averages(*key, found) for key, found in own.items()), ""]
    return "\n".join(lines)


def summary(runs):
    """One short table in Markdown, a line for each data set, architecture and budget; arguments as of `tables`."""
    lines = table(SUMMARY, [])
    for (architecture, dataset, budget), found in sorted(_grouped(runs).items(), key=lambda item: item[0][1::-1]):
        sampler, best = _chosen_and_best(found)
        cells = dataset, architecture, f"{budget:g}", number(sampler.mean()), number(best.mean())
        lines.append(f"| {' | '.join(cells)} | {mean_and_error(sampler - best)} |")
    return "\n".join([*lines, ""])


def _grouped(runs):
    """Runs at temperature 1 by (architecture, data set, budget)."""
    groups = {}
    for about, rows in runs:
        if about["temperature"] == 1.0:
            groups.setdefault((about["architecture"], about["dataset"], about["budget"]), []).append((about, rows))
    return groups


def _chosen_and_best(found):
    """Test rows' log-likelihoods: the mean over seeds of the chosen average, and the best run of `rws` of any seed and
    prior."""
    best = max((rows["rws"] for _, rows in found), key=lambda rows: rows.mean())
    chosen = [rows[about["average"]] for about, rows in found if about["prior"] == "flat"]
    return sum(chosen) / len(chosen), best


def _against(dataset, budget, found):
    """The line of the chosen average: the best run of `rws`, of any seed and prior, against the mean over seeds."""
    mean, best = _chosen_and_best(found)
    own = [(about, rows) for about, rows in found if about["prior"] == "flat"]
    names = ", ".join(sorted({about["average"] for about, _ in own}))
    chains = ", ".join(sorted({str(about["chains"]) for about, _ in own}))
    seconds = round(sum(about["seconds"] for about, _ in own) / len(own))
    rows = f"{len(mean)} annealed" if own[0][0]["annealing_steps"] else len(mean)
    cells = dataset, f"{budget:g}", seconds, len(own), chains, rows, names, number(mean.mean()), number(best.mean())
    return f"| {' | '.join(map(str, cells))} | {mean_and_error(mean - best)} |"


def _averages(dataset, budget, found):
    own = [rows for about, rows in found if about["prior"] == "flat"]
    mean = {
        name: sum(rows[name] for rows in own) / len(own)
        for name in (*AVERAGES, "stacked")
        if all(name in rows for rows in own)
    }
    cells = [number(mean[name].mean()) if name in mean else "" for name in AVERAGES]
    for name in ("units", "draws"):
        cells.append(mean_and_error(mean[name] - mean["weights"]) if {name, "weights"} <= set(mean) else "")
    chosen = sum(rows[about["average"]] for about, rows in found if about["prior"] == "flat") / len(own)
    cells.append(mean_and_error(mean["stacked"] - chosen) if "stacked" in mean else "")
    return f"| {dataset} | {budget:g} | {' | '.join(cells)} |"

"""What the study's runs were and what each average is worth: tables of the appendix."""

from experiments.budget_study import cells
from experiments.budget_study.table import (
    budgets,
    chosen_and_best,
    estimate_of,
    grouped,
    of_budget,
    samplers,
    scales_of,
)
from experiments.common.markdown import number, table
from experiments.common.paired import mean_and_error

RUNS = ("data", "model", "seconds", "chains", "test rows", "estimate", "average chosen")
AVERAGES = ("weights", "units", "draws", "weights_and_start", "units_and_start", "start")
BESIDE = ("data", "model", *AVERAGES, "units less weights", "draws less weights")
SCALES = ("data", "model", "budget, s", "a scale for each unit", "a scale for each weight", "weight less unit")
STACKED = ("data", "model", "stacked less the chosen")


def details(runs):
    """For each budget the runs, every average, and the stacked ones where there are any; arguments as of `tables`."""
    groups, lines = grouped(runs), []
    by_scales = [line for line in map(_by_scales, sorted(groups.items())) if line is not None]
    if by_scales:
        lines += ["The sampler by what a scale of its prior is of:", "", *table(SCALES, by_scales), ""]
    for budget in budgets(groups):
        own = of_budget(groups, budget)
        stacked = [line for line in map(_stacked, own) if line is not None]
        lines += [f"**Budget: {budget:g} seconds.** The runs:", "", *table(RUNS, map(_run, own)), ""]
        lines += [f"The averages, {budget:g} seconds:", "", *table(BESIDE, map(_averages, own)), ""]
        if stacked:
            lines += [f"Stacking, {budget:g} seconds:", "", *table(STACKED, stacked), ""]
    return "\n".join(lines)


def _run(group):
    architecture, dataset, found = group
    own = [about for about, _ in samplers(found)]
    seconds = round(sum(cells.seconds_of(about) for about in own) / len(own))
    names, chains = (", ".join(sorted({str(about[part]) for about in own})) for part in ("average", "chains"))
    rows = len(chosen_and_best(found)[0])
    return dataset, architecture, seconds, chains, rows, estimate_of(own[0]), names


def _averages(group):
    architecture, dataset, found = group
    mean = _means([rows for _, rows in samplers(found)])
    figures = [number(mean[name].mean()) if name in mean else "" for name in AVERAGES]
    for name in ("units", "draws"):
        figures.append(mean_and_error(mean[name] - mean["weights"]) if {name, "weights"} <= set(mean) else "")
    return dataset, architecture, *figures


def _by_scales(item):
    """The line of a group whose seeds have learnt under both priors, None for others: the chosen averages."""
    (architecture, dataset, budget), found = item
    own = [(about, rows) for about, rows in found if about["prior"] == "flat"]
    chosen = {(scales_of(about), about["seed"]): rows[about["average"]] for about, rows in own}
    seeds = [seed for scales, seed in chosen if scales == cells.SCALES and ("unit", seed) in chosen]
    if not seeds:
        return None
    unit, weight = (sum(chosen[scales, seed] for seed in seeds) / len(seeds) for scales in ("unit", cells.SCALES))
    figures = number(unit.mean()), number(weight.mean()), mean_and_error(weight - unit)
    return dataset, architecture, f"{budget:g}", *figures


def _stacked(group):
    """The line of the stacked averages less the chosen ones, None for a group without runs that have them."""
    architecture, dataset, found = group
    gains = [rows["stacked"] - rows[about["average"]] for about, rows in found if "stacked" in rows]
    return (dataset, architecture, mean_and_error(sum(gains) / len(gains))) if gains else None


def _means(runs):
    """The means over the seeds of each average that all of them have."""
    shared = [name for name in AVERAGES if all(name in rows for rows in runs)]
    return {name: sum(rows[name] for rows in runs) / len(runs) for name in shared}

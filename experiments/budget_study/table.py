"""The tables of the study, from its runs: one for each budget, and one line for each pair of data and model."""

from experiments.budget_study import cells
from experiments.budget_study.verdict import counts, said, verdict
from experiments.common.markdown import number, table
from experiments.common.paired import mean_and_error, with_error

HEAD = ("data", "model", "seeds", "test rows", "estimate", "sampler", "`rws`", "sampler less `rws`", "less the best")
SUMMARY = ("data", "model")  # and a column for each budget


def tables(runs):
    """A table in Markdown for each budget: the chosen average beside `rws`.

    Args:
      runs: list of pairs (dict of figures, dict of the test rows' log-likelihoods).
    """
    groups = grouped(runs)
    return "\n".join(line for budget in budgets(groups) for line in _of_budget(groups, budget))


def summary(runs):
    """One table in Markdown, a line for each data set and model, a column for each budget; arguments as of `tables`."""
    head, lines = summary_cells(runs)
    return "\n".join([*table(head, lines), ""])


def summary_cells(runs):
    """The header and the lines of `summary`, as tuples of cells."""
    groups = grouped(runs)
    known = budgets(groups)
    head = *SUMMARY, *(f"sampler less `rws`, {budget:g} s" for budget in known)
    pairs = sorted({(dataset, architecture) for architecture, dataset, _ in groups})
    return head, [(*pair, *(_difference(groups.get((*pair[::-1], budget))) for budget in known)) for pair in pairs]


def grouped(runs):
    """Runs at temperature 1 by (architecture, data set, budget)."""
    groups = {}
    for about, rows in runs:
        if about["temperature"] == 1.0:
            groups.setdefault((about["architecture"], about["dataset"], about["budget"]), []).append((about, rows))
    return {key: _of_shared_rows(found) for key, found in groups.items()}


def _of_shared_rows(found):
    """The runs by the test rows that all of them have: the first ones, as all take them in one order."""
    kinds = {about["annealing_steps"] for about, _ in found}
    if len(kinds) > 1:
        names = [about["name"] for about, _ in found]
        raise ValueError(
            f"Runs of a pair are judged alike. Received: {sorted(kinds)} steps of annealing, 0 for none, of {names}"
        )
    count = min(len(part) for _, rows in found for part in rows.values())
    return [(about, {name: part[:count] for name, part in rows.items()}) for about, rows in found]


def budgets(groups):
    """The budgets of some groups, the shortest first."""
    return sorted({budget for _, _, budget in groups})


def of_budget(groups, budget):
    """The groups of one budget in the order of architecture and data set: list of (architecture, data set, runs)."""
    return [(*key[:2], found) for key, found in sorted(groups.items()) if key[2] == budget]


def chosen_and_best(found):
    """Test rows' log-likelihoods, means over seeds: of the chosen average, and of the best run of `rws` of any prior.

    Both of a seed had one processor. Other seeds may have had another, which makes more updates in the same time."""
    own = samplers(found)
    chosen = [rows[about["average"]] for about, rows in own]
    best = [_best(rows for about, rows in found if about["seed"] == sampler["seed"]) for sampler, _ in own]
    return sum(chosen) / len(own), sum(best) / len(own)


def best_of_any_seed(found):
    """Test rows' log-likelihoods by the best run of `rws`, which may have had a faster processor than most samplers."""
    return _best(rows for _, rows in found)


def _best(runs):
    return max((rows["rws"] for rows in runs), key=lambda rows: rows.mean())


def samplers(found):
    """The runs of a group whose sampler counts: those beside an optimizer without a prior, of the present default prior
    where there are any, and that have not learnt again."""
    own = [run for run in found if run[0]["prior"] == "flat"]
    own = [run for run in own if scales_of(run[0]) == cells.SCALES] or own
    names = {about.get("name") for about, _ in own}
    return [run for run in own if f"{run[0].get('name')}{cells.AGAIN}" not in names]


def scales_of(about):
    """What each scale of the sampler's prior is of: a "weight", or of earlier runs the weights that leave a "unit"."""
    return about.get("scales", "unit")


def estimate_of(about):
    """What the log-likelihoods of a run are estimated by."""
    return "annealing" if about["annealing_steps"] else "importance samples"


def _of_budget(groups, budget):
    """The lines of a budget: how long its runs took, on how many data sets the sampler is ahead, and a line a pair."""
    lines, verdicts, beside_best, times = [], {}, {}, {}
    for architecture, dataset, found in of_budget(groups, budget):
        sampler, best = chosen_and_best(found)
        own = samplers(found)
        times.setdefault(architecture, []).extend((cells.seconds_of(about), about["rws_seconds"]) for about, _ in own)
        to_best = sampler - best_of_any_seed(found)
        figures = *map(number, (sampler.mean(), best.mean())), *map(mean_and_error, (sampler - best, to_best))
        lines.append([dataset, architecture, len(own), len(sampler), estimate_of(own[0][0]), *figures])
        verdicts.setdefault(architecture, []).append(verdict(*with_error(sampler - best)))
        beside_best.setdefault(architecture, []).append(verdict(*with_error(to_best)))
    every = [pair for pairs in times.values() for pair in pairs]
    took = f"The runs took {min(every)[0]:.0f} to {max(every)[0]:.0f} seconds of processor time."
    ratios = [mine / other for mine, other in every]
    took += f" That is {min(ratios):.2f} to {max(ratios):.2f} times what the optimizer beside them took."
    found = [
        f"- {said(architecture, own)} {_took(times[architecture])} {_beside_best(beside_best[architecture])}"
        for architecture, own in verdicts.items()
    ]
    return [f"**Budget: {budget:g} seconds.** {took}", "", *found, "", *table(HEAD, lines), ""]


def _took(pairs):
    """A sentence of the seconds of all runs with a model, beside those of the optimizer."""
    mine, other = (sum(column) for column in zip(*pairs))
    return f"It took {mine / other:.2f} times as long."


def _beside_best(verdicts):
    """The same of the best optimizer of any seed, whatever its processor, in the place of that of each seed."""
    ahead, level, behind, _ = counts(verdicts)
    return f"Beside the best optimizer of any seed it is ahead on {ahead}, level on {level}, and behind on {behind}."


def _difference(found):
    """The sampler less `rws` of a group, ± its error; nothing for a group that is not there."""
    if found is None:
        return ""
    sampler, best = chosen_and_best(found)
    return mean_and_error(sampler - best)

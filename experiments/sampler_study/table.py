"""The tables of the study, from its runs."""

import numpy as np

from experiments.common.markdown import number, table
from experiments.common.paired import log_mean_exp, mean_and_error
from experiments.sampler_study.settings import OPTIMIZERS, SETTINGS

HEAD = (
    *("setting", "seeds", "minutes", "updates", "last", "chain 0", "all chains"),
    *("all chains less the best optimizer", "annealed", "annealed less the best optimizer"),
)


def tables(runs):
    """A table in Markdown for each data set and architecture: means over seeds, differences to an optimizer.

    Args:
      runs: list of pairs, as `finished_runs.finished` has them.

    Returns:
      Text.
    """
    found, lines = {}, []
    for result, rows in runs:
        key = result["dataset"], result["architecture"], result["updates"]
        if result["setting"] not in SETTINGS:
            raise ValueError(f"Settings are {', '.join(SETTINGS)}. Received: {result['setting']!r} of {result['name']}")
        chains, setting = result.get("chains"), result["setting"]
        if chains and setting not in OPTIMIZERS:
            setting += f", {chains} chain{'s' * (chains > 1)}"
        # samplers stand beside optimizers of either kind
        kinds = (result.get("equal_time", False),) if result["setting"] in OPTIMIZERS else (False, True)
        for equal_time in kinds:
            found.setdefault((*key, equal_time), {}).setdefault(setting, []).append((result, dict(rows)))
    for key, settings in sorted(found.items()):
        if not rivals(settings) and (key[3] or rivals(found.get((*key[:3], True), {}))):
            continue  # the other of the two tables says as much
        of_optimizers = ", optimizers in the sampler's time" if key[3] else ""
        of_rows = cut_to_common_rows(settings)
        lines += [f"**{key[0]}, {key[1]}**, {key[2]:,} updates{of_optimizers}, {of_rows}", ""]
        best, best_annealed = (best_optimizer(settings, part) for part in ("last", "annealed"))
        names = sorted(settings, key=lambda name: SETTINGS.index(name.split(",")[0]))
        cells = [line for name in names for line in _lines_of(name, settings[name], best, best_annealed)]
        lines += [*table(*without_empty_columns(HEAD, cells)), ""]
    return "\n".join(lines)


def without_empty_columns(head, lines):
    """A header and lines of cells, without the columns in which no line has anything."""
    kept = [place for place in range(len(head)) if any(line[place] != "" for line in lines)]
    return [head[place] for place in kept], [[line[place] for place in kept] for line in lines]


def _lines_of(name, runs, best, best_annealed):
    """The cells of a setting, and of its runs averaged where it is an optimizer of several seeds."""
    mean = {part: np.mean([rows[part].mean() for _, rows in runs]) for part in runs[0][1] if part != "annealed"}
    cells = [number(mean[part]) if part in mean else "" for part in ("last", "chain", "predictive")]
    against = [rows["predictive" if "predictive" in rows else "last"] for _, rows in runs if "last" in rows]
    minutes = np.mean([result.get("processor_seconds", result["seconds"]) for result, _ in runs]) / 60
    updates = np.mean([result["updates_made"] for result, _ in runs])
    cells.append("" if best is None or not against else mean_and_error(np.mean(against, 0) - best))
    annealed = [rows["annealed"] for _, rows in runs if "annealed" in rows]
    cells.append(number(np.mean(annealed)) if annealed else "")
    known = annealed and best_annealed is not None
    cells.append(mean_and_error(np.mean(annealed, 0) - best_annealed) if known else "")
    lines = [[f"`{name}`", len(runs), f"{minutes:.1f}", f"{updates:,.0f}", *cells]]
    if name in OPTIMIZERS and len(runs) > 1:
        together = log_mean_exp(np.stack([rows["last"] for _, rows in runs]))
        paired = mean_and_error(together - best)
        what = f"{len(runs)} of `{name}`, averaged"
        figures = number(together.mean()), paired
        lines.append([what, 1, f"{minutes * len(runs):.1f}", "", "", "", *figures, "", ""])
    return lines


def cut_to_common_rows(settings):
    """Leaves of each kind of estimate as many rows as all runs have, and says how many; test rows are in one order."""
    runs = [rows for found in settings.values() for _, rows in found]
    plain = [len(values) for rows in runs for name, values in rows.items() if name != "annealed"]
    annealed = [len(rows["annealed"]) for rows in runs if "annealed" in rows]
    for rows in runs:
        for name in rows:
            rows[name] = rows[name][: min(annealed if name == "annealed" else plain)]
    counts = [f"{min(plain):,} test rows"] if plain else []
    return ", ".join(counts + ([f"{min(annealed):,} annealed"] if annealed else []))


def rivals(settings):
    """The names of the optimizers among settings."""
    return [name for name in OPTIMIZERS if name in settings]


def best_optimizer(settings, part):
    """The rows' figures of the run of an optimizer that is best on the test rows, or None."""
    found = [rows[part] for name in rivals(settings) for _, rows in settings[name] if part in rows]
    return max(found, key=np.mean) if found else None

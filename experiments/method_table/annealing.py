"""What annealing says of a row of a table: of test rows, of the predictive average, and from both sides."""

import numpy as np

import tfdsmcmc as ds
from experiments.common.plain_figures import figures, plain
from experiments.method_table import methods


def drawn_rows(settings):
    """How many rows the model draws for the bound from above."""
    drawn = settings["drawn_rows"]
    return settings["annealing_rows"] if drawn is None else drawn


def annealed(model, method, settings, x, importance):
    """Annealing on some of the rows, and what it says of all of them.

        mean of the importance estimates of all rows + mean over the annealed rows of (annealed − importance estimate)

    The difference varies little from row to row, so that few rows tell it; `difference_error` is its standard error.
    """
    rows = x[: settings["annealing_rows"]]
    estimate = ds.likelihood.annealed_importance_sampling(model, rows, **options_of(model, method, settings))
    return _carried_over(estimate, importance)


def annealed_predictive(posterior, draws, model, method, settings, x, importance):
    """The same of the predictive average over some of the posterior samples, evenly spaced, and their number."""
    rows, size = x[: settings["annealing_rows"]], len(posterior.samples)
    posterior.samples = [posterior.samples[round((i + 0.5) * size / draws - 0.5)] for i in range(draws)]
    estimate = posterior.annealed_log_likelihood(model, rows, average="draws", **options_of(model, method, settings))
    return {**_carried_over(estimate, importance), "draws": draws}


def _carried_over(estimate, importance):
    """What annealing of the first rows says of all of them, beside importance sampling of all."""
    rows, of_all = len(estimate.value), importance.mean()
    differences, mean = estimate.value - importance.value[:rows], estimate.mean()
    deviation = np.std(differences, ddof=1) if rows > 1 else np.nan
    return plain(
        value=of_all + differences.mean(),
        standard_error=mean.standard_error,
        row_standard_error=of_all.row_standard_error,
        difference_error=deviation * np.sqrt((1 - rows / len(importance.value)) / rows),
        effective_sample_size=mean.effective_sample_size,
        rows=rows,
    )


def both_sides(model, method, settings, num_samples):
    """Bounds from below and from above on rows that the model draws, and importance sampling on the same rows."""
    arguments = options_of(model, method, settings)
    found = ds.likelihood.sandwich(model, drawn_rows(settings), **arguments)
    importance = model.log_likelihood(found.x, num_samples)
    error = importance.standard_error
    short = importance._replace(value=found.upper.value - importance.value, standard_error=error).mean()
    return {
        "lower": figures(found.lower),
        "upper": figures(found.upper),
        "importance": figures(importance),
        "gap": plain(value=found.gap, row_standard_error=found.gap.row_standard_error),
        "importance_gap": plain(value=short, row_standard_error=short.row_standard_error),
    }


def options_of(model, method, settings):
    """Annealing begins where φ says if it has learnt beside the weights, else at the prior."""
    untaught = methods.untaught(method, settings)
    continuous = not all(layer.binary for layer in model.generative.layers[:-1])
    return {
        "num_steps": settings["annealing_steps"],
        "num_runs": settings["annealing_runs"],
        "path": "prior" if untaught else "recognition",
        "transition": ds.likelihood.HMC() if continuous else None,
        "seed": settings["seed"],
    }

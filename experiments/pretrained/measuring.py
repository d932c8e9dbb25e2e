"""What is stated of a model: log-likelihoods of test rows, and bounds from both sides, each with its errors.

A figure is a dict: whose it is, of which rows and how many, by which estimate, on which side of the truth it is, its
value in nats, and its errors.
"""

import warnings

import tfdsmcmc as ds
from experiments.common import kept, plain_figures
from experiments.common.rows import random_rows

BELOW, ABOVE, EXACT = "below", "above", "exact"
POSTERIOR, MODEL = "posterior", "model"
TEST, SAME, DRAWN = "test", "random test", "drawn by the model"  # the second are the first of the first


def of_posterior(settings, posterior, model, data, folder):
    """The figures of samples of the weights, and of the model at the mean of those of the first chain, a list."""
    test = random_rows(data.test, settings.test_rows, settings.seed)
    few = test[: settings.annealed_rows]
    annealing = {"num_steps": settings.steps, "num_runs": settings.runs, "path": "recognition", "seed": settings.seed}

    def annealed():
        estimate = posterior.annealed_log_likelihood(model, few, **annealing)
        return [_figure(POSTERIOR, SAME, len(few), _annealing(settings), BELOW, estimate)]

    made = {
        "posterior": lambda: [_importance(settings, POSTERIOR, TEST, test, posterior, model)],
        "same": lambda: [_importance(settings, POSTERIOR, SAME, few, posterior, model)],
        "annealed": annealed,
        "model": lambda: [_importance(settings, MODEL, TEST, test, posterior, model)],
        "both_sides": lambda: _both_sides(settings, model, annealing),
    }
    with warnings.catch_warnings():  # effective samples are stated, and the bounds tell more
        warnings.simplefilter("ignore", UserWarning)
        return [figure for name, make in made.items() for figure in kept.content(folder / f"{name}.json", make)]


def _importance(settings, whose, rows, x, posterior, model):
    """The figure of importance sampling of some rows."""
    samples = settings.samples
    if whose == POSTERIOR:
        samples = max(1, samples * posterior.num_chains // len(posterior.components(model)))
        estimate = posterior.log_likelihood(model, x, samples, seed=settings.seed)
    else:
        estimate = model.log_likelihood(x, samples, seed=settings.seed)
    return _figure(whose, rows, len(x), f"importance sampling, K = {samples:,}", BELOW, estimate)


def _both_sides(settings, model, annealing):
    """The figures of rows that the model draws."""
    count, by = settings.annealed_rows, _annealing(settings)
    both = ds.likelihood.sandwich(model, num_rows=count, **annealing)
    return [
        _figure(MODEL, DRAWN, count, by, BELOW, both.lower),
        _figure(MODEL, DRAWN, count, f"reverse {by}", ABOVE, both.upper),
        _gap(MODEL, DRAWN, count, both.gap),
    ]


def _annealing(settings):
    return f"annealing, {settings.steps:,} steps, {settings.runs} runs"


def of_machine(settings, rbm, data, folder):
    """The figures of a Boltzmann machine, a list: log Z from both sides and by enumeration, log-likelihoods by each."""
    annealed = _annealing(settings)

    def figures():
        both = ds.boltzmann.sandwich(rbm, settings.runs, settings.steps, base=data.train, seed=settings.seed)
        exact = ds.boltzmann.exact_log_partition(rbm)
        found = [
            {"of": "log Z", "by": by, "side": side, **plain_figures.plain(value=value, standard_error=error)}
            for by, side, value, error in (
                (annealed, BELOW, both.lower.value, both.lower.standard_error),
                (f"reverse {annealed}", ABOVE, both.upper.value, both.upper.standard_error),
                ("enumeration", EXACT, exact, 0.0),
            )
        ]
        for by, side, partition in (
            ("log Z from above", BELOW, both.upper),  # the larger log Z is, the smaller is p(x)
            ("log Z from below", ABOVE, both.lower),
            ("log Z by enumeration", EXACT, None),
        ):
            estimate = rbm.log_likelihood(data.test, partition)
            found.append(_figure(MODEL, TEST, len(data.test), by, side, estimate))
        return found

    return kept.content(folder / "machine.json", figures)


def _figure(whose, rows, count, by, side, estimate):
    about = {"of": "log-likelihood", "whose": whose, "rows": rows, "count": count, "by": by, "side": side}
    return {**about, **plain_figures.figures(estimate)}


def _gap(whose, rows, count, gap):
    about = {"of": "gap", "whose": whose, "rows": rows, "count": count, "by": "above less below", "side": ""}
    return {**about, **plain_figures.plain(value=gap.value, row_standard_error=gap.row_standard_error)}

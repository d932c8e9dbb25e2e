"""What a row of a table is worth: estimates of the test log-likelihood, and how far they may be off.

Every estimate, and the weights after a fit, are kept in the row's folder as they come: an interrupted evaluation goes
on, and another of the same weights makes what differs.
"""

import math

import kept
import keras
import numpy as np
import table_file
import table_methods
from plain_figures import figures, plain
from table_look import look_of

import tfdsmcmc as ds

_REFIT_SAMPLES = 5


def evaluate(model, method, settings, data, folder):
    """Test log-likelihoods by importance sampling, and annealed ones that bound them from both sides.

    last          the last weights
    best          the weights that `table_budget.Looks` kept
    mean          the mean of the posterior samples, with φ fitted to it again
    predictive    log-mean-exp over the posterior samples, a tenth of the importance samples each

    A recognition network that did not learn is fitted to the last weights, to the best ones, then to the mean, and
    serves so for all posterior samples. The model has the weights of `best` or `mean` in the end, whichever are worth
    more by a look at validation data; these are the ones that are annealed. With `annealing_draws` the predictive
    average over so many of the samples, evenly spaced, is annealed too.

    Returns:
      dict of `log_likelihood`, a dict from these names to figures, `valid`, what a look at validation data says of
      `best` and of `mean`, `estimator`, `posterior_samples` of a sampler, with annealing `annealed` and `both_sides`,
      and with draws `annealed_predictive`.
    """
    x = data.test[np.random.default_rng(settings["seed"]).permutation(len(data.test))[: settings["test_rows"]]]
    own, samples = folder / _named(settings, table_file.OF_IMPORTANCE), settings["test_samples"]
    sampled, found = len(list((folder / "posterior").glob("sample_*.h5"))), {}

    def estimate(name, make=lambda: model.log_likelihood(x, samples)):
        found[name] = kept.estimate(own / f"{name}.npz", make)

    def take(name):
        """Gives the model weights by name, which are kept as they are once fitted."""
        kept.weights(model, own / f"{name}_weights.npz", makes[name])

    makes, valid = {}, {}
    if _phi_apart(method, settings):
        kept.weights(model, own / "last_weights.npz", lambda: refit(model, settings, data.train))
    estimate("last")
    if (folder / "best.npz").exists():
        makes["best"] = lambda: take_best(folder, model, method, settings, data.train)
    if sampled:
        posterior = ds.posterior.load(folder / "posterior")
        makes["mean"] = lambda: take_mean(posterior, model, method, settings, data.train)
    look = look_of(method, settings, data, ("valid",))
    for name in makes:
        take(name)
        estimate(name)
        valid[name] = kept.content(own / f"{name}_look.json", lambda: look(model))["valid"]
    if sampled:
        estimate("predictive", lambda: predictive(posterior, model, method, settings, x))
    of = max(valid, key=lambda name: -math.inf if valid[name] is None else valid[name], default="last")
    if of != "last":
        take(of)
    results = {
        "log_likelihood": {name: figures(value) for name, value in found.items()},
        "valid": valid,
        "estimator": {"name": "importance sampling", "num_samples": samples, "rows": len(x)},
    }
    if sampled:
        results["posterior_samples"] = sampled
    if settings["annealing_rows"] and model.recognition.layers:
        own = own / _named(settings, table_file.OF_ANNEALING)
        below = kept.content(own / f"annealed_{of}.json", lambda: annealed(model, method, settings, x, found[of]))
        results["annealed"] = {"of": of, **below}
        if _drawn_rows(settings):
            path = own / f"both_sides_{of}.json"
            results["both_sides"] = kept.content(path, lambda: both_sides(model, method, settings))
        draws = min(sampled, settings.get("annealing_draws", 0))
        if draws:
            arguments = posterior, draws, model, method, settings, x, found["predictive"]
            path = own / f"predictive_{draws}.json"
            results["annealed_predictive"] = kept.content(path, lambda: annealed_predictive(*arguments))
    return results


def _drawn_rows(settings):
    """How many rows the model draws for the bound from above."""
    drawn = settings["drawn_rows"]
    return settings["annealing_rows"] if drawn is None else drawn


def _named(settings, names):
    """The name of a folder for what depends on some of the settings."""
    return table_file.digest_of(str([settings[name] for name in names]))


def _phi_apart(method, settings):
    """Whether a Gibbs sampler's φ did not learn: the samples hold nothing of use of it."""
    return method in table_methods.GIBBS and table_methods.untaught(method, settings)


def take_best(folder, model, method, settings, train):
    """Gives the model the weights that were best on validation data; a φ that did not learn is fitted to them."""
    kept.read_weights(model, folder / "best.npz")
    if _phi_apart(method, settings):
        refit(model, settings, train)


def take_mean(posterior, model, method, settings, train):
    """Gives the model the mean of the posterior samples, with φ fitted to it."""
    phi = model.recognition.get_weights()
    posterior.apply_mean(model)
    if _phi_apart(method, settings):
        model.recognition.set_weights(phi)
    refit(model, settings, train)


def predictive(posterior, model, method, settings, x):
    """The predictive average; a φ that did not learn is that of the model for all samples."""
    if _phi_apart(method, settings):
        phi = [variable.numpy() for variable in model.recognition.trainable_variables]
        posterior.samples = [sample._replace(phi=phi) for sample in posterior.samples]
    return posterior.log_likelihood(model, x, max(1, settings["test_samples"] // 10), average="draws")


def refit(model, settings, x):
    """Fits φ at fixed θ: by reweighted wake updates, or of continuous z by the importance weighted bound."""
    if not model.recognition.layers:
        return
    updates, passes = settings["refit_updates"], -(-len(x) // settings["batch_size"])
    continuous = not all(layer.binary for layer in model.recognition.layers)
    teacher = ds.proposals.IWAE if continuous else ds.proposals.Wake
    model.refit_recognition(
        x,
        -(-updates // passes),
        batch_size=settings["batch_size"],
        latents=ds.latents.NAIS(_REFIT_SAMPLES),
        proposal=teacher(keras.optimizers.Adam(settings["refit_learning_rate"])),
    )


def annealed(model, method, settings, x, importance):
    """Annealing on some of the rows, and what it says of all of them.

        mean of the importance estimates of all rows + mean over the annealed rows of (annealed − importance estimate)

    The difference varies little from row to row, so that few rows tell it; `difference_error` is its standard error.
    """
    rows = x[: settings["annealing_rows"]]
    estimate = ds.likelihood.annealed_importance_sampling(model, rows, **_annealing(model, method, settings))
    return _carried_over(estimate, importance)


def annealed_predictive(posterior, draws, model, method, settings, x, importance):
    """The same of the predictive average over some of the posterior samples, evenly spaced, and their number."""
    rows, size = x[: settings["annealing_rows"]], len(posterior.samples)
    posterior.samples = [posterior.samples[round((i + 0.5) * size / draws - 0.5)] for i in range(draws)]
    estimate = posterior.annealed_log_likelihood(model, rows, average="draws", **_annealing(model, method, settings))
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


def both_sides(model, method, settings):
    """Bounds from below and from above on rows that the model draws, and importance sampling on the same rows."""
    arguments = _annealing(model, method, settings)
    found = ds.likelihood.sandwich(model, _drawn_rows(settings), **arguments)
    importance = model.log_likelihood(found.x, settings["test_samples"])
    error = importance.standard_error
    short = importance._replace(value=found.upper.value - importance.value, standard_error=error).mean()
    return {
        "lower": figures(found.lower),
        "upper": figures(found.upper),
        "importance": figures(importance),
        "gap": plain(value=found.gap, row_standard_error=found.gap.row_standard_error),
        "importance_gap": plain(value=short, row_standard_error=short.row_standard_error),
    }


def _annealing(model, method, settings):
    """Annealing begins where φ says if it has learnt beside the weights, else at the prior."""
    untaught = table_methods.untaught(method, settings)
    continuous = not all(layer.binary for layer in model.generative.layers[:-1])
    return {
        "num_steps": settings["annealing_steps"],
        "num_runs": settings["annealing_runs"],
        "path": "prior" if untaught else "recognition",
        "transition": ds.likelihood.HMC() if continuous else None,
        "seed": settings["seed"],
    }

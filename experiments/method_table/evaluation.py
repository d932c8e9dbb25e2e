"""What a row of a table is worth: estimates of the test log-likelihood, and how far they may be off.

Every estimate, and the weights after a fit, are kept in the row's folder as they come: an interrupted evaluation goes
on, and another of the same weights makes what differs.
"""

import math

import keras

import tfdsmcmc as ds
from experiments.common import kept
from experiments.common.plain_figures import figures
from experiments.common.rows import random_rows
from experiments.method_table import annealing, methods, rows_file
from experiments.method_table.look import look_of

_REFIT_SAMPLES = 5


def evaluate(model, method, settings, data, folder):
    """Test log-likelihoods by importance sampling, and annealed ones that bound them from both sides.

    last          the last weights
    best          the weights that `looks.Looks` kept
    mean          the mean of the posterior samples, with φ fitted to it again
    predictive    log-mean-exp over the posterior samples, a tenth of the importance samples each
    units         with `unit_samples`: the average unit by unit of these samples, with φ of `mean` fitted to it again

    A recognition network that did not learn is fitted to the last weights, to the best ones, then to the mean, and
    serves so for all posterior samples. Of `best`, `mean` and `units` the one that is worth most by a look at
    validation data is annealed; the model has its weights in the end, those of `mean` for `units`. With
    `annealing_draws` the predictive average over so many of the samples, evenly spaced, is annealed too.

    Returns:
      dict of `log_likelihood`, a dict from these names to figures, `valid`, what a look at validation data says of
      each of those three, `estimator`, `posterior_samples` of a sampler, with annealing `annealed` and `both_sides`,
      and with draws `annealed_predictive`.
    """
    x = random_rows(data.test, settings["test_rows"], settings["seed"])
    own = folder / _named(settings, rows_file.OF_IMPORTANCE)
    sampled = len(list((folder / "posterior").glob("sample_*.h5")))
    posterior = ds.posterior.load(folder / "posterior") if sampled else None
    makes = _makes(model, method, settings, data.train, folder, posterior)
    found, valid = _estimates(model, method, settings, data, x, own, makes, posterior)
    of = max(valid, key=lambda name: -math.inf if valid[name] is None else valid[name], default="last")
    if of != "last":
        _take(model, "mean" if of == "units" else of, own, makes)
    results = {
        "log_likelihood": {name: figures(value) for name, value in found.items()},
        "valid": valid,
        "estimator": {"name": "importance sampling", "num_samples": settings["test_samples"], "rows": len(x)},
    }
    if sampled:
        results["posterior_samples"] = sampled
    if settings["annealing_rows"] and model.recognition.layers:
        place = own / _named(settings, rows_file.OF_ANNEALING)
        if of == "units":
            results |= _annealed_units(posterior, model, method, settings, data, x, own, place, found[of])
            _take(model, "mean", own, makes)
        else:
            results |= _annealed(model, method, settings, x, place, of, found[of])
        draws = min(sampled, settings.get("annealing_draws", 0))
        if draws:
            results |= _annealed_predictive(posterior, draws, model, method, settings, x, place, found["predictive"])
    return results


def _named(settings, names):
    """The name of a folder for what depends on some of the settings."""
    return rows_file.digest_of(str([settings[name] for name in names]))


def _makes(model, method, settings, train, folder, posterior):
    """By name, functions that give the model weights which validation data choose among."""
    makes = {}
    if (folder / "best.npz").exists():
        makes["best"] = lambda: take_best(folder, model, method, settings, train)
    if posterior is not None:
        makes["mean"] = lambda: take_mean(posterior, model, method, settings, train)
    return makes


def _take(model, name, own, makes):
    """Gives the model weights by name, which are kept as they are once fitted."""
    kept.weights(model, own / f"{name}_weights.npz", makes[name])


def _estimates(model, method, settings, data, x, own, makes, posterior):
    """By name, the estimates by importance samples; and what a look at validation data says of the weights chosen."""
    found, valid, look = {}, {}, look_of(method, settings, data, ("valid",))

    def estimate(name, make=lambda: model.log_likelihood(x, settings["test_samples"])):
        found[name] = kept.estimate(own / f"{name}.npz", make)

    if methods.phi_apart(method, settings):
        kept.weights(model, own / "last_weights.npz", lambda: refit(model, settings, data.train))
    estimate("last")
    for name in makes:
        _take(model, name, own, makes)
        estimate(name)
        valid[name] = kept.content(own / f"{name}_look.json", lambda: look(model))["valid"]
    if posterior is not None:
        estimate("predictive", lambda: predictive(posterior, model, method, settings, x))
    if settings.get("unit_samples") and posterior is not None:  # the model has the mean
        network, count = _fitted_average(posterior, model, settings, data.train, own), settings["unit_samples"]
        found["units"] = kept.estimate(own / f"units_{count}.npz", lambda: network.log_likelihood(x, count))
        valid["units"] = kept.content(own / "units_look.json", lambda: look(network))["valid"]
    return found, valid


def _annealed(model, method, settings, x, own, of, importance):
    """What annealing says of the weights that the model has, those called `of`, beside importance sampling."""
    below = kept.content(
        own / f"annealed_{of}.json", lambda: annealing.annealed(model, method, settings, x, importance)
    )
    results = {"annealed": {"of": of, **below}}
    num_samples = settings["unit_samples" if of == "units" else "test_samples"]
    if annealing.drawn_rows(settings):
        results["both_sides"] = kept.content(
            own / f"both_sides_{of}.json", lambda: annealing.both_sides(model, method, settings, num_samples)
        )
    return results


def _annealed_units(posterior, model, method, settings, data, x, own, place, importance):
    """What annealing says of the average unit by unit; the model, which has the mean, has φ of the average then."""
    network = _fitted_average(posterior, model, settings, data.train, own)
    return _annealed(network, method, settings, x, place / f"{settings['unit_samples']}_samples", "units", importance)


def _annealed_predictive(posterior, draws, model, method, settings, x, own, importance):
    """What annealing says of the predictive average over some draws."""

    def make():
        return annealing.annealed_predictive(posterior, draws, model, method, settings, x, importance)

    return {"annealed_predictive": kept.content(own / f"predictive_{draws}.json", make)}


def take_best(folder, model, method, settings, train):
    """Gives the model the weights that were best on validation data; a φ that did not learn is fitted to them."""
    kept.read_weights(model, folder / "best.npz")
    if methods.phi_apart(method, settings):
        refit(model, settings, train)


def take_mean(posterior, model, method, settings, train):
    """Gives the model the mean of the posterior samples, with φ fitted to it."""
    phi = model.recognition.get_weights()
    posterior.apply_mean(model)
    if methods.phi_apart(method, settings):
        model.recognition.set_weights(phi)
    refit(model, settings, train)


def _fitted_average(posterior, model, settings, train, own):
    """`averaged`, with φ fitted to it, which is kept."""
    network = averaged(posterior, model)
    kept.weights(network.recognition, own / "units_phi.npz", lambda: refit(network, settings, train))
    return network


def averaged(posterior, model):
    """The model of the average unit by unit over the posterior samples, of one chain; its φ is the model's."""
    (component,) = posterior.components(model, "units")
    for variable, value in zip(component.model.generative.trainable_variables, component.theta, strict=True):
        variable.assign(value)
    names = "steps_per_execution", "jit_compile"
    component.model.compile("sgld", **{name: model.fitting.settings[name] for name in names})
    return component.model


def predictive(posterior, model, method, settings, x):
    """The predictive average; a φ that did not learn is that of the model for all samples."""
    if methods.phi_apart(method, settings):
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

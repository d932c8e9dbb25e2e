"""One row of a table: a method learns an architecture, and is evaluated. `recipes/table.py` runs the rows.

Learning goes in rounds of 50 updates, which are epochs to Keras; a round reads the rows in a new order and ends with a
backup, from which an interrupted row goes on. The budget is counted, and posterior samples are collected, after rounds.
"""

import math

import keras
import numpy as np
from table_budget import Budget, KeepBest

import tfdsmcmc as ds

SAMPLERS = ("dsgld_nais", "dsghmc_nais", "dsghmc_gibbs", "dsgnht_nais", "dsgnht_gibbs")
CLIMBERS = ("rws", "wake_sleep", "nvil", "vae", "iwae")
CONTINUOUS = ("vae", "iwae")  # need continuous latent variables, the others binary ones
GIBBS = ("dsghmc_gibbs", "dsgnht_gibbs")  # φ does not learn beside θ

_ROUND = 50
_VALIDATION_ROWS = 300
_REFIT_SAMPLES = 5


def run(method, architecture, settings, data, folder):
    """Learns and evaluates.

    Args:
      method: name of a function of `tfdsmcmc.methods`.
      architecture: name for `tfdsmcmc.models.from_name`.
      settings: dict, see `recipes/table.py`.
      data: `tfdsmcmc.datasets.Dataset`.
      folder: `pathlib.Path` of the row; what an interrupted run left there goes on.

    Returns:
      dict of `updates`, `wall_time_seconds` and `log_likelihood`, a dict from estimators to figures.
    """
    keras.utils.clear_session()  # the names and seeds of a row do not depend on the rows before it
    keras.utils.set_random_seed(settings["seed"])
    model = build(method, architecture, settings, data.train)
    budget = learn(model, method, settings, data, folder)
    updates = int(model.run.steps)  # the last round may go beyond those asked for
    results = evaluate(model, method, settings, data, folder)
    return {"updates": updates, "wall_time_seconds": round(budget.seconds, 2), "log_likelihood": results}


def build(method, architecture, settings, x):
    """The compiled model. Samplers have the default prior, the others a flat one: maximum likelihood, as published."""
    model = ds.models.from_name(
        architecture,
        units=x.shape[1],
        hidden_units=settings["hidden_units"],
        data_logits=log_odds(x),
        prior={"": None} if method in CLIMBERS else None,
        seed=settings["seed"],
    )
    arguments = {"learning_rate": settings["learning_rate" if method in SAMPLERS else "adam"]}
    if settings["samples"] is not None:
        arguments["num_samples"] = settings["samples"]
    if method in SAMPLERS and method not in GIBBS:
        arguments["num_chains"] = 1
        arguments["optimizer"] = keras.optimizers.Adam(settings["adam"])
    block = min(_ROUND, settings["updates"])
    model.compile(
        **getattr(ds.methods, method)(**arguments), steps_per_execution=block, jit_compile=settings["jit_compile"]
    )
    return model


def log_odds(x):
    """Log-odds of the mean of binary rows, with one more row of ones and one of zeros so that all are finite."""
    ones = x.sum(0, dtype=np.float64)
    return np.log((ones + 1) / (len(x) - ones + 1)).astype(np.float32)


def learn(model, method, settings, data, folder):
    """Runs the budget, or what is left of it; returns it."""
    steps = min(_ROUND, settings["updates"])
    rounds = -(-settings["updates"] // steps)
    collector = None
    if method in SAMPLERS:
        collector = ds.posterior.Collector(folder / "posterior", settings["posterior_samples"], burn_in=0, stop=False)
    budget = Budget(folder / "progress.json", rounds, 60 * settings["minutes"], collector)
    if budget.over:
        model.load_weights(folder / "backup" / "latest.weights.h5")
        return budget
    rows = np.random.default_rng(settings["seed"]).permutation(len(data.valid))[:_VALIDATION_ROWS]
    model.fit(
        data.train,
        batch_size=settings["batch_size"],
        steps_per_epoch=steps,
        epochs=rounds,
        callbacks=[
            budget,
            collector or KeepBest(folder / "best.npz", data.valid[rows], budget),
            keras.callbacks.BackupAndRestore(folder / "backup", delete_checkpoint=False),
        ],
        verbose=0,
    )
    return budget


def evaluate(model, method, settings, data, folder):
    """Test log-likelihoods by importance sampling: dict from estimators to figures.

    last          the last weights
    best          the weights that `KeepBest` kept, for methods that climb
    mean          the mean of the posterior samples, with φ fitted to it again
    predictive    log-mean-exp over the posterior samples, a tenth of the importance samples each

    A recognition network that did not learn is fitted to the last weights, then to their mean, and serves so for all
    posterior samples.
    """
    x = data.test[np.random.default_rng(settings["seed"]).permutation(len(data.test))[: settings["test_rows"]]]
    samples = settings["test_samples"]
    if method in GIBBS:
        refit(model, settings, data.train)
    results = {"last": figures(model.log_likelihood(x, samples))}
    if (folder / "best.npz").exists():
        with np.load(folder / "best.npz") as kept:
            model.set_weights([kept[str(i)] for i in range(len(kept.files) - 1)])
        results["best"] = figures(model.log_likelihood(x, samples))
    if list((folder / "posterior").glob("sample_*.h5")):
        posterior = ds.posterior.load(folder / "posterior")
        phi = model.recognition.get_weights()
        posterior.apply_mean(model)
        if method in GIBBS:
            model.recognition.set_weights(phi)
        refit(model, settings, data.train)
        results["mean"] = figures(model.log_likelihood(x, samples))
        if method in GIBBS:
            phi = [variable.numpy() for variable in model.recognition.trainable_variables]
            posterior.samples = [sample._replace(phi=phi) for sample in posterior.samples]
        results["predictive"] = figures(posterior.log_likelihood(model, x, max(1, samples // 10)))
    return results


def refit(model, settings, x):
    """Fits φ at fixed θ by reweighted wake updates."""
    updates, passes = settings["refit_updates"], -(-len(x) // settings["batch_size"])
    model.refit_recognition(
        x,
        -(-updates // passes),
        batch_size=settings["batch_size"],
        latents=ds.latents.NAIS(_REFIT_SAMPLES),
        proposal=ds.proposals.Wake(keras.optimizers.Adam(settings["adam"])),
    )


def figures(estimate):
    """The mean over the rows and its errors as plain numbers; null for what is not finite."""
    mean = estimate.mean()
    names = ("value", "standard_error", "row_standard_error", "effective_sample_size")
    values = {name: float(getattr(mean, name)) for name in names}
    return {name: value if math.isfinite(value) else None for name, value in values.items()}

"""A run of the study: a setting learns from one seed, and is evaluated."""

import time

import numpy as np
import tensorflow_probability as tfp

import tfdsmcmc as ds
from experiments.common.paired import log_mean_exp
from experiments.common.rows import random_rows
from experiments.common.seeded_model import seeded_model
from experiments.sampler_study.callbacks import Best, Climb, Until
from experiments.sampler_study.settings import OPTIMIZERS, PRIORS, SAMPLERS

DRAWS = 6  # of a posterior that are annealed
BURN_IN = 20  # passes of Gibbs sampling by augmentation


class TooLittleTime(Exception):
    """No draw was made in the time that there was."""


def run_without_recognition(setting, args, seed, data, folder, seconds):
    """Gibbs sampling of the units in the time that a sampler took; returns a dict of figures."""
    callbacks = [Until(seconds)]
    if setting == "augmentation":
        batch_size, burn_in, every = 500, BURN_IN, 1
        prior = {"bias": tfp.distributions.Normal(0.0, 1.0), "": ds.priors.ColumnThreeParameterBetaNormal()}
        method = ds.methods.polya_gamma_gibbs()
    else:
        batch_size, burn_in, every, prior = 100, 0, max(1, 250 // passes(data, 100)), None
        method = ds.methods.dsgnht_gibbs(num_chains=args.chains)
        callbacks.append(Climb(seconds / 2))
    model = seeded_model(args.architecture, data.train, seed, prior)
    model.compile(**method, steps_per_execution=min(passes(data, batch_size), 50))
    collector = ds.posterior.Collector(
        folder / "posterior", num_samples=1000, burn_in=burn_in, every=every, overwrite=True
    )
    begun, worked = time.monotonic(), time.process_time()
    train = data.train.astype(np.uint8)
    model.fit(train, batch_size=batch_size, epochs=10**6, verbose=0, callbacks=[*callbacks, collector])
    if not any((folder / "posterior").glob("*.h5")):
        raise TooLittleTime(f"no draws after {int(model.run.epochs)} passes over the rows: too little time")
    return {
        **_costs(model, begun, worked),
        "updates_made": int(model.run.epochs if setting == "augmentation" else model.run.steps),
        "samples": len(ds.posterior.load(folder / "posterior").samples),
    }


def run(setting, args, seed, data, folder, seconds=None):
    """Learns and evaluates; returns a dict of figures, and of the test rows' log-likelihoods by estimator."""
    model, steps = seeded_model(args.architecture, data.train, seed, PRIORS.get(setting)), passes(data, 100)
    model.compile(**method_of(setting, args.chains), steps_per_execution=min(steps, 50), evaluation_samples=25)
    best = Best()
    if setting in OPTIMIZERS:
        callbacks = [best, *([] if seconds is None else [Until(seconds)])]
    else:
        callbacks = [ds.posterior.Collector(folder / "posterior", overwrite=True)]
    epochs = -(-args.updates // steps) if seconds is None else 10**6
    begun, worked = time.monotonic(), time.process_time()
    model.fit(data.train, validation_data=data.valid[:500], epochs=epochs, verbose=0, callbacks=callbacks)
    figures = {**_costs(model, begun, worked), "updates_made": int(model.run.steps)}
    test = random_rows(data.test, args.test_rows, seed=0)
    rows = {"last": model.log_likelihood(test, args.test_samples).value}
    if setting in SAMPLERS:
        posterior = ds.posterior.load(folder / "posterior")
        figures["begins"] = int(np.max(model.run.state.kernel_results.begins))
        figures["samples"] = len(posterior.samples)
        each = max(1, args.test_samples // 5)
        rows["chain"] = posterior.chain(0).log_likelihood(model, test, each, average="draws").value
        rows["predictive"] = posterior.log_likelihood(model, test, each, average="draws").value
    else:
        figures["best_epoch"] = best.at
        model.save_weights(folder / "model.weights.h5")
    return figures, rows


def passes(data, batch_size):
    """The minibatches of a pass over the training rows."""
    return -(-len(data.train) // batch_size)


def method_of(setting, chains):
    """The arguments of `compile`."""
    method = ds.methods.dsgnht_nais(num_chains=chains)
    kernel = method["kernel"]
    if setting in OPTIMIZERS:
        climbing = ds.methods.rws(1e-2 if setting == "rws_fast" else None, method["latents"].num_samples)
        if setting == "rws_falling":
            climbing |= {"kernel": ds.mcmc.MAP(optimizer=kernel.optimizer), "proposal": method["proposal"]}
        return climbing
    if setting == "cold":
        kernel = kernel.copy(updates=0)
    if setting == "temperature_0":
        kernel = kernel.copy(temperature=0.0)
    return {**method, "kernel": kernel}


def _costs(model, begun, worked):
    """The chains of a run, and its seconds since then by both clocks."""
    return {
        "chains": model.run.num_chains,
        "seconds": round(time.monotonic() - begun),
        "processor_seconds": round(time.process_time() - worked),
    }


def annealed(setting, args, data, folder):
    """log p of test rows by annealing, averaged over draws where there are some."""
    model = ds.models.from_name(args.architecture, data.train.shape[1])
    if setting in OPTIMIZERS:
        model.load_weights(folder / "model.weights.h5")
        draws = [model.generative.get_weights()]
    else:
        samples = ds.posterior.load(folder / "posterior").samples
        places = np.unique(np.linspace(0, len(samples) - 1, DRAWS).round().astype(int))
        draws = [samples[int(place)].theta for place in places]
    rows, found = random_rows(data.test, args.annealing_rows, seed=0), []
    for theta in draws:
        for variable, value in zip(model.generative.trainable_variables, theta, strict=True):
            variable.assign(value)
        estimate = ds.likelihood.annealed_importance_sampling(model, rows, num_steps=1000, num_runs=2, batch_size=50)
        found.append(estimate.value)
    return log_mean_exp(np.stack(found))

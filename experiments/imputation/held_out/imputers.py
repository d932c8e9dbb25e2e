"""Imputers: functions from rows with gaps to rows in which probabilities of a one stand for what is missing."""

import keras
import numpy as np

import tfdsmcmc as ds
from experiments.common.posterior_run import posterior_run
from experiments.common.rows import log_odds


def learn(args, train, folder):
    """A function from rows with gaps to probabilities, by posterior samples that have learnt from `train`.

    A data layer whose units depend on each other learns from rows with gaps by drawing what is missing."""
    options = {}
    if autoregressive(args) and np.isnan(train).any():
        options = {"draw_missing": True}
    model, posterior = posterior_run(
        folder,
        train,
        architecture=args.architecture,
        updates=args.updates,
        posterior_samples=args.posterior_samples,
        seed=args.seed,
        data_logits=log_odds(train),
        method="dsgnht_gibbs" if options else "dsgnht_nais",
        options=options,
    )
    # a recognition network that has not learnt cannot weigh them
    return imputer(args, model, posterior, "equal" if options else "likelihood")


def autoregressive(args):
    """Whether units of the data layer depend on each other."""
    return args.architecture.strip().startswith(("DARN", "NADE"))


def learnt_elsewhere(args, folder):
    """The same by a model that is there, at its weights where there are no posterior samples."""
    model, samples = keras.saving.load_model(folder / "model.keras"), folder / "posterior"
    posterior = ds.posterior.load(samples) if samples.exists() else None
    # a recognition network that has not learnt cannot weigh them
    return imputer(args, model, posterior, "equal")


def imputer(args, model, posterior, posterior_weights):
    def impute(x):
        return ds.imputation.impute(
            model,
            x,
            posterior=posterior,
            posterior_weights=posterior_weights,
            num_samples=args.sweeps,
            burn_in=args.burn_in,
            seed=args.seed,
        ).probabilities

    return impute


def neighbours(train):
    """The same by ten nearest neighbours, with half a one and half a zero more."""
    from sklearn.impute import KNNImputer

    imputer = KNNImputer(n_neighbors=10).fit(train)
    return lambda x: np.where(np.isnan(x), (10 * imputer.transform(x) + 0.5) / 11, x)


def iterative(train):
    """The same by Bayesian ridge regressions in turn."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return IterativeImputer(random_state=0).fit(train).transform


def means(train):
    """The same by the means of the columns."""
    from sklearn.impute import SimpleImputer

    return SimpleImputer().fit(train).transform


def imputers(args, complete, gappy, folder, share):
    """Pairs (what was seen, name, function that makes the imputer)."""
    yield "complete", "column means", lambda: means(complete)
    yield "complete", "10 nearest neighbours", lambda: neighbours(complete)
    yield "complete", "tfdsmcmc", lambda: learn(args, complete, folder / "complete")
    for place in args.learnt:
        yield "complete", f"tfdsmcmc: {place}", lambda place=place: learnt_elsewhere(args, place)
    yield "gaps", "column means", lambda: means(gappy)
    yield "gaps", "10 nearest neighbours", lambda: neighbours(gappy)
    yield "gaps", "iterative (Bayesian ridge)", lambda: iterative(gappy)
    yield "gaps", "tfdsmcmc", lambda: learn(args, gappy, folder / f"gaps_{share}")

"""What a run is worth: the averages over its draws, and a mixture of them, on test rows."""

import numpy as np

import tfdsmcmc as ds
from tfdsmcmc.posterior.choice import mixed

AVERAGES = ("weights", "units", "draws")


def estimated(args, model, x, posterior=None, average=None):
    """log p of rows, at the model's weights or under an average."""
    if args.annealing_steps:
        steps = args.annealing_steps
        if posterior is None:
            return ds.likelihood.annealed_importance_sampling(model, x, steps, num_runs=1, batch_size=50).value
        return posterior.annealed_log_likelihood(
            model, x, average=average, num_steps=steps, num_runs=1, batch_size=50
        ).value
    if posterior is None:
        return model.log_likelihood(x, args.test_samples).value
    samples = max(1, args.test_samples // (5 if average == "draws" else 1))
    return posterior.log_likelihood(model, x, samples, average=average).value


def with_halves(rows, posterior):
    """A dict of log-likelihoods by average, and those of mixtures with the start."""
    own = {name: value for name, value in rows.items() if name in (*AVERAGES, "start")}
    return {**rows, **mixed(own, starts_of_each(posterior))}


def starts_of_each(posterior):
    """S, how many climbs of each chain a posterior has the weights of."""
    return len(posterior.starts) / posterior.num_chains


def stacked(args, model, posterior, valid, x):
    """log of the mixture of each chain's averages whose weights are best on validation rows, of the rows x."""
    chains = [posterior.chain(number) for number in sorted(set(posterior.chain_numbers))]
    parts = [(chain, average) for chain in chains for average in AVERAGES]

    def of_parts(rows):
        return np.stack([estimated(args, model, rows, chain, average) for chain, average in parts]).astype(np.float64)

    known, found = of_parts(valid), of_parts(x)
    weights = np.full(len(parts), 1 / len(parts))
    for _ in range(1000):  # expectation maximisation
        shares = np.exp(known - known.max(0)) * weights[:, np.newaxis]
        weights = (shares / shares.sum(0)).mean(1)
    with np.errstate(divide="ignore"):
        return np.logaddexp.reduce(found + np.log(weights)[:, np.newaxis], 0)

"""What is measured and drawn of a Boltzmann machine."""

import time

import numpy as np

import tfdsmcmc as ds


def measured(rbm, train, test, args):
    """Every figure of a machine."""
    begun = time.monotonic()
    both = ds.boltzmann.sandwich(rbm, args.runs, args.annealing_steps, base=train, seed=args.seed)
    found = {"seconds_of_annealing": round(time.monotonic() - begun, 1), "starts_above": both.upper.starts}
    for side, bound in (("below", both.lower), ("above", both.upper)):
        found[side] = {
            "log_partition": bound.value,
            "one_error": [float(bound.value + np.log1p(k * bound.standard_error)) if k * bound.standard_error > -1
                          else None for k in (-1, 1)],
            "interval": [end if np.isfinite(end) else None for end in bound.interval],
            "standard_error": bound.standard_error,
            "effective_sample_size": bound.effective_sample_size,
            "largest_share": bound.largest_share,
        }  # fmt: skip
    if min(rbm.units, rbm.hidden_units) <= 25:
        found["exact"] = ds.boltzmann.exact_log_partition(rbm)
    for split, rows in (("train", train), ("test", test)):
        unnormalized = rbm.unnormalized_log_prob(rows)
        found[split] = {
            "unnormalized": float(unnormalized.mean()), "row_error": float(unnormalized.std() / len(rows) ** 0.5)
        }  # fmt: skip
    return found, both


def pictures(rbm, both, train, shape, folder, args):
    """Of log Z against steps, runs of a tenth and a hundredth of the steps as well."""
    save, seed = ds.plots.save, args.seed
    steps = [max(1, args.annealing_steps // 100), max(2, args.annealing_steps // 10)]
    shorter = [ds.boltzmann.sandwich(rbm, args.runs, count, base=train, seed=seed, chain_steps=1000) for count in steps]
    below, above = zip(*shorter, both)
    exact = ds.boltzmann.exact_log_partition(rbm) if min(rbm.units, rbm.hidden_units) <= 25 else None
    steps.append(args.annealing_steps)
    save(ds.plots.log_partitions(steps, below, above, exact), folder / "log_partition_steps.png")
    betas = (0.0, 0.2, 0.4, 0.6, 0.8, 0.9, 0.95, 0.98, 1.0)
    seen = ds.boltzmann.annealed_chains(rbm, betas, 16, args.annealing_steps, base=train, seed=seed)
    save(ds.plots.chains(seen, betas, shape), folder / "chains.png")
    runs = len(both.lower.log_weights)
    counts = [*(n for n in (5, 10, 20, 50, 100, 200) if n < runs), runs]
    below, above = (
        [ds.boltzmann.LogPartition.of_weights(bound.log_weights[:n], direction=bound.direction) for n in counts]
        for bound in both
    )
    save(ds.plots.log_partitions(counts, below, above, label="annealing runs"), folder / "log_partition.png")
    save(ds.plots.features(rbm.kernel.numpy().T, shape, limit=100), folder / "features.png")
    drawn = rbm.sample(100, seed, steps=10_000, probabilities=True)
    save(ds.plots.samples(drawn, shape, title="p(v given h) after 10,000 steps"), folder / "samples.png")

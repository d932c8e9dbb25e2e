"""What is measured of a deep belief network."""

import numpy as np

import tfdsmcmc as ds
from experiments.common.plain_figures import bound_figures


def measured(dbn, train, test, args):
    """Every figure of the network; the path to log Z begins at the rates of the topmost machine's data."""
    lift = dbn.lift_to(len(dbn.rbms) - 1)
    rows = train[:: max(1, len(train) // 10_000)].astype(np.float32)
    base = rows if lift is None else lift(rows, ds.random.as_seed(args.seed)).numpy()
    both = ds.boltzmann.sandwich(dbn.rbms[-1], args.runs, args.annealing_steps, base=base, seed=args.seed)
    lower, upper = both
    found = {
        "log_partition": lower.value,
        "interval_less_value": [end - lower.value if np.isfinite(end) else None for end in lower.interval],
        "effective_sample_size": lower.effective_sample_size,
        "log_partition_above": upper.value,
        "starts_above": upper.starts,
    }
    for split, x in (("test", test), ("train", train)):
        bound = dbn.log_likelihood_bound(x, args.draws, lower, args.seed)
        found[split] = bound_figures(bound)
    found["test"]["importance"] = bound_figures(dbn.log_likelihood(test, args.importance, lower, args.seed))
    return found

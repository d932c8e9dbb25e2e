"""One chain of a job array: `fit … --chain I --of N --folder PATH`."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from tfdsmcmc import public as ds
from tfdsmcmc._common import checks

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


def fit_chain(args: argparse.Namespace, make: Callable[..., Any]) -> None:
    """Learns chain I of N; `make(args, units, seed, num_chains)` is the model of the other options."""
    chain, count = checks.nonnegative_integer("--chain", args.chain), checks.positive_integer("--of", args.of)
    if chain >= count:
        raise ValueError(f"--chain is below --of. Received: --chain {chain} --of {count}")
    wrong = [name for name in ("model", "posterior", "resume", "overwrite") if getattr(args, name)]
    if wrong:
        raise ValueError(f"A chain has a folder of its own in --folder. Received: {', '.join(wrong)}")
    data = ds.datasets.load(args.dataset, args.data_dir)
    collector = {"num_samples": args.posterior_samples, "patience": args.patience, "burn_in": args.burn_in}
    ds.cluster.fit_chain(
        functools.partial(make, args, data.train.shape[1], num_chains=1),
        chain,
        data.train,
        args.folder,
        checks.positive_integer("--epochs", args.epochs),
        checks.nonnegative_integer("--seed", args.seed or 0),
        {**collector, "every": args.every},
        {"batch_size": args.batch_size, "validation_data": data.valid, "verbose": "auto"},
    )
    print(f"chain {chain} of {count} is in {args.folder}; posterior.load({args.folder!r}) merges those that there are")

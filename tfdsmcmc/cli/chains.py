"""One chain of a job array: `fit … --chain I --of N --folder PATH`."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any

from tfdsmcmc import public as ds
from tfdsmcmc._common import checks

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable


def collector_options(args: argparse.Namespace) -> dict[str, Any]:
    """The arguments of a `Collector`."""
    many = 50 if args.posterior_samples is None else args.posterior_samples
    patience = 1000 if args.patience is None else args.patience
    return {"num_samples": many, "patience": patience, "burn_in": args.burn_in, "every": args.every}


def fit_chain(args: argparse.Namespace, make: Callable[..., Any]) -> None:
    """Learns chain I of N; `make(args, units, seed, num_chains)` is the model of the other options."""
    chain, count = checks.nonnegative_integer("--chain", args.chain), checks.positive_integer("--of", args.of)
    if chain >= count:
        raise ValueError(f"--chain is below --of. Received: --chain {chain} --of {count}")
    wrong = [name for name in ("model", "posterior", "resume", "overwrite") if getattr(args, name)]
    if wrong:
        raise ValueError(f"A chain has a folder of its own in --folder. Received: {', '.join(wrong)}")
    checks.positive_integer("--batch-size", args.batch_size)
    data = ds.datasets.load(args.dataset, args.data_dir)
    made = functools.partial(make, args, data.train.shape[1], num_chains=1)
    made(0)  # that the options fit, before there is a folder
    ds.cluster.fit_chain(
        made,
        chain,
        data.train,
        args.folder,
        checks.positive_integer("--epochs", args.epochs),
        checks.nonnegative_integer("--seed", args.seed or 0),
        collector_options(args),
        {"batch_size": args.batch_size, "validation_data": data.valid, "verbose": "auto"},
    )
    print(f"chain {chain} of {count} is in {args.folder}; posterior.load({args.folder!r}) merges those that there are")

"""How hot a chain becomes by the noise of its gradient, with one learning rate for all weights and with rates by noise.

    python recipes/heat_of_noise.py --dataset binarized_mnist --architecture "SBN/SBN 200-200" --batch-size 25

A sigmoid belief network climbs, and is then sampled by `methods.dsgnht_gibbs`, with the same draws for each line of the
table that is printed, which --output keeps too, line by line:

    v²/η         kinetic temperature of the last epoch, 1 where the chain is as hot as the posterior asks
    −N θ·g/d     configurational temperature, likewise; negative as long as θ still grows
    climbed      log p of test rows by annealing, before sampling
    sampled      after it, of the last draw
"""

import argparse
import pathlib

from quiet import quiet_start
from table_arguments import number

with quiet_start():
    import keras
    import numpy as np

    import tfdsmcmc as ds

_EPOCH = 250  # updates


def parse(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add, count = parser.add_argument, number(int)
    add("--dataset", default="digits", help="of binary rows (default digits)")
    add("--architecture", default="SBN/SBN 100-50", help="as in models.from_name (default SBN/SBN 100-50)")
    add("--batch-size", type=count, default=25)
    add("--learning-rates", type=number(float), nargs="+", default=[0.3, 0.003], help="the first one by noise too")
    add("--climb", type=count, default=5000, help="updates of the optimizer (default 5000)")
    add("--updates", type=count, default=5000, help="updates of the sampler (default 5000)")
    add("--test-rows", type=count, default=100)
    add("--annealing-steps", type=count, default=500)
    add("--data-dir", default=None)
    add("--output", default="runs/heat_of_noise", help="folder of results.json")
    add("--seed", type=number(int, 0), default=0)
    return parser.parse_args(arguments)


def measured(args, data, rate, tolerance):
    """A line of the table, a dict of plain numbers."""
    keras.utils.set_random_seed(args.seed)
    model = ds.models.from_name(args.architecture, data.train.shape[1], seed=args.seed)
    method = ds.methods.dsgnht_gibbs(learning_rate=rate, num_chains=1)
    sampler, optimizer = method["kernel"].kernel, keras.optimizers.Adam(3e-3)
    kernel = ds.mcmc.WarmStart(kernel=sampler, optimizer=optimizer, updates=args.climb, noise_tolerance=tolerance)
    model.compile(**{**method, "kernel": kernel}, steps_per_execution=_EPOCH)

    def fit(updates, before):
        epochs = {"initial_epoch": before // _EPOCH, "epochs": (before + updates) // _EPOCH}
        history = model.fit(
            data.train, batch_size=args.batch_size, steps_per_epoch=_EPOCH, verbose=0, **epochs
        ).history
        rows = data.test[np.random.default_rng(args.seed).permutation(len(data.test))[: args.test_rows]]
        annealing = {"num_steps": args.annealing_steps, "num_runs": 2, "seed": args.seed}
        return history, ds.likelihood.annealed_importance_sampling(model, rows, **annealing).mean()

    _, climbed = fit(args.climb, 0)
    history, sampled = fit(args.updates, args.climb)
    return {
        "rows": args.batch_size,
        "learning_rate": rate,
        "by_noise": tolerance is not None,
        "kinetic_temperature": round(float(history["kinetic_temperature"][-1]), 3),
        "configurational_temperature": round(float(history["configurational_temperature"][-1]), 3),
        "climbed": round(float(climbed), 3),
        "sampled": round(float(sampled), 3),
    }


def table(lines):
    """The lines as Markdown."""
    head = ["rows", "learning rate", "v²/η", "−N θ·g/d", "climbed", "sampled"]
    cells = [head, ["---"] * len(head)]
    for line in lines:
        numbers = (line["kinetic_temperature"], line["configurational_temperature"], line["climbed"], line["sampled"])
        rate = f"{line['learning_rate']:g} {'at most, by noise' if line['by_noise'] else 'of all weights'}"
        cells.append([str(line["rows"]), rate, *(f"{number:.2f}".replace("-", "−") for number in numbers)])
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def main(arguments=None):
    args = parse(arguments)
    for name in ("climb", "updates"):
        if getattr(args, name) < _EPOCH or getattr(args, name) % _EPOCH:
            raise SystemExit(f"--{name} must be a multiple of {_EPOCH}. Received: {getattr(args, name)}")
    data = ds.datasets.load(args.dataset, args.data_dir)
    settings = [(args.learning_rates[0], "auto"), *((rate, None) for rate in args.learning_rates)]
    folder, lines = pathlib.Path(args.output), []
    folder.mkdir(parents=True, exist_ok=True)
    for setting in settings:
        lines.append(measured(args, data, *setting))
        ds.files.write_json(folder / "results.json", {"settings": vars(args), "lines": lines})
    print(table(lines))


if __name__ == "__main__":
    main()

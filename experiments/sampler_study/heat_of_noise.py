"""How hot a chain becomes by the noise of its gradient, with one learning rate for all weights and with rates by noise.

    python -m experiments.sampler_study.heat_of_noise --dataset binarized_mnist --architecture "SBN/SBN 200-200"

A sigmoid belief network climbs, and is then sampled by `methods.dsgnht_gibbs`, with the same draws for each line of the
table that is printed, which --output keeps too, line by line:

    v²/η         kinetic temperature of the last epoch, 1 where the chain is as hot as the posterior asks
    −N θ·g/d     configurational temperature, likewise; negative as long as θ still grows
    climbed      log p of test rows by annealing, before sampling
    sampled      after it, of the last draw
"""

import pathlib

import keras

import tfdsmcmc as ds
from experiments.common import files, markdown
from experiments.common.arguments import number, parser_of
from experiments.common.rows import random_rows

_EPOCH = 250  # updates


def parse(arguments=None):
    parser = parser_of("experiments.sampler_study.heat_of_noise", __doc__)
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
        history = model.fit(
            data.train,
            batch_size=args.batch_size,
            steps_per_epoch=_EPOCH,
            initial_epoch=before // _EPOCH,
            epochs=(before + updates) // _EPOCH,
            verbose=0,
        ).history
        rows = random_rows(data.test, args.test_rows, args.seed)
        estimate = ds.likelihood.annealed_importance_sampling(
            model, rows, num_steps=args.annealing_steps, num_runs=2, seed=args.seed
        )
        return history, estimate.mean()

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
    cells = []
    for line in lines:
        numbers = (line["kinetic_temperature"], line["configurational_temperature"], line["climbed"], line["sampled"])
        rate = f"{line['learning_rate']:g} {'at most, by noise' if line['by_noise'] else 'of all weights'}"
        cells.append([line["rows"], rate, *map(markdown.number, numbers)])
    header = ("rows", "learning rate", "v²/η", "−N θ·g/d", "climbed", "sampled")
    return "\n".join(markdown.table(header, cells))


def main(arguments=None):
    args = parse(arguments)
    for name in ("climb", "updates"):
        if getattr(args, name) < _EPOCH or getattr(args, name) % _EPOCH:
            raise SystemExit(f"--{name} must be a multiple of {_EPOCH}. Received: {getattr(args, name)}")
    data = ds.datasets.load(args.dataset, args.data_dir)
    settings = [(args.learning_rates[0], "auto"), *((rate, None) for rate in args.learning_rates)]
    folder, lines = pathlib.Path(args.output), []
    folder.mkdir(parents=True, exist_ok=True)
    for rate, tolerance in settings:
        lines.append(measured(args, data, rate, tolerance))
        files.write_json(folder / "results.json", {"settings": vars(args), "lines": lines})
    print(table(lines))


if __name__ == "__main__":
    main()

"""How far off is a log-likelihood? Importance sampling and annealed importance sampling, from below and from above.

    python -m experiments.estimators.both_sides --model runs/mnist_sbn_200-200/model.keras

On rows that the model itself has drawn the exact posterior draw of z is known, so annealing runs both ways: its forward
estimate is in expectation below log p(x), its reverse estimate above, and the truth lies between. On test rows there is
the forward estimate only, which the first half of the table says how far to trust. In --output

    both_sides.png      bounds against the number of annealing steps, rows drawn by the model
    results.json        every figure with its errors
"""

import pathlib
import time
import warnings

import keras
from matplotlib.figure import Figure

import tfdsmcmc as ds
from experiments.common import files
from experiments.common.arguments import parser_of
from experiments.common.plain_figures import named_figures
from experiments.common.rows import random_rows


def parse(arguments=None):
    parser = parser_of("experiments.estimators.both_sides", __doc__)
    add = parser.add_argument
    add("--model", required=True, help="a .keras file")
    add("--posterior", default=None, help="folder of posterior samples: their mean is evaluated")
    add("--dataset", default="binarized_mnist")
    add("--rows", type=int, default=100, help="random test rows, and as many drawn by the model (default 100)")
    add("--samples", type=int, nargs="+", default=[1000, 100000], help="of importance sampling (default 1000 100000)")
    add("--steps", type=int, nargs="+", default=[10, 100, 1000], help="of annealing (default 10 100 1000)")
    add("--runs", type=int, default=10, help="annealing runs a row (default 10)")
    add("--path", default="recognition", choices=["prior", "recognition", "weights"])
    add("--data-dir", default=None)
    add("--output", default="runs/both_sides")
    add("--seed", type=int, default=0)
    return parser.parse_args(arguments)


def timed(name, function):
    """What a function that estimates has found, printed and as plain numbers, and the estimate."""
    begun = time.monotonic()
    estimate = function()
    found = {**named_figures(estimate), "seconds": round(time.monotonic() - begun, 1), "estimate": estimate}
    print(
        f"  {name:<36}{found['log_likelihood']:9.2f} ± {found['monte_carlo_standard_error']:.2f}   "
        f"effective samples {found['effective_sample_size']:7.1f}   {found['seconds']:7.1f} s",
        flush=True,
    )
    return found


def estimates(model, args, x, z=None):
    """All estimates for some rows; z are exact posterior draws, where there are any."""

    def importance(samples):
        return ds.likelihood.importance_sampling(model, x, num_samples=samples, seed=args.seed)

    def annealing(steps, direction="forward", z=None):
        return ds.likelihood.annealed_importance_sampling(
            model, x, steps, num_runs=args.runs, path=args.path, seed=args.seed, direction=direction, z=z
        )

    found = {}
    for samples in args.samples:
        name = f"importance sampling, K = {samples:,}"
        found[name] = timed(name, lambda samples=samples: importance(samples))
    for steps in args.steps:
        name = f"annealing, {steps:,} steps"
        found[name] = timed(name, lambda steps=steps: annealing(steps))
    for steps in args.steps if z is not None else []:
        name = f"reverse annealing, {steps:,} steps"
        found[name] = timed(name, lambda steps=steps: annealing(steps, "reverse", z))
    return found


def figure(found, steps, samples):
    """Bounds against the number of steps."""
    chart = Figure(figsize=(5.4, 3.8), layout="constrained")
    axes = chart.add_subplot()
    for direction, colour in (("annealing", "C0"), ("reverse annealing", "C3")):
        parts = [found[f"{direction}, {count:,} steps"] for count in steps]
        values, errors = ([p[k] for p in parts] for k in ("log_likelihood", "monte_carlo_standard_error"))
        axes.errorbar(steps, values, errors, marker="o", markersize=3, capsize=2, color=colour, label=direction)
    for count, style in zip(samples, (":", "--", "-.")):
        value = found[f"importance sampling, K = {count:,}"]["log_likelihood"]
        axes.axhline(value, color="0.4", linestyle=style, label=f"importance sampling, K = {count:,}")
    axes.set_xscale("log")
    axes.set_xlabel("annealing steps")
    axes.set_ylabel("log-likelihood (nats a row)")
    axes.set_title("rows drawn by the model")
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return chart


def main(arguments=None):
    args = parse(arguments)
    warnings.simplefilter("ignore", UserWarning)  # the effective sample sizes are printed
    model = keras.saving.load_model(args.model)
    if args.posterior:
        ds.posterior.load(args.posterior).apply_mean(model)
    data = ds.datasets.load(args.dataset, args.data_dir)
    test = random_rows(data.test, args.rows, args.seed)
    x, z = model.generative.sample(args.rows, ds.random.stream(args.seed, "simulated rows"))

    results = {"arguments": vars(args)}
    print(f"{args.rows} rows drawn by the model, nats a row ± Monte Carlo error:")
    simulated = results["simulated"] = estimates(model, args, x.numpy(), z)
    most = max(args.steps)
    bounds = (simulated[f"{direction}, {most:,} steps"]["estimate"] for direction in ("annealing", "reverse annealing"))
    gap = ds.likelihood.Sandwich(x.numpy(), *bounds).gap
    results["gap"], results["gap_row_standard_error"] = float(gap), gap.row_standard_error
    print(f"  gap of the two bounds at {most:,} steps: {gap:.3f} ± {gap.row_standard_error:.3f} nats")
    print(f"{args.rows} random test rows:")
    results["test"] = estimates(model, args, test)
    for found in (*simulated.values(), *results["test"].values()):
        del found["estimate"]  # the file has means alone

    output = pathlib.Path(args.output)
    output.mkdir(parents=True, exist_ok=True)
    ds.plots.save(figure(simulated, args.steps, args.samples), output / "both_sides.png")
    files.write_json(output / "results.json", results, indent=2)
    print(f"wrote {output}")


if __name__ == "__main__":
    main()

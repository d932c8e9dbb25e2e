"""How far off is a log-likelihood? Importance sampling, and annealing from below and from above.

    make demo
    python recipes/both_sides.py
    python recipes/both_sides.py --model runs/mnist/model.keras --dataset binarized_mnist --steps 100 1000

On rows that the model itself has drawn an exact posterior draw of z is known, so annealing runs both ways: its forward
estimate is in expectation below log p(x), its reverse estimate above, and the truth lies between. On test rows there is
the forward estimate only, which the first half of the table says how far to trust.
"""

import argparse
import warnings

import keras
import numpy as np

import tfdsmcmc as ds


def line(name, estimate):
    mean = estimate.mean()
    size = f"effective samples {mean.effective_sample_size:.1f}"
    print(f"  {name:<36}{mean:9.2f} ± {mean.standard_error:.2f}   {size}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="runs/digits/model.keras", help="a .keras file (default that of the demo)")
    parser.add_argument("--dataset", default="digits")
    parser.add_argument("--rows", type=int, default=100, help="of the test split, and as many drawn by the model")
    parser.add_argument("--steps", type=int, nargs="+", default=[10, 100, 1000], help="of annealing")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="five rows and few draws, to see that it runs")
    args = parser.parse_args()
    rows, steps, samples, runs = (5, [2, 5], [10], 2) if args.quick else (args.rows, args.steps, [1000, 100_000], 10)
    warnings.simplefilter("ignore", ds.likelihood.UnreliableImportanceWeights)  # effective samples are printed

    model = keras.saving.load_model(args.model)
    data = ds.datasets.load(args.dataset)
    if data.test.shape[1] != model.units:
        parser.error(f"--dataset must have the {model.units} columns of the model. Received: {data.test.shape[1]}")
    print(f"{rows} rows drawn by the model, nats a row ± Monte Carlo error:")
    for count in steps:
        both = ds.likelihood.sandwich(model, rows, count, runs, path="recognition", seed=args.seed)
        line(f"annealing, {count:,} steps", both.lower)
        line(f"reverse annealing, {count:,} steps", both.upper)
        print(f"  {'the two apart':<36}{both.gap:9.2f} ± {both.gap.row_standard_error:.2f} over rows")
    for count in samples:
        line(f"importance sampling, K = {count:,}", model.log_likelihood(both.x, count, seed=args.seed))

    x = data.test[np.random.default_rng(args.seed).permutation(len(data.test))[:rows]]
    print(f"{len(x)} random test rows:")
    for count in steps:
        below = ds.likelihood.annealed_importance_sampling(model, x, count, runs, path="recognition", seed=args.seed)
        line(f"annealing, {count:,} steps", below)
    for count in samples:
        line(f"importance sampling, K = {count:,}", model.log_likelihood(x, count, seed=args.seed))


if __name__ == "__main__":
    main()

"""Pictures with their lower half missing, and what the model makes of them.

    python recipes/completions.py --model runs/mnist_sbn_200-200/model.keras --dataset binarized_mnist

One picture a row of the figure: the truth, what the model sees (the rest grey), some completions, and the probability
of each missing pixel. It is written to --output.
"""

import argparse
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np

import tfdsmcmc as ds


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--model", required=True, help="a .keras file")
    add("--posterior", default=None, help="folder of posterior samples: their mean is used")
    add("--dataset", default="binarized_mnist")
    add("--pictures", type=int, default=10, help="random test pictures (default 10)")
    add("--completions", type=int, default=6, help="of each (default 6)")
    add("--data-dir", default=None)
    add("--output", default="runs/completions.png")
    add("--seed", type=int, default=0)
    return parser.parse_args()


def main():
    args = parse()
    model = keras.saving.load_model(args.model)
    if args.posterior:
        ds.posterior.load(args.posterior).apply_mean(model)
    data = ds.datasets.load(args.dataset, args.data_dir)
    truth = data.test[np.random.default_rng(args.seed).permutation(len(data.test))[: args.pictures]]
    height, width = data.shape
    mask = np.zeros((height, width), bool)
    mask[: height // 2] = True
    mask = mask.ravel()

    seen = np.where(mask, truth, np.nan)
    drawn = model.impute(seen, num_imputations=args.completions, seed=args.seed)
    probabilities = model.impute(seen, seed=args.seed, probabilities=True)
    columns = [truth, np.where(mask, truth, 0.25), *drawn, probabilities]
    grid = np.stack(columns, 1).reshape(-1, truth.shape[1])
    title = f"truth, seen, {args.completions} completions, probabilities"
    print(ds.plots.save(ds.plots.samples(grid, data.shape, columns=len(columns), title=title), args.output))


if __name__ == "__main__":
    main()

"""Pictures with their lower half missing, and what a learnt model makes of them.

    make demo
    python recipes/completions.py
    python recipes/completions.py --model runs/mnist/model.keras --dataset binarized_mnist

One picture a row of the figure: the truth, what the model sees (the rest grey), some completions, and the probability
of each missing pixel. It is written to --output.
"""

import argparse
import pathlib

import keras
import numpy as np

import tfdsmcmc as ds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="runs/digits/model.keras", help="a .keras file (default that of the demo)")
    parser.add_argument("--posterior", help="folder of posterior samples, of whose average completions are drawn")
    parser.add_argument("--dataset", default="digits", help="of pictures (default digits)")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("runs/completions.png"))
    parser.add_argument("--seed", type=int, default=0, help="which pictures, which draws")
    parser.add_argument("--quick", action="store_true", help="two pictures, two completions of each")
    args = parser.parse_args()
    if not args.output.suffix or args.output.is_dir():
        parser.error(f"--output is a file such as picture.png. Received: {args.output}")
    pictures, completions = (2, 2) if args.quick else (10, 6)

    model = keras.saving.load_model(args.model)
    posterior = ds.posterior.load(args.posterior) if args.posterior else None
    data = ds.datasets.load(args.dataset)
    truth = data.test[np.random.default_rng(args.seed).permutation(len(data.test))[:pictures]]
    mask = np.arange(truth.shape[1]) < truth.shape[1] // 2  # the upper half is seen
    seen = np.where(mask, truth, np.nan)
    drawn = model.impute(seen, num_imputations=completions, seed=args.seed, posterior=posterior)
    probabilities = model.impute(seen, seed=args.seed, probabilities=True, posterior=posterior)

    columns = [truth, np.where(mask, truth, 0.25), *drawn, probabilities]
    grid = np.stack(columns, 1).reshape(-1, truth.shape[1])
    title = f"truth, seen, {completions} completions, probabilities"
    print("wrote", ds.plots.save(ds.plots.samples(grid, data.shape, columns=len(columns), title=title), args.output))


if __name__ == "__main__":
    main()

"""Fills the gaps of a table, and says how well, by entries that are there and are hidden.

    python recipes/impute_table.py
    python recipes/impute_table.py --table mine.csv --output filled.csv

A table is a CSV with a line of names; empty cells are missing. Without one an example is taken, scikit-learn's
measurements of tumours with 20 in 100 cells emptied. One cell in ten of those that are there is hidden while it learns,
to be compared with what is filled in: in standard deviations of its column, beside the column's mean. The gaps are then
filled given all that is there, and the table is written to --output.
"""

import argparse
import pathlib

import numpy as np
import sklearn.datasets

import tfdsmcmc as ds


def read(path):
    """(names, table with NaN where a cell is empty)."""
    if path is None:
        names, table = sklearn.datasets.load_breast_cancer().feature_names, sklearn.datasets.load_breast_cancer().data
        return list(names), np.where(np.random.default_rng(0).random(table.shape) < 0.2, np.nan, table)
    names = path.read_text(encoding="utf-8").splitlines()[0].split(",")
    return names, np.atleast_2d(np.genfromtxt(path, delimiter=",", skip_header=1, encoding="utf-8"))


def error(filled, table, hidden):
    """The root mean square error of the hidden cells, in standard deviations of their columns."""
    scale = np.nanstd(table, 0)
    return np.sqrt(np.mean((((filled - table) / np.where(scale > 0, scale, 1.0))[hidden]) ** 2))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=pathlib.Path, help="a CSV (default: an example)")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("runs/filled.csv"))
    parser.add_argument("--updates", type=int, default=5000, help="minibatches to learn from (default 5000)")
    parser.add_argument("--quick", action="store_true", help="few updates, to see that it runs")
    args = parser.parse_args()
    names, table = read(args.table)
    updates, sweeps = (20, 2) if args.quick else (args.updates, 50)

    hidden = ~np.isnan(table) & (np.random.default_rng(1).random(table.shape) < 0.1)
    gappy = np.where(hidden, np.nan, table)
    print(f"{table.shape[0]:,} rows, {table.shape[1]} columns, {np.isnan(table).sum():,} gaps, {hidden.sum():,} hidden")
    imputer = ds.Imputer(updates=updates, imputation_options={"num_samples": sweeps, "burn_in": sweeps}, random_state=0)
    filled = imputer.fit(gappy).transform(gappy)
    means = np.where(np.isnan(gappy), np.nanmean(gappy, 0), gappy)
    print(f"error of the hidden cells {error(filled, table, hidden):.3f}, by means {error(means, table, hidden):.3f}")

    args.output.parent.mkdir(parents=True, exist_ok=True)
    np.savetxt(args.output, imputer.transform(table), delimiter=",", header=",".join(names), comments="", fmt="%.8g")
    print("wrote", args.output)


if __name__ == "__main__":
    main()

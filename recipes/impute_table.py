"""Fills the gaps of a table, and says how well, by entries that are there and are hidden.

    python recipes/impute_table.py
    python recipes/impute_table.py --table mine.csv --output filled.csv

A table is a CSV with a line of names; empty cells are missing, and columns of text are categories. The example is
scikit-learn's measurements of tumours, with 20 in 100 cells emptied. One cell in ten of those that are there is hidden
while it learns, and compared with what is filled in: numbers by their error in standard deviations, states by how often
they are wrong. The gaps are then filled given all that is there, and the table is written to --output.
"""

import argparse
import pathlib

import numpy as np
import pandas
import sklearn.datasets

import tfdsmcmc as ds


def read(path):
    """A DataFrame with the types that say what its columns are."""
    if path is not None:
        frame = pandas.read_csv(path).convert_dtypes()
        text = [name for name in frame if pandas.api.types.is_string_dtype(frame[name])]
        if free := [name for name in text if frame[name].nunique() > max(20, frame[name].count() / 2)]:
            raise ValueError(f"Dates, names and free text cannot be filled: leave them out. Received: columns {free}")
        return frame.astype(dict.fromkeys(text, "category"))
    table = sklearn.datasets.load_breast_cancer(as_frame=True)
    frame = table.frame.assign(target=pandas.Categorical.from_codes(table.frame["target"], table.target_names))
    return frame.mask(np.random.default_rng(0).random(frame.shape) < 0.2)


def compared(filled, frame, hidden):
    """Lines of the error of what was hidden, beside that of one value for each column."""
    squares, wrong = [], []
    for name, here in zip(frame, hidden.T):
        truth, there = frame[name], frame[name][~here].dropna()
        if there.empty:
            continue  # nothing to learn from, and nothing to compare with
        if pandas.api.types.is_numeric_dtype(truth) and not pandas.api.types.is_bool_dtype(truth):
            values = [column.to_numpy(float, na_value=np.nan) for column in (truth, filled[name], there)]
            scale = values[2].std() or 1.0
            squares += np.square([(y - values[0])[here] / scale for y in (values[1], values[2].mean())]).T.tolist()
        else:
            wrong += [[y != truth.iloc[i] for y in (filled[name].iloc[i], there.mode()[0])] for i in here.nonzero()[0]]
    if squares:
        yield "error of hidden numbers {:.3f}, by means {:.3f}".format(*np.sqrt(np.mean(squares, 0)))
    if wrong:
        yield "hidden states that are wrong {:.3f}, by the most frequent {:.3f}".format(*np.mean(wrong, 0))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--table", type=pathlib.Path, help="a CSV (default: an example)")
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("runs/filled.csv"))
    parser.add_argument("--updates", type=int, default=5000, help="minibatches to learn from (default 5000)")
    parser.add_argument("--quick", action="store_true", help="few updates, to see that it runs")
    args = parser.parse_args()
    if args.updates < 100:
        parser.error(f"--updates must be 100 or more. Received: {args.updates}")
    if args.output.is_dir() or not (args.table is None or args.table.is_file()):
        parser.error(f"--table and --output must be files. Received: {args.table}, {args.output}")
    frame = read(args.table)
    quick = {"num_samples": 2, "burn_in": 2, "evidence_samples": 10}
    updates, options = (40, quick) if args.quick else (args.updates, {})
    there = frame.notna().to_numpy()
    hidden = there & (np.random.default_rng(1).random(frame.shape) < 0.1)
    print(f"{len(frame):,} rows, {frame.shape[1]} columns, {(~there).sum():,} gaps, {hidden.sum():,} hidden")
    imputer = ds.Imputer(updates=updates, imputation_options=options, random_state=0)
    filled = imputer.fit_transform(frame.mask(hidden))
    args.output.parent.mkdir(parents=True, exist_ok=True)
    imputer.transform(frame).to_csv(args.output, index=False)
    print("wrote", args.output)
    print("\n".join(compared(filled, frame, hidden)))


if __name__ == "__main__":
    main()

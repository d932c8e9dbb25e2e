"""An imputer of tables by size: processor seconds of `fit` and of `transform`, memory, and what it is worth.

Columns are of all kinds, about a normal law of five factors: numbers, states, yes or no, counts; a fifth of the entries
is missing. Each size has a process of its own. RMSE is of numbers, in standard deviations of their columns; accuracy of
states, beside that of the column's most frequent one. The largest table, of 500,000 rows, takes most of an hour of a
processor, and comes with --large.
"""

import json
import os
import resource
import sys
import time

from benchmarks import processes

SIZES, LARGE = ((60, 6), (2_000, 20), (20_000, 50)), (500_000, 50)
HEAD = ("rows", "columns", "fit, s", "transform, s", "memory, GB", "RMSE", "accuracy", "of the mode")


def table_of(rows, columns):
    """A complete DataFrame."""
    import numpy as np
    import pandas

    rng = np.random.default_rng(0)
    scores = rng.normal(size=(rows, 5)) @ rng.normal(size=(5, columns)) / 2
    scores = (scores + 0.5 * rng.normal(size=scores.shape)).astype(np.float32)
    kinds = (
        lambda s: s,
        lambda s: pandas.Categorical.from_codes(np.digitize(s, [-0.7, 0, 0.7]), list("abcd")),
        lambda s: pandas.array(s > 0, dtype="boolean"),
        lambda s: pandas.array(rng.poisson(np.exp(np.clip(0.5 * s, -3, 3))), dtype="Int64"),
        lambda s: s,
    )
    return pandas.DataFrame({f"x{j}": kinds[j % len(kinds)](scores[:, j]) for j in range(columns)})


def measure(rows, columns):
    import numpy as np

    import tfdsmcmc as ds

    whole = table_of(rows, columns)
    missing = np.random.default_rng(1).random(whole.shape) < 0.2
    begun = time.process_time()
    imputer = ds.Imputer(random_state=0).fit(gaps := whole.mask(missing))
    learnt = time.process_time()
    filled = imputer.transform(gaps)
    found = {"fit": learnt - begun, "transform": time.process_time() - learnt}
    errors, right, often = [], [], []
    for j, name in enumerate(whole):
        truth, guess, m = whole[name], filled[name], missing[:, j]
        if truth.dtype in ("float32", "Int64"):
            truth, guess = truth.astype(float).to_numpy(), guess.astype(float).to_numpy()
            errors.append(np.sqrt(np.square(guess - truth)[m].mean()) / truth.std())
        else:
            right.append((guess.astype(str) == truth.astype(str))[m].mean())
            often.append((truth.astype(str).mode()[0] == truth.astype(str))[m].mean())
    found["memory"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    print(json.dumps({**found, "worth": [float(np.mean(each)) for each in (errors, right, often)]}))


def main(args):
    print(f"\n## Tables\n\n| {' | '.join(HEAD)} |\n|{' --- |' * len(HEAD)}")
    for rows, columns in (*SIZES, *[LARGE] * args.large):
        found = processes.run([sys.executable, "-m", "benchmarks.tables", str(rows), str(columns)])
        worth = " | ".join(f"{value:.3f}" for value in found["worth"])
        seconds = f"{found['fit']:.0f} | {found['transform']:.0f}"
        print(f"| {rows:,} | {columns} | {seconds} | {found['memory']:.1f} | {worth} |", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    measure(*map(int, sys.argv[1:]))

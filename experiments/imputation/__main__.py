"""Imputation beside scikit-learn's: log-loss and accuracy on missing entries of held-out rows.

    python recipes/imputation_table.py --dataset ocr_letters
    python recipes/imputation_table.py --dataset adult

Entries of test rows are missing completely at random, 10, 30 and 50 in a hundred. All imputers have seen the same
training rows: complete ones, or rows with the same share of gaps as the test rows. Iterative imputation learns nothing
from complete rows, as it has nothing to iterate over. Nearest neighbours state (s + ½)/(10 + 1) for s ones among ten.
"tfdsmcmc" is `methods.dsgnht_nais()` with its defaults, averaged over the posterior samples of all chains; from rows
with gaps a data layer DARN or NADE learns by `methods.dsgnht_gibbs(draw_missing=True)`, its samples with equal weights.
--learnt adds what other recipes have learnt, from complete training and validation rows, with equal weights too.

Log-loss in nats a missing entry, of the probability that the method states for a one, kept within [0.001, 0.999];
accuracy of the more probable value in percent. Standard errors are over the rows. In --output/results.json, after each
line, the same with the arguments and the seconds; what an earlier call left there of other shares, or seen otherwise,
stays.
"""

import argparse
import json
import os
import pathlib
import time
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import numpy as np
from posterior_run import posterior_run

import tfdsmcmc as ds
from tfdsmcmc import checks

SEEN = ("complete", "gaps")


def parse():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--dataset", default="ocr_letters")
    add("--architecture", default="SBN/SBN 200-50", help="as in models.from_name (default SBN/SBN 200-50)")
    add("--updates", type=int, default=20000, help="minibatches to learn from (default 20000)")
    add("--posterior-samples", type=int, default=5, help="of each chain (default 5)")
    add("--missing", type=float, nargs="+", default=[0.1, 0.3, 0.5], help="shares of missing entries")
    add("--seen", nargs="+", choices=SEEN, default=SEEN, help="what imputers learn from (default complete gaps)")
    add("--learnt", nargs="+", type=pathlib.Path, default=[], help="folders with a model.keras and, maybe, a posterior")
    add("--burn-in", type=int, default=50, help="sweeps of each chain of imputations, at each θ (default 50)")
    add("--sweeps", type=int, default=50, help="after them (default 50)")
    add("--rows", type=int, default=500, help="random test rows (default 500)")
    add("--train-rows", type=int, default=None, help="random training rows, for all methods (default all)")
    add("--data-dir", default=None)
    add("--output", default=None, help="default runs/imputation_DATASET")
    add("--seed", type=int, default=0)
    return parser.parse_args()


def gaps(x, share, rng):
    """The rows as float32, with NaN in a share of the entries, completely at random."""
    return np.where(rng.random(x.shape) < share, np.nan, x).astype(np.float32)


def learn(args, train, folder):
    """A function from rows with gaps to probabilities, by posterior samples that have learnt from `train`.

    A data layer whose units depend on each other learns from rows with gaps by drawing what is missing."""
    ones, seen = np.nansum(train, 0, dtype=np.float64), np.isfinite(train).sum(0)
    logits = np.log((ones + 1) / (seen - ones + 1)).astype(np.float32)
    arguments = args.architecture, args.updates, args.posterior_samples, args.seed
    if autoregressive(args) and np.isnan(train).any():
        drawing = {"method": "dsgnht_gibbs", "draw_missing": True}
        model, posterior = posterior_run(folder, train, *arguments, data_logits=logits, **drawing)
        return imputer(args, model, posterior, posterior_weights="equal")
    model, posterior = posterior_run(folder, train, *arguments, data_logits=logits)
    return imputer(args, model, posterior)


def autoregressive(args):
    """Whether units of the data layer depend on each other."""
    return args.architecture.strip().startswith(("DARN", "NADE"))


def learnt_elsewhere(args, folder):
    """The same by a model that is there, at its weights where there are no posterior samples."""
    model, samples = keras.saving.load_model(folder / "model.keras"), folder / "posterior"
    posterior = ds.posterior.load(samples) if samples.exists() else None
    # a recognition network that has not learnt cannot weigh them
    return imputer(args, model, posterior, posterior_weights="equal")


def imputer(args, model, posterior, **how):
    sweeps = {"burn_in": args.burn_in, "num_samples": args.sweeps, "seed": args.seed, **how}
    return lambda x: ds.imputation.impute(model, x, posterior=posterior, **sweeps).probabilities


def neighbours(train):
    """The same by ten nearest neighbours, with half a one and half a zero more."""
    from sklearn.impute import KNNImputer

    imputer = KNNImputer(n_neighbors=10).fit(train)
    return lambda x: np.where(np.isnan(x), (10 * imputer.transform(x) + 0.5) / 11, x)


def iterative(train):
    """The same by Bayesian ridge regressions in turn."""
    from sklearn.experimental import enable_iterative_imputer  # noqa: F401
    from sklearn.impute import IterativeImputer

    return IterativeImputer(random_state=0).fit(train).transform


def means(train):
    """The same by the means of the columns."""
    from sklearn.impute import SimpleImputer

    return SimpleImputer().fit(train).transform


def imputers(args, complete, gappy, folder, share):
    """Pairs (what was seen, name, function that makes the imputer)."""
    yield "complete", "column means", lambda: means(complete)
    yield "complete", "10 nearest neighbours", lambda: neighbours(complete)
    yield "complete", "tfdsmcmc", lambda: learn(args, complete, folder / "complete")
    for place in args.learnt:
        yield "complete", f"tfdsmcmc: {place}", lambda place=place: learnt_elsewhere(args, place)
    yield "gaps", "column means", lambda: means(gappy)
    yield "gaps", "10 nearest neighbours", lambda: neighbours(gappy)
    yield "gaps", "iterative (Bayesian ridge)", lambda: iterative(gappy)
    yield "gaps", "tfdsmcmc", lambda: learn(args, gappy, folder / f"gaps_{share}")


def score(truth, missing, probabilities):
    """Log-loss a missing entry and accuracy, with standard errors over the rows."""
    p = np.clip(probabilities, 1e-3, 1 - 1e-3)
    loss = -np.where(truth == 1, np.log(p), np.log1p(-p))
    right = 100.0 * ((p > 0.5) == (truth == 1))
    scores = {}
    for name, values in (("log_loss", loss), ("accuracy", right)):
        of_rows, counts = (values * missing).sum(1), missing.sum(1)
        ratio = of_rows.sum() / counts.sum()
        # a ratio of two means over rows
        error = np.std(of_rows - ratio * counts, ddof=1) / counts.mean() / np.sqrt(len(counts))
        scores[name], scores[f"{name}_error"] = float(ratio), float(error)
    return scores


def write(path, arguments, rows):
    """Writes the rows, each with its arguments, beside those of earlier calls that are not among them."""
    rows = [{**row, "arguments": arguments} for row in rows]
    parts = ("missing", "seen", "method")
    new = {tuple(row[part] for part in parts) for row in rows}
    earlier = json.loads(path.read_text())["rows"] if path.exists() else []
    earlier = [row for row in earlier if tuple(row[part] for part in parts) not in new]
    ds.files.write_json(path, {"rows": [*earlier, *rows]}, indent=2)


def check(args):
    """What cannot be done is told before any work."""
    checks.nonnegative_integer("burn_in", args.burn_in)
    for name in ("sweeps", "updates", "posterior_samples", "rows"):
        checks.positive_integer(name, getattr(args, name))
    for share in args.missing:
        if not 0 < share < 1:
            raise ValueError(f"--missing has shares between 0 and 1. Received: {share}")
    if args.learnt and "complete" not in args.seen:
        raise ValueError(f"--learnt is for --seen complete. Received: --seen {' '.join(args.seen)}")
    for place in args.learnt:
        if not (place / "model.keras").exists():
            raise ValueError(f"--learnt names folders with a model.keras. Received: {place}")


def main():
    args = parse()
    check(args)
    warnings.simplefilter("ignore", UserWarning)
    output = pathlib.Path(args.output or f"runs/imputation_{args.dataset}")
    data = ds.datasets.load(args.dataset, args.data_dir)
    rng = np.random.default_rng(args.seed)
    truth = data.test[rng.permutation(len(data.test))[: args.rows]]
    complete = data.train[rng.permutation(len(data.train))[: args.train_rows]]

    output.mkdir(parents=True, exist_ok=True)
    rows = []
    for share in args.missing:
        rng = np.random.default_rng([args.seed, round(1000 * share)])
        x = gaps(truth, share, rng)
        gappy = gaps(complete, share, np.random.default_rng([args.seed, round(1000 * share), 1]))
        for seen, name, make in imputers(args, complete, gappy, output, share):
            if seen not in args.seen:
                continue
            begun = time.monotonic()
            found = score(truth, np.isnan(x), make()(x))
            seconds = round(time.monotonic() - begun, 1)
            rows.append({"missing": share, "seen": seen, "method": name, **found, "seconds": seconds})
            write(output / "results.json", {**vars(args), "learnt": [str(place) for place in args.learnt]}, rows)
            print(
                f"{share:4.0%}  {seen:<9} {name:<27}log-loss {found['log_loss']:.4f} ± {found['log_loss_error']:.4f}   "
                f"accuracy {found['accuracy']:.2f} ± {found['accuracy_error']:.2f} %   {seconds:.1f} s",
                flush=True,
            )
    print(f"wrote {output / 'results.json'}")


if __name__ == "__main__":
    main()

"""Do intervals of pooled imputations cover? Simulated tables whose truth is known, of mixed columns.

    python -m experiments.imputation.coverage --tables 100

a ~ N(0, 1),  y = 0.8 a + N(0, 0.6²),  b ~ Bernoulli(σ(1.2 a)),  k ~ Poisson(exp(0.7 + 0.5 a)); y is missing with
probability σ(a − ½) and b with 0.6 σ(a), both at random given a. Of each table: the mean of y, the slope of y on a, and
the share of ones of b, by ten imputations and Rubin's rules. "complete rows" leaves out rows with gaps, "whole table"
knows all. Coverage is of intervals of 95 in 100, ± its standard error; the ratio is the mean stated standard error to
the standard deviation of the estimates.

Each table of each method is a line of --output/tables.jsonl; a further call goes on.
"""

import json
import pathlib
import warnings

import numpy as np
import pandas
import scipy.special

import tfdsmcmc as ds
from experiments.common.arguments import number, parser_of

TRUTH = {"mean of y": 0.0, "slope": 0.8, "share of b": 0.5}
METHODS = {
    "VAE, iwae (default)": {},
    "VAE, dsgnht_nais": {"method": "dsgnht_nais", "method_options": {"num_chains": 1}},
    "SBN, dsgnht_nais": {"architecture": "SBN/SBN 10"},
}
REFERENCES = ("complete rows", "whole table")


def table(seed, rows):
    """(the table with gaps, the whole one)."""
    rng = np.random.default_rng(seed)
    a = rng.normal(size=rows)
    y, b = 0.8 * a + 0.6 * rng.normal(size=rows), rng.random(rows) < scipy.special.expit(1.2 * a)
    whole = pandas.DataFrame(
        {"a": a, "y": y, "b": pandas.array(b, dtype="boolean"), "k": rng.poisson(np.exp(0.7 + 0.5 * a))}
    )
    gaps = whole.copy()
    gaps.loc[rng.random(rows) < scipy.special.expit(a - 0.5), "y"] = np.nan
    gaps.loc[rng.random(rows) < 0.6 * scipy.special.expit(a), "b"] = pandas.NA
    return gaps, whole


def analysis(frame):
    """(estimates, variances) of a table without gaps."""
    a, y, b = (frame[name].to_numpy(float) for name in ("a", "y", "b"))
    x = np.stack([np.ones_like(a), a], 1)
    inverse = np.linalg.inv(x.T @ x)
    coefficients = inverse @ x.T @ y
    noise = np.square(y - x @ coefficients).sum() / (len(y) - 2)
    share = b.mean()
    return [y.mean(), coefficients[1], share], [
        y.var(ddof=1) / len(y),
        noise * inverse[1, 1],
        share * (1 - share) / len(b),
    ]


def line(method, seed, args):
    """{estimate, standard error, cover} of a table by a method, lists over what is estimated."""
    gaps, whole = table(seed, args.rows)
    if method in REFERENCES:
        frames = [whole if method == "whole table" else gaps.dropna()] * 2
    else:
        options = {"updates": args.updates, "posterior_samples": args.imputations, "random_state": seed}
        imputer = ds.Imputer(**options, imputation_options={"burn_in": 30}, **METHODS[method]).fit(gaps)
        frames = imputer.impute(gaps, args.imputations)
    estimates, variances = map(np.array, zip(*map(analysis, frames)))
    pooled = ds.imputation.pool(estimates, variances, args.rows - 2)
    low, high = pooled.interval(0.95)
    truth = np.array(list(TRUTH.values()))
    found = {"estimate": pooled.estimate, "error": pooled.standard_error, "cover": (low < truth) & (truth < high)}
    return {"method": method, "seed": seed, "rows": args.rows} | {name: part.tolist() for name, part in found.items()}


def summary(lines):
    """Prints coverage, bias and the ratio of stated to found errors."""
    print("| method | tables | of | coverage | bias | stated / found error |\n| --- | --- | --- | --- | --- | --- |")
    for method in (*METHODS, *REFERENCES):
        own = [each for each in lines if each["method"] == method]
        if len(own) < 2:
            continue
        estimate, error, cover = (np.array([each[name] for each in own]) for name in ("estimate", "error", "cover"))
        for i, (name, truth) in enumerate(TRUTH.items()):
            share, spread = cover[:, i].mean(), estimate[:, i].std(ddof=1)
            bias = estimate[:, i].mean() - truth
            print(
                f"| {method} | {len(own)} | {name} | {share:.2f} ± {np.sqrt(share * (1 - share) / len(own)):.2f} "
                f"| {bias:+.3f} ± {spread / np.sqrt(len(own)):.3f} | {error[:, i].mean() / spread:.2f} |"
            )


def main(arguments=None):
    parser, count = parser_of("experiments.imputation.coverage", __doc__), number(int)
    parser.add_argument("--tables", type=count, default=100)
    parser.add_argument("--rows", type=count, default=250)
    parser.add_argument("--updates", type=count, default=3000, help="minibatches to learn from (default 3000)")
    parser.add_argument("--imputations", type=count, default=10)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path("runs/coverage"))
    args = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    args.output.mkdir(parents=True, exist_ok=True)
    path = args.output / "tables.jsonl"
    lines = [json.loads(each) for each in path.read_text().splitlines()] if path.exists() else []
    done = {(each["method"], each["seed"], each["rows"]) for each in lines}
    for seed in range(args.tables):
        for method in (*REFERENCES, *METHODS):
            if (method, seed, args.rows) not in done:
                lines.append(line(method, seed, args))
                with open(path, "a", encoding="utf-8") as file:
                    file.write(json.dumps(lines[-1]) + "\n")
    summary([each for each in lines if each["rows"] == args.rows])


if __name__ == "__main__":
    main()

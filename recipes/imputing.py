"""A regression on a table with gaps: several completed tables, an analysis of each, and the analyses pooled.

    python recipes/imputing.py
    python recipes/imputing.py --imputations 50

The table is scikit-learn's of 442 patients with diabetes: the disease's progress is regressed on age, sex, body mass
index, blood pressure and a serum measurement. Cells are emptied, the more the greater the body mass index is, which is
always there. Each completed table is drawn at weights of its own from their posterior, so that the pooled standard
errors, by Rubin's rules, have what the gaps hide. Beside them: the rows without gaps alone, and the whole table.
"""

import argparse

import numpy as np
import pandas
import sklearn.datasets

import tfdsmcmc as ds

PREDICTORS = ["age", "sex", "bmi", "bp", "s5"]


def tables():
    """(the table with gaps, the whole one)."""
    frame = sklearn.datasets.load_diabetes(as_frame=True, scaled=False).frame[[*PREDICTORS, "target"]]
    frame = frame.assign(sex=pandas.Categorical(frame["sex"].astype(int)))
    rng, bmi = np.random.default_rng(0), frame["bmi"]
    share = 0.45 / (1 + np.exp((bmi.mean() - bmi) / bmi.std()))
    gaps = frame.copy()
    for name in ("age", "sex", "bp", "s5", "target"):
        gaps[name] = gaps[name].mask(rng.random(len(frame)) < share)
    return gaps, frame


def regression(frame):
    """(coefficients, their variances) by least squares."""
    x = np.column_stack([np.ones(len(frame)), frame[PREDICTORS].astype(float)])
    y = frame["target"].to_numpy(float)
    inverse = np.linalg.inv(x.T @ x)
    coefficients = inverse @ x.T @ y
    noise = np.square(y - x @ coefficients).sum() / (len(y) - x.shape[1])
    return coefficients[1:], noise * np.diag(inverse)[1:]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--imputations", type=int, default=20, help="completed tables (default 20)")
    parser.add_argument("--updates", type=int, default=5000, help="minibatches to learn from (default 5000)")
    parser.add_argument("--quick", action="store_true", help="few updates, to see that it runs")
    args = parser.parse_args()
    if args.imputations < 2 or args.updates < 100:
        parser.error(f"--imputations must be 2 or more, --updates 100. Received: {args.imputations}, {args.updates}")
    gaps, whole = tables()
    options = {"burn_in": 1, "num_samples": 1, "thinning": 1} if args.quick else {}

    count, updates = (3, 20) if args.quick else (args.imputations, args.updates)
    imputer = ds.Imputer(updates=updates, posterior_samples=count, imputation_options=options, random_state=0).fit(gaps)
    completed = imputer.impute(gaps, count)
    pooled = ds.imputation.pool(*zip(*map(regression, completed)), len(gaps) - len(PREDICTORS) - 1)

    complete = gaps.dropna()
    print(f"{len(gaps)} rows, {len(complete)} without gaps; coefficients ± standard errors")
    print(f"{'':6}{'imputed':>16}{'missing':>9}{'rows without':>18}{'whole table':>18}")
    (rows, rows_v), (all_, all_v) = regression(complete), regression(whole)
    for i, name in enumerate(PREDICTORS):
        alone = [f"{q[i]:9.1f} ± {np.sqrt(v[i]):4.1f}" for q, v in ((rows, rows_v), (all_, all_v))]
        own = f"{pooled.estimate[i]:9.1f} ± {pooled.standard_error[i]:4.1f}"
        print(f"{name:6}{own}{pooled.fraction_missing[i]:9.2f}  {alone[0]}  {alone[1]}")


if __name__ == "__main__":
    main()

"""Do intervals of pooled imputations cover? Regressions of simulated tables whose coefficients are known.

    python -m experiments.imputation.coverage --design linear mixed --repetitions 200
    python -m experiments.imputation.coverage --record docs/imputation_coverage.jsonl
    python -m experiments.imputation.coverage --from docs/imputation_coverage.jsonl --page docs/imputation.md

`designs` has the tables; each is completed twenty times by every imputer that gives draws, and its regressions are put
together by Rubin's rules with Barnard's and Rubin's degrees of freedom. "complete rows" leaves out rows with gaps,
"whole table" knows all. Coverage is of intervals of 95 in 100, ± its standard error, bias ± its own; the ratio is the
mean stated standard error to the standard deviation of the estimates.

Each table of each imputer is a line of --output/tables.jsonl; a further call goes on.
"""

import pathlib
import warnings
import zlib

import numpy as np
import pandas

import tfdsmcmc as ds
from experiments.common import files
from experiments.common.arguments import number, parser_of
from experiments.common.markdown import number as printed
from experiments.common.markdown import table
from experiments.imputation.arguments import asked_for, options
from experiments.imputation.cell import IMPUTATIONS
from experiments.imputation.designs import DESIGNS, regression
from experiments.imputation.imputers import DRAWING, VARIANTS, installed

COMMAND = "experiments.imputation.coverage"
REFERENCES = ("whole table", "complete rows")
KEY = ("design", "rows", "seed", "imputer")


def key_of(line):
    """What a line is of."""
    return tuple(line[key] for key in KEY)


def line(name, rows, seed, imputer):
    """The pooled regression of a table by an imputer, a dict."""
    design = DESIGNS[name]
    gaps, whole = design.draw(np.random.default_rng([seed, zlib.crc32(name.encode())]), rows)
    if imputer in REFERENCES:
        frames = [whole if imputer == "whole table" else gaps.dropna()] * 2
    else:
        draws = {**DRAWING, **VARIANTS}[imputer](gaps, IMPUTATIONS, seed).draws
        frames = [pandas.DataFrame(each, columns=gaps.columns) for each in draws]
    estimates, variances, freedom = zip(*(regression(frame, design) for frame in frames))
    pooled = ds.imputation.pool(estimates, variances, freedom[0])
    low, high = pooled.interval(0.95)
    truth = np.array(list(design.truth.values()))
    found = {"estimate": pooled.estimate, "error": pooled.standard_error, "cover": (low < truth) & (truth < high)}
    return dict(zip(KEY, (name, rows, seed, imputer))) | {key: part.tolist() for key, part in found.items()}


def summary(lines):
    """Markdown: coverage, bias and the ratio of stated to found errors."""
    parts = []
    for name, design in DESIGNS.items():
        rows = []
        for imputer in (*REFERENCES, *DRAWING, *VARIANTS):
            own = [each for each in lines if (each["design"], each["imputer"]) == (name, imputer)]
            if len(own) > 1:
                rows += _rows(imputer, own, design.truth)
        head = ["imputer", "tables", "coefficient", "coverage", "bias", "stated / found error"]
        if rows:
            parts.append(f"**{name}**\n\n" + "\n".join(table(head, rows)))
    return ("\n\n".join(parts) or "No tables are on record yet.") + "\n"


def _rows(imputer, own, truth):
    estimate, error, cover = (np.array([each[key] for each in own]) for key in ("estimate", "error", "cover"))
    for i, (name, value) in enumerate(truth.items()):
        share, spread = cover[:, i].mean(), estimate[:, i].std(ddof=1)
        yield (
            imputer,
            len(own),
            name,
            f"{printed(share)} ± {printed(np.sqrt(share * (1 - share) / len(own)))}",
            f"{printed(estimate[:, i].mean() - value, 3, '+')} ± {printed(spread / np.sqrt(len(own)), 3)}",
            printed(error[:, i].mean() / spread),
        )


def study(args):
    """Runs what is not finished."""
    warnings.simplefilter("ignore")
    path = args.output / "tables.jsonl"
    done = {key_of(each) for each in files.lines(path)}
    args.output.mkdir(parents=True, exist_ok=True)
    for seed in range(args.repetitions):
        for name in args.design:
            for imputer in (*REFERENCES, *args.imputer):
                if (name, args.rows, seed, imputer) not in done:
                    files.append(path, line(name, args.rows, seed, imputer))


def parse(arguments=None):
    parser, count = parser_of(COMMAND, __doc__), number(int)
    add = parser.add_argument
    add("--design", nargs="+", choices=DESIGNS, default=list(DESIGNS))
    add("--imputer", nargs="+", choices=[*DRAWING, *VARIANTS], default=installed(DRAWING))
    add("--repetitions", type=count, default=200)
    add("--rows", type=count, default=200)
    add("--output", type=pathlib.Path, default=pathlib.Path("runs/imputation_coverage"))
    options(parser)
    return parser.parse_args(arguments)


def main(arguments=None):
    args = parse(arguments)
    if not asked_for(args, COMMAND, args.output / "tables.jsonl", key_of, summary):
        study(args)


if __name__ == "__main__":
    main()

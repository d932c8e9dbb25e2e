"""Imputers of several packages beside each other on public tables: docs/imputation.md.

    python -m experiments.imputation --table iris --mechanism MAR --rate 0.3 --seed 0
    python -m experiments.imputation --record docs/imputation.jsonl
    python -m experiments.imputation --from docs/imputation.jsonl --page docs/imputation.md

A cell is a table, a mechanism of `amputation`, a rate, a seed and an imputer; each option takes several, and all cells
are run that the output does not have: a finished cell is a line of --output/cells.jsonl, and an interrupted call goes
on. All imputers see the same gaps, learn from the rows that they fill, have their packages' defaults unless
`imputers` says otherwise, and are asked for 20 completed tables where they give draws. `scores` has the equations.

Each table is a process of its own. Seconds are of a process, of all its threads.
"""

import pathlib
import subprocess
import sys

from experiments.common import files
from experiments.common import public_tables as tables
from experiments.common.arguments import number, parser_of, part
from experiments.imputation import cell
from experiments.imputation.amputation import MECHANISMS
from experiments.imputation.arguments import asked_for, options
from experiments.imputation.imputers import IMPUTERS, installed
from experiments.imputation.page import page

COMMAND = "experiments.imputation"


def parse(arguments=None):
    parser = parser_of(COMMAND, __doc__)
    add, several = parser.add_argument, {"nargs": "+"}
    add("--table", **several, choices=sorted(tables.TABLES), help="(default all whose packages are there)")
    add("--mechanism", **several, choices=MECHANISMS, default=MECHANISMS)
    add("--rate", **several, type=part, default=[0.3], help="of missing entries (default 0.3)")
    add("--seed", **several, type=number(int, 0), default=[0])
    add("--imputer", **several, choices=IMPUTERS, default=installed(IMPUTERS))
    add("--output", type=pathlib.Path, default=pathlib.Path("runs/imputation"))
    options(parser)
    return parser.parse_args(arguments)


def wanted(args, lines):
    """Cells that are asked for and not in these lines: dict from (seed, rate, table) to lists of keys."""
    done, found = {cell.key_of(line) for line in lines}, {}
    for seed in args.seed:
        for rate in args.rate:
            for table in args.table or tables.names():
                for mechanism in args.mechanism:
                    for imputer in args.imputer:
                        key = table, mechanism, rate, seed, imputer
                        if key not in done:
                            found.setdefault((seed, rate, table), []).append(key)
    return found


def run(args):
    """Runs what is not finished; several tables in processes one after the other."""
    path = args.output / "cells.jsonl"
    groups = wanted(args, files.lines(path))
    if len(groups) > 1:
        for seed, rate, table in groups:
            options = ["--table", table, "--rate", str(rate), "--seed", str(seed), "--output", str(args.output)]
            options += ["--mechanism", *args.mechanism, "--imputer", *args.imputer]
            subprocess.run([sys.executable, "-m", COMMAND, *options], check=True)
        return
    args.output.mkdir(parents=True, exist_ok=True)
    for (_, _, table), keys in groups.items():
        frame = tables.load(table)
        for key in keys:
            line = cell.run(frame, *key)
            files.append(path, line)
            print(*line.values(), flush=True)


def main(arguments=None):
    args = parse(arguments)
    if not asked_for(args, COMMAND, args.output / "cells.jsonl", cell.key_of, page):
        run(args)


if __name__ == "__main__":
    main()

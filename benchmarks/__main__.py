"""python -m benchmarks [training] [gibbs] [evaluation] [averages] [serving] [rows] [boltzmann] [augmentation]
    [variational] [iterations] [collecting] [cluster] [many_draws] [starting] [roofline]
    [tables] [--reference FOLDER] [--small] [--large]

Prints tables. --small has that of serving for a small model, to see in minutes how averages compare. --large has the
largest of the tables too, which takes most of an hour. --reference names a folder with a hand-written JAX program of
the same step, jax_hand.py, run in turn with ours where it and JAX are there; --reference-python the interpreter that
has JAX.
"""

import argparse
import os
import sys

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from benchmarks import (
    augmentation,
    averages,
    boltzmann,
    cluster,
    collecting,
    evaluation,
    gibbs,
    iterations,
    many_draws,
    roofline,
    rows,
    serving,
    starting,
    tables,
    training,
    variational,
)

PARTS = {
    "training": training.main,
    "gibbs": gibbs.main,
    "evaluation": evaluation.main,
    "averages": averages.main,
    "serving": serving.main,
    "rows": rows.main,
    "boltzmann": boltzmann.main,
    "augmentation": augmentation.main,
    "variational": variational.main,
    "iterations": iterations.main,
    "collecting": collecting.main,
    "cluster": cluster.main,
    "many_draws": many_draws.main,
    "starting": starting.main,
    "roofline": roofline.main,
    "tables": tables.main,
}


def main():
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {list(PARTS)}; all by default")
    parser.add_argument("--rounds", type=int, default=3, help="rounds in which the programs take turns")
    parser.add_argument("--reference", default=os.environ.get("TFDSMCMC_REFERENCE"), help="folder of jax_hand.py")
    parser.add_argument("--reference-python", default=os.environ.get("TFDSMCMC_REFERENCE_PYTHON", sys.executable))
    parser.add_argument("--small", action="store_true", help="of serving: a small model")
    parser.add_argument("--large", action="store_true", help="of tables: that of 500,000 rows too")
    args = parser.parse_args()
    if unknown := set(args.parts) - set(PARTS):
        parser.error(f"no such parts: {sorted(unknown)}")
    for name in args.parts or PARTS:
        PARTS[name](args)


if __name__ == "__main__":
    main()

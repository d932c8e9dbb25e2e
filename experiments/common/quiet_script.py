"""Runs a script, such as a recipe, without the notes of TensorFlow's start.

    python -m experiments.common.quiet_script recipes/digits.py --quick

What follows the script are arguments of its own.
"""

import argparse
import runpy
import sys

from experiments.common.arguments import parser_of


def main(arguments=None):
    parser = parser_of("experiments.common.quiet_script", __doc__)
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="of the script")
    args = parser.parse_args(arguments)
    sys.argv = [args.script, *args.arguments]
    runpy.run_path(args.script, run_name="__main__")  # TensorFlow has started with `experiments`


if __name__ == "__main__":
    main()

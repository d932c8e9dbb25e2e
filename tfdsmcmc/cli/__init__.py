"""The command line: arguments are parsed, and the rooms that do the work are called."""

from __future__ import annotations

import sys

from tfdsmcmc.cli.arguments import parser


def main(arguments=None) -> int:
    """Runs a command; returns the exit status: 0, or 2 where the arguments or files are at fault."""
    args = parser().parse_args(arguments)
    try:
        args.run(args)
    except (ValueError, OSError) as error:
        print(f"{args.command}: {error}", file=sys.stderr)
        return 2
    return 0

"""The command line: arguments are parsed, and the rooms that do the work are called."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from tfdsmcmc.cli.arguments import parser
from tfdsmcmc.cli.quiet import quiet_start


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit status: 0, or 2 where the arguments or files are at fault."""
    args = parser().parse_args(arguments)
    # TensorFlow takes seconds to import: not before there is a command, and not for one that does without
    with quiet_start():
        commands = importlib.import_module(args.module)
    try:
        getattr(commands, args.command)(args)
    except (ValueError, OSError, ArithmeticError) as error:
        print(f"{args.command}: {error}", file=sys.stderr)
        return 2
    return 0

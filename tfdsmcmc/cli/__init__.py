"""The command line: arguments are parsed, and the rooms that do the work are called."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from tfdsmcmc.cli.arguments import parser
from tfdsmcmc.cli.quiet import quiet_start


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command; returns the exit status: 0; 2 where the arguments or files are at fault, or a package is missing;
    141, as shells have it, where nobody reads what is printed any more."""
    args = parser().parse_args(arguments)
    # TensorFlow takes seconds to import: not before there is a command, and not for one that does without
    with quiet_start():
        commands = importlib.import_module(args.module)
    try:
        getattr(commands, args.command)(args)
        print(end="", flush=True)
    except BrokenPipeError:
        status = 141
    except (ValueError, OSError, ArithmeticError, ImportError) as error:
        print(f"{args.command}: {error}", file=sys.stderr)
        status = 2
    else:
        return 0
    _drop_unwritten()
    return status


def _drop_unwritten():
    """Sees to it that what could not be written is not tried again, and complained about, at Python's exit."""
    try:
        print(end="", flush=True)
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

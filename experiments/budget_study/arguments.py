"""The arguments of commands that measure finished runs afterwards."""

import pathlib

from experiments.common.arguments import number, parser_of


def parser(command, description):
    """The parser of a command that measures, or makes a table of what is on record."""
    found = parser_of(command, description)
    add = found.add_argument
    add("runs", nargs="?", type=pathlib.Path, help="folder of finished runs, with --record")
    add("--data-dir")
    add("--test-rows", type=number(int), default=300)
    add("--test-samples", type=number(int), default=500)
    add("--record", type=pathlib.Path, help="file that what is measured is added to")
    add("--table", type=pathlib.Path, help="print the table of such a file")
    add("--page", type=pathlib.Path, help="with --table: the page that has it")
    return found


def check(args):
    """Ends a command that is told neither what to measure nor of which record to make a table, or both."""
    if (args.record is None) == (args.table is None) or (args.record is not None and args.runs is None):
        raise SystemExit("One of the two: RUNS --record FILE, or --table FILE")

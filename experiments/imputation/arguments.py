"""Options that the commands of this room share: what is found goes on record, and a page is made of it."""

import pathlib

from experiments.common import files, marked_page


def options(parser):
    """Adds the three options."""
    add = parser.add_argument
    add("--record", type=pathlib.Path, help="file that what is finished is added to")
    add("--from", dest="recorded", type=pathlib.Path, help="print the tables of such a file")
    add("--page", type=pathlib.Path, help="with --from: the page that has them")


def asked_for(args, command, finished, key_of, made):
    """Records or shows, where that is asked for; returns whether it was.

    Args:
      args: of the command.
      command: its name.
      finished: file of the lines that are finished.
      key_of: function of a line; a line takes the place of one of the same key.
      made: function of the lines on record, the text of the page.
    """
    if args.page is not None and args.recorded is None:
        raise SystemExit(f"--page needs --from. Received: --page {args.page}")
    if args.record is not None:
        lines = {key_of(line): line for line in (*files.lines(args.record), *files.lines(finished))}
        files.write_lines(args.record, [lines[key] for key in sorted(lines)])
        print(f"{len(lines)} lines in {args.record}")
    elif args.recorded is not None:
        marked_page.show(made(files.lines(args.recorded)), args.page, command)
    return args.record is not None or args.recorded is not None

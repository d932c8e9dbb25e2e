"""What the package and the documentation know of the released models.

    python -m experiments.pretrained.page --released dist/pretrained
    python -m experiments.pretrained.page

--released is the folder of `python -m experiments.pretrained`: its records go to --record, each in place of that of the
same name. From the record, with and without it, are made

    tfdsmcmc/pretrained/released.json    files, digests and sizes
    tfdsmcmc/pretrained/cards/           the cards
    docs/pretrained.md                   the cards, between the two markers; what stands outside is written by hand
"""

import json
import pathlib

from experiments.common import files, marked_page
from experiments.common.arguments import parser_of
from experiments.common.markdown import table
from experiments.pretrained.card import card

COMMAND = "experiments.pretrained.page"
ROOT = pathlib.Path(__file__).parents[2]


def made(lines):
    """What stands between the markers of the page."""
    head = ["name", "file", "bytes", "SHA-256", "processor seconds of the run"]
    parts = [*table(head, map(_row, lines)), ""]
    for line in lines:  # under the page's title
        parts += [f"#{text}" if text.startswith("#") else text for text in card(line)] + [""]
    return "\n".join(parts)


def _row(line):
    archive, seconds = line["archive"], line["run"]["processor_seconds"]
    cells = f"`{line['name']}`", f"`{archive['file']}`", f"{archive['size']:,}", f"`{archive['sha256']}`"
    return [*cells, "" if seconds is None else f"{seconds:,}"]


def write(lines, package, page):
    """Writes the package's files, and the page."""
    known = {line["name"]: line["archive"] for line in lines}
    files.write_text(package / "released.json", json.dumps(known, indent=2) + "\n")
    for line in lines:
        files.write_text(package / "cards" / f"{line['name']}.md", "\n".join(card(line)) + "\n")
    marked_page.show(made(lines), page, COMMAND)


def main(arguments=None):
    parser = parser_of(COMMAND, __doc__)
    add = parser.add_argument
    add("--released", type=pathlib.Path, default=None, help="folder of archives, cards and records")
    add("--record", type=pathlib.Path, default=ROOT / "docs" / "pretrained.jsonl")
    add("--package", type=pathlib.Path, default=ROOT / "tfdsmcmc" / "pretrained")
    add("--page", type=pathlib.Path, default=ROOT / "docs" / "pretrained.md")
    args = parser.parse_args(arguments)
    lines = {line["name"]: line for line in files.lines(args.record)}
    if args.released is not None:
        found = [files.read_json(path) for path in sorted(args.released.glob("*.json"))]
        if not found:
            parser.error(f"--released has no record. Received: {args.released}")
        lines |= {line["name"]: line for line in found}
        files.write_lines(args.record, (lines[name] for name in sorted(lines)))
    write([lines[name] for name in sorted(lines)], args.package, args.page)
    print(f"{len(lines)} models in {args.record}")


if __name__ == "__main__":
    main()

"""Pages of which a command makes a part, between two markers; what is outside of them is written by hand and stays."""

from experiments.common import files


def markers(command):
    """The two lines of `python -m COMMAND`."""
    return tuple(f"<!-- made by python -m {command}: {end} -->" for end in ("begin", "end"))


def with_made(page, made, command):
    """The page with this text between the markers of the command.

    Raises:
      ValueError: if the page has not one of each, in their order.
    """
    begin, end = markers(command)
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"The page must have the lines {begin!r} and {end!r}, once each. Received: a page without")
    before, rest = page.split(begin)
    return f"{before}{begin}\n\n{made}\n{end}{rest.split(end)[1]}"


def show(made, page, command):
    """Prints a text, or puts it between the markers of a page where one is named."""
    if page is None:
        print(made)
    else:
        files.write_text(page, with_made(page.read_text(encoding="utf-8"), made, command))

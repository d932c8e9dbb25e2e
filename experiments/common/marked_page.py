"""Pages of which a recipe makes a part, between two markers; what is outside of them is written by hand and stays."""

import tfdsmcmc as ds


def markers(recipe):
    """The two lines."""
    return tuple(f"<!-- made by recipes/{recipe}: {end} -->" for end in ("begin", "end"))


def with_made(page, made, recipe):
    """The page with this text between the markers of the recipe.

    Raises:
      ValueError: if the page has not one of each, in their order.
    """
    begin, end = markers(recipe)
    if page.count(begin) != 1 or page.count(end) != 1 or page.index(begin) > page.index(end):
        raise ValueError(f"The page must have the lines {begin!r} and {end!r}, once each. Received: a page without")
    before, rest = page.split(begin)
    return f"{before}{begin}\n\n{made}\n{end}{rest.split(end)[1]}"


def write(path, text):
    """Writes a text file whole, unless it says that already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        with ds.files.replacing(path) as temporary:
            temporary.write_text(text, encoding="utf-8")

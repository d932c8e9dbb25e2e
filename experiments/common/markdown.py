"""Numbers and tables as Markdown has them."""


def number(value, digits=2, sign=""):
    """A number as it is printed; None is one that is not finite."""
    return "not finite" if value is None else f"{value:{sign}.{digits}f}".replace("-", "−")


def table(header, rows):
    """The lines of a table, for a header and rows of cells."""
    return ["| " + " | ".join(map(str, cells)) + " |" for cells in (header, ["---"] * len(header), *rows)]


def cell(value, digits=2):
    """A number as a cell has it; "" stays an empty cell."""
    return "" if value == "" else number(value, digits)

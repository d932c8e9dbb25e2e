"""The table of deep belief networks: the published bounds beside ours."""

# nats a row by the bound of 500-2000: test, training
PUBLISHED = {1: (-100.64, -97.67), 3: (-98.29, -94.86), 25: (-86.22, -82.47)}


def label(line):
    """The first cell of a network's row."""
    arguments, epochs = line["arguments"], "+".join(map(str, line["epochs"]))
    about = [line["model"], f"{epochs} epochs"]
    if line.get("fine_tuning"):
        about.append(f"{line['fine_tuning']} of all layers")
    if arguments["persistent"]:
        names = ("rate", "decay")  # older lines have no rate
        about += [f"{name} {arguments[name]:g}" for name in names if name in arguments]
    if arguments["lowest"]:
        about.append(f"the lowest {arguments['lowest']}")
    return ", ".join(about)


def table(lines):
    """The published bounds beside ours, as text.

    Each ± is over rows alone: the error of log Z is the same for all rows, and in a column of its own. An estimate of
    log Z from below is too low on average, and a bound with it too high.
    """
    head = (
        "| network | log Z below (3 errors) | above | bound, test ± over rows, without the error of log Z; with log Z "
        "from below too high on average | training | by importance, test | published |"
    )
    rows = [head, "|" + " --- |" * 7]
    for line in lines:
        below = line["log_partition"]
        low, high = ("−∞" if e is None else f"{below + e:.2f}" for e in line["interval_less_value"])
        bounds = [line["test"], line["train"], line["test"]["importance"]]
        cells = [f"{part['value']:.2f} ± {part['row_standard_error']:.2f}" for part in bounds]
        arguments = line["arguments"]
        known = arguments["widths"] == [500, 2000] and not arguments["persistent"] and PUBLISHED.get(arguments["steps"])
        published = ", ".join(f"{number:.2f}" for number in known) if known else "–"
        rows.append(
            f"| {label(line)} | {below:.2f} ({low}, {high}) | "
            f"{line['log_partition_above']:.2f} ({line['starts_above']}) | {' | '.join(cells)} | {published} |"
        )
    return "\n".join(rows)

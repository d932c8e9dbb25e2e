"""The table of Boltzmann machines: the published figures beside ours."""

import re

from experiments.common import files

# log Z, its estimate, and nats a row of test and training data by the exact log Z, where there is one, or the estimate
PUBLISHED = {
    "CD1(20)": (279.59, 279.57, -164.52, -164.89),
    "CD1(25)": (255.41, 256.52, -151.57, -152.35),
    "CD3(25)": (307.47, 307.63, -143.03, -143.94),
    "CD1(500)": (None, 350.15, -125.53, -122.86),
    "CD3(500)": (None, 280.09, -105.50, -102.81),
    "CD25(500)": (None, 451.28, -86.34, -83.10),
}


def parts(name):
    """(whether the chains are persistent, k, M) of CDk(M) or PCDk(M)."""
    found = re.fullmatch(r"(P?)CD(\d+)\((\d+)\)", name)
    if not found:
        raise SystemExit(f"A machine is called CDk(M) or PCDk(M). Received: {name}")
    return bool(found[1]), int(found[2]), int(found[3])


def finished(path):
    return {line["model"]: line for line in files.lines(path)}


def label(line):
    """The first cell of a machine's row."""
    epochs, arguments, cell = line["epochs"], line["arguments"], line["model"]
    if not parts(cell)[0]:
        return f"{cell}, {epochs} epochs"
    start = arguments.get("start")
    begun = f", from {line.get('epochs_before', '?')} epochs of {start}" if start else ""
    return f"{cell}, {epochs} epochs, decay {arguments['decay']:g}{begun}"


def table(lines):
    """The published figures beside ours, as text."""
    head = (
        "| model | log Z exact | below ± 3 errors | above | test ± over rows alone | train "
        "| published: log Z, estimate, test, train |"
    )
    rows = [head, "|" + " --- |" * 7]
    for name, line in lines.items():
        below, above = line["below"], line["above"]
        log_z = line.get("exact") or below["log_partition"]
        low, high = (f"{end:.2f}" if end is not None else "−∞" for end in below["interval"])
        splits = [line[split] for split in ("test", "train")]
        rates = [f"{split['unnormalized'] - log_z:.2f} ± {split['row_error']:.2f}" for split in splits]
        published = ", ".join("–" if number is None else f"{number:.2f}" for number in PUBLISHED.get(name, ()))
        exact = f"{line['exact']:.2f}" if "exact" in line else "–"
        rows.append(
            f"| {label(line)} | {exact} | {below['log_partition']:.2f} ({low}, {high}) | "
            f"{above['log_partition']:.2f} ({line['starts_above']}) | {' | '.join(rates)} | {published} |"
        )
    return "\n".join(rows)

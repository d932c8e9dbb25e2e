r"""The curves of rows on record: test log-likelihood against seconds, and against rows visited, a line a row.

    python -m experiments.method_table.report.figures runs/table/*/results.jsonl --dataset ocr_letters \
        --architecture "SBN/SBN 200"

The test rows are the few hundred that a table looks at along the way, the same for all methods; weights are the last
ones. Methods that draw z by Gibbs sampling are looked at by short annealing runs in place of importance
samples, and rows of theirs that were learnt before, as those of MNIST on record, on 50 of the rows.
"""

import pathlib

from matplotlib.figure import Figure

import tfdsmcmc as ds
from experiments.common.arguments import parser_of
from experiments.method_table import rows_file

_AXES = (("seconds", "seconds of learning"), ("rows", "rows visited"))


def curves(rows, title=None):
    """The figure of some rows.

    Args:
      rows: list of dicts, see `experiments.method_table`.
      title: of the figure.

    Returns:
      `matplotlib.figure.Figure`.
    """
    figure = Figure(figsize=(9.0, 3.8), layout="constrained")
    panels = figure.subplots(1, 2, sharey=True)
    for axes, (name, label) in zip(panels, _AXES):
        for row in rows:
            # the axis is logarithmic, and the first round of a run takes no seconds until the second has been made
            points = [point for point in row["curve"] if point["test"] is not None and point[name] > 0]
            what = f"{row['method']}, seed {row['settings']['seed']}"
            values = [point["test"] for point in points]
            axes.plot([point[name] for point in points], values, marker="o", markersize=3, label=what)
        axes.set_xscale("log")
        axes.set_xlabel(label)
        axes.grid(alpha=0.3)
    panels[0].set_ylabel("test log-likelihood (nats a row)")
    panels[1].legend(fontsize=8)
    figure.suptitle(title or "")
    return figure


def main(arguments=None):
    parser = parser_of("experiments.method_table.report.figures", __doc__)
    parser.add_argument("files", nargs="+", type=pathlib.Path, help="results.jsonl of tables")
    parser.add_argument("--dataset", required=True)
    parser.add_argument("--architecture", required=True)
    parser.add_argument("--output", default="runs/curves.png")
    args = parser.parse_args(arguments)
    found = [row for file in args.files for row in rows_file.finished(file).values()]
    wanted = (args.dataset, args.architecture)
    rows = [row for row in found if (row["dataset"], row["architecture"]) == wanted and row.get("curve")]
    if not rows:
        known = sorted({f"{row['dataset']}, {row['architecture']}" for row in found if row.get("curve")})
        raise ValueError(f"There are curves of {known}. Received: {', '.join(wanted)}")
    print("wrote", ds.plots.save(curves(rows, f"{args.architecture}, {args.dataset}"), args.output))


if __name__ == "__main__":
    main()

"""The published tables of sigmoid belief networks by Pólya-Gamma augmentation, ours beside them, as text.

    python -m experiments.augmentation.table runs/augmentation/results.jsonl runs/*/results.jsonl

The files are those of `experiments.augmentation`: of its gibbs, variational_bayes and pretraining_bound, of any data
sets; each line of theirs is a row of the table of its data set, and so is what was published and has no line. Nats a
test row, ± error over rows:

    bound             mean-field lower bound at the means of the weights
    log-likelihood    by annealed importance sampling, at the last draw and at the mean of the kept weights; published
                      is what Du, Zhu and Zhang measured. Without hidden units it is exact, at the means of the weights
    harmonic mean     over the kept sweeps. Its variance is infinite in practice, and it lies far above the truth: it
                      stands beside annealing as what it is, and nowhere else
"""

import pathlib

from experiments.common import files, published
from experiments.common.arguments import parser_of
from experiments.common.markdown import number, table

METHODS = {  # of the literature, by the name that they have there
    "mean-field VB": "variational Bayes",
    "mean-field VB with labels": "variational Bayes with labels",
    "online VB": "online variational Bayes",
    "Pólya-Gamma Gibbs": "Gibbs sampling",
    "Pólya-Gamma Gibbs, by annealing": "Gibbs sampling",
}
OURS = {"vb": "variational Bayes", "online": "online variational Bayes"}
COLUMNS = ("bound", "log-likelihood", "harmonic mean")


def published_rows(dataset):
    """{(model, method): {column: figure}} of the literature, figures as text."""
    found = {}
    for figure in published.PUBLISHED.get(dataset, []):
        if figure.method not in METHODS:
            continue
        column = "log-likelihood"
        if figure.note.startswith("a lower bound"):
            column = "bound"
        elif figure.note.startswith("harmonic"):
            column = "harmonic mean"
        row = found.setdefault((figure.model, METHODS[figure.method]), {})
        row[column] = figure.log_likelihood.replace("-", "−")
    # where annealing has measured nothing, the harmonic mean has no place
    return {key: row for key, row in found.items() if set(row) != {"harmonic mean"}}


def row_of(line):
    """(data set, (model, method), what was learnt, {column: figure}) of a line of results."""
    arguments = line.get("arguments", {})
    if "harmonic_mean" in line:
        draws = [f"{_figure(line[part], 'log_likelihood')} ({name})" for part, name in _PARTS]
        cells = {"log-likelihood": ", ".join(draws), "harmonic mean": number(line["harmonic_mean"])}
        key = f"SBN/SBN {line['architecture']}", "Gibbs sampling"
        return arguments["dataset"], key, f"{line['rows']:,} rows, prior {arguments['prior']}", cells
    if "test_means" in line:
        key = arguments["model"], OURS[arguments["method"]]
        column = "bound" if " " in arguments["model"] else "log-likelihood"
        what = f"{line['training_rows']:,} rows, {arguments['covariance']} covariance"
        what += ", layer by layer first" if "after_phases" in line else ""
        return arguments["dataset"], key, what, {column: _figure(line["test_means"], "value")}
    raise ValueError(f"Lines of results are of Gibbs sampling or variational Bayes. Received: one with {sorted(line)}")


def tables(lines):
    """The tables of some lines, and of nothing but what was published for a data set without any: Markdown."""
    by_dataset = {}
    for dataset, *row in map(row_of, lines):
        by_dataset.setdefault(dataset, []).append(row)
    for dataset in published.PUBLISHED:
        if published_rows(dataset):
            by_dataset.setdefault(dataset, [])
    return "\n\n".join(f"### {dataset}\n\n{_table(dataset, by_dataset[dataset])}" for dataset in sorted(by_dataset))


def _table(dataset, rows):
    known = published_rows(dataset)
    keys = sorted({*known, *(key for key, _, _ in rows)}, key=lambda key: (key[1], key[0]))
    heads = [f"{column}, {whose}" for column in COLUMNS for whose in ("published", "ours")]
    made = []
    for key in keys:
        for what, cells in [row[1:] for row in rows if row[0] == key] or [("", {})]:
            pairs = [part.get(column, "") for column in COLUMNS for part in (known.get(key, {}), cells)]
            made.append([key[0], f"{key[1]}, {what}" if what else key[1], *pairs])
    return "\n".join(table(["network", "method", *heads], made))


_PARTS = (("last", "last draw"), ("mean", "mean of weights"))


def _figure(estimate, name):
    return f"{number(estimate[name])} ± {estimate['row_standard_error']:.2f}"


def main(arguments=None):
    parser = parser_of("experiments.augmentation.table", __doc__)
    parser.add_argument("files", nargs="*", type=pathlib.Path, help="results.jsonl of runs; each is read once")
    args = parser.parse_args(arguments)
    paths = dict.fromkeys(path.resolve() for path in args.files)
    print(tables([line for path in paths for line in files.lines(path)]))


if __name__ == "__main__":
    main()

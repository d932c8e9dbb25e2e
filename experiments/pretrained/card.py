"""The card of a model, in Markdown, of what was measured.

The archive has it, whose digest is that of all archives made alike: what differs from one run to the next, such as its
seconds, stands beside the archive alone.
"""

from experiments.common.markdown import number, table
from experiments.pretrained.data import LICENCES, SOURCES
from experiments.pretrained.measuring import SAME, TEST

_SETTINGS = {
    "architecture": "architecture",
    "hidden_units": "hidden units",
    "epochs": "epochs, at most",
    "num_chains": "chains",
    "num_draws": "posterior samples of each chain",
    "learning_rate": "learning rate at the beginning",
    "momentum": "momentum",
    "cd_steps": "Gibbs steps of contrastive divergence, at most",
    "seed": "seed",
}


def card(line):
    """The lines of the card of a record's line, under a title of the first level."""
    is_machine = line["kind"] == "machine"
    return [
        f"# {line['name']}",
        "",
        _first(line),
        "",
        "## Data",
        "",
        f"{SOURCES[line['dataset']]} Licence: {LICENCES[line['dataset']]}",
        "",
        *table(["split", "rows", "used"], _splits(line)),
        "",
        "## Settings",
        "",
        _method(line),
        "",
        *table(["setting", "value"], _settings(line)),
        "",
        "## Log-likelihood",
        "",
        *(_machine_figures(line) if is_machine else _posterior_figures(line)),
        "",
        "## Use",
        "",
        *_use(line),
        "",
        "## Licence and versions",
        "",
        "The weights are under the Apache License 2.0, as the package is.",
        "",
        *table(["package", "version"], line["versions"].items()),
    ]


def _first(line):
    settings = line["settings"]
    if line["kind"] == "machine":
        units = f"{line['units']} visible and {settings['hidden_units']} hidden units"
        return f"A restricted Boltzmann machine of {units}, learnt on {line['dataset']}. It is one set of weights."
    draws = f"{line['draws']} posterior samples of {settings['num_chains']} chains"
    return f"The network `{settings['architecture']}`, learnt on {line['dataset']}: {draws}."


def _method(line):
    if line["kind"] == "machine":
        return (
            "The optimizer is `SGD`, the gradient that of `ContrastiveDivergence`. The chains begin at the rows and "
            "grow. The rate falls along a cosine. The prior is flat."
        )
    return (
        "The method is `dsgnht_nais()` with its defaults. The prior has a learnt scale for "
        f"{line.get('scales', 'the weights that leave each unit')}. The samples are spread over "
        f"the last part of the run. Validation rows chose to average over {_AVERAGES[line['average']]}."
    )


_AVERAGES = {
    "weights": "the weights of each chain",
    "units": "the units of each chain",
    "draws": "the samples",
    "weights_and_start": "the weights of each chain, mixed with those at which sampling began",
    "units_and_start": "the units of each chain, mixed with the weights at which sampling began",
    "start": "the weights at which sampling began",
}


def _splits(line):
    used = {"train": "to learn from", "valid": "to look at while it learnt", "test": "for the figures"}
    if line["kind"] == "posterior":
        few = f"{line['settings']['valid_rows']:,} of them "
        few = few if line["settings"]["valid_rows"] < line["rows"]["valid"] else ""
        used["valid"] = f"{few}to end the climb; some of these choose the average"
    return [(split, f"{line['rows'][split]:,}", used[split]) for split in ("train", "valid", "test")]


def _settings(line):
    rows = [(title, f"`{line['settings'][key]}`") for key, title in _SETTINGS.items() if key in line["settings"]]
    rows.append(("minibatch", "100 rows"))
    rows.append(("updates", f"{line['run']['updates']:,}"))
    return rows


def _posterior_figures(line):
    head = ["of", "rows", "estimate", "bound from", "nats a row", "Monte Carlo error", "error over rows"]
    gap = next(figure for figure in line["figures"] if figure["of"] == "gap")
    return [
        *table(head, [_row(figure, line["rows"]["test"]) for figure in line["figures"]]),
        "",
        "Importance sampling and annealing bound the log-likelihood from below, in expectation. There is an upper "
        "bound of rows that the model itself has drawn. "
        f"On those the bounds are {number(gap['value'], 3)} ± {number(gap['row_standard_error'], 3)} nats apart. "
        "That test rows are as easy is an assumption. The model is at the mean of the first chain's weights.",
    ]


def _row(figure, test_rows):
    """The cells of a figure; of fewer rows than the test split has they are random."""
    is_gap, error = figure["of"] == "gap", figure.get("standard_error")
    value, row_error = (number(figure[name], 3 if is_gap else 2) for name in ("value", "row_standard_error"))
    cells = [value, "" if error is None else number(error, 3), row_error]
    what = "gap" if is_gap else figure["side"]
    count, rows = figure["count"], figure["rows"]
    rows = "of these" if rows == SAME else "random test" if rows == TEST and count < test_rows else rows
    return [figure["whose"], f"{count:,} {rows}", figure["by"], what, *cells]


def _machine_figures(line):
    partitions = [figure for figure in line["figures"] if figure["of"] == "log Z"]
    likelihoods = [figure for figure in line["figures"] if figure["of"] == "log-likelihood"]
    return [
        *table(
            ["log Z by", "bound from", "nats", "Monte Carlo error"],
            [[f["by"], f["side"], number(f["value"], 3), number(f["standard_error"], 3)] for f in partitions],
        ),
        "",
        f"Of {likelihoods[0]['count']:,} test rows, nats a row:",
        "",
        *table(
            ["log-likelihood by", "bound from", "nats a row", "Monte Carlo error", "error over rows"],
            [
                [f["by"], f["side"], number(f["value"]), number(f["standard_error"], 3),
                 number(f["row_standard_error"])]
                for f in likelihoods
            ],
        ),
        "",
        "An estimate of log Z that is too low makes the log-likelihood too high.",
    ]  # fmt: skip


def _use(line):
    if line["kind"] == "machine":
        return [
            "For: trying out samples, imputation, annealing and serving without learning first. Its log Z is known, so "
            "estimates can be tested on it.",
            "",
            "Not for: comparing methods of learning.",
        ]
    return [
        "For: trying out predictive log-likelihoods, imputation, samples and serving without learning first. Averages "
        "over samples can be compared on it.",
        "",
        "Not for: reading handwriting, or rows from elsewhere. The samples are too few for quantiles of the weights.",
    ]

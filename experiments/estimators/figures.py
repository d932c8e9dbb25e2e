"""The figures of the study, from its numbers."""

from matplotlib.figure import Figure

_BOUND = "evidence lower bound"


def figures(results):
    """The figures by name."""
    counts, unit = results["arguments"]["training_samples"], "test log-likelihood (nats a row)"
    training = {
        "mean of the weights": series_of(results["test"], "row_error"),
        _BOUND: series_of([found["bound"] for found in results["test"]], "row_error"),
    }
    in_test = {
        "importance sampling": series_of(results["test_samples"], "error"),
        _BOUND: series_of([results["bound"]] * len(results["samples"]), "error"),
    }
    drawn = {
        "training_samples": lines(counts, training, "importance samples in training, K", unit),
        "test_samples": lines(results["samples"], in_test, "importance samples in the test, K", unit),
    }
    relative = "relative to the gradient's length"
    titles = {"log_likelihood": ("likelihood", "nats"), "gradient": ("gradient", relative)}
    titles["gradient_of_batch"] = ("gradient_of_batch", relative)
    for name, (file, unit) in titles.items():
        parts = results["bootstrap"][name]
        series = {part.replace("_", " "): (parts[part]["mean"], parts[part]["error"]) for part in parts}
        drawn[file] = lines(results["samples"], series, "importance samples, K", unit)
    return drawn


def series_of(points, error):
    """Values and errors of points."""
    return [found["value"] for found in points], [found[error] for found in points]


def lines(x, series, label, unit):
    """A figure of values with their standard errors against a number of samples; bounds are dashed."""
    figure = Figure(figsize=(5.0, 3.6), layout="constrained")
    axes = figure.add_subplot()
    for name, (values, errors) in series.items():
        style = "--" if name == _BOUND else "-"
        axes.errorbar(x, values, errors, linestyle=style, marker="o", markersize=3, capsize=2, label=name)
    axes.set_xscale("log")
    axes.set_xlabel(label)
    axes.set_ylabel(unit)
    axes.grid(alpha=0.3)
    axes.legend()
    return figure

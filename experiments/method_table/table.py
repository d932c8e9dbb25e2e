"""The rows of a table: those that are asked for, each made and put on record, and the page of what is finished."""

import platform

import keras
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

import tfdsmcmc as ds
from experiments.common import files, papers
from experiments.method_table import methods, row, rows_file
from experiments.method_table.report import page
from experiments.method_table.settings import settings_of


def rows_of(args):
    """The rows that are asked for: (method, architecture, settings), of pairs that suit each other."""
    if args.papers:
        wanted = papers.rows_of(args.dataset)
    else:
        pairs = [(method, name) for name in args.architectures for method in args.methods]
        wanted = [(*pair, {}) for pair in pairs if methods.suits(*pair)]
    if not wanted:
        raise ValueError(
            "A method must suit an architecture: those of kind VAE have continuous latent variables, the others binary "
            "ones, but for one of a name without sizes, which has none and nothing for Gibbs sampling. "
            f"Received: methods={args.methods}, architectures={args.architectures}"
        )
    return [(method, name, settings_of(method, args) | own) for method, name, own in wanted]


def make(method, architecture, settings, data, output, folder):
    """Learns and evaluates a row, and adds it to the results; a row that diverges is on record as such."""
    line = {"method": method, "architecture": architecture, "dataset": settings["dataset"], "settings": settings}
    line["versions"] = versions()
    try:
        model, found = row.run(method, architecture, settings, data, folder)
    except ds.DivergedError as error:
        line |= {"failed": f"diverged: {error}", "log_likelihood": {}}
    else:
        line |= found | {"model": f"models/{rows_file.name_of(method, architecture, settings)}.keras"}
        (output / "models").mkdir(exist_ok=True)
        model.save(output / line["model"])
    with ds.files.claimed(output, wait=True):  # of several machines too
        files.append(output / "results.jsonl", line)


def versions():
    """The packages that the figures were made with."""
    packages = {"tfdsmcmc": ds, "tensorflow": tf, "keras": keras, "tensorflow_probability": tfp, "numpy": np}
    return {"python": platform.python_version(), **{name: module.__version__ for name, module in packages.items()}}


def write(dataset, wanted, output):
    """Writes the finished rows of those that are asked for; returns the text."""
    finished = rows_file.finished(output / "results.jsonl")
    rows = [finished[key] for key in (rows_file.key_of(*one) for one in wanted) if key in finished]
    text = "\n".join([f"# {dataset}", "", *page.page_of(dataset, rows)]) + "\n"
    files.write_text(output / "table.md", text)
    return text

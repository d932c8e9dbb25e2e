"""The file of a table's rows, results.jsonl, and the names of what a row leaves: no row is made twice."""

import hashlib
import json
import re

from experiments.common import files

# settings on which learning does not depend, but the figures of importance sampling do, or only those of annealing, or
# of averages over draws of the weights
OF_IMPORTANCE = ("refit_updates", "refit_learning_rate", "test_samples", "test_rows")
OF_ANNEALING = ("annealing_rows", "annealing_steps", "annealing_runs", "drawn_rows")
OF_DRAWS = ("annealing_draws", "unit_samples")


def key_of(method, architecture, settings):
    """A string that two rows share if and only if one stands for the other."""
    return json.dumps([method, architecture, settings], sort_keys=True)


def finished(path):
    """The rows in the file, a dict from their keys."""
    known = [row for row in files.lines(path) if {"method", "architecture", "settings"} <= set(row)]
    return {key_of(row["method"], row["architecture"], row["settings"]): row for row in known}


def folder_of(output, method, architecture, settings):
    """The folder of what a row has learnt, which rows that only evaluate it in other ways share."""
    return output / "learnt" / name_of(method, architecture, of_learning(settings))


def of_learning(settings):
    """The settings without those of the evaluation."""
    return {name: settings[name] for name in settings if name not in (*OF_IMPORTANCE, *OF_ANNEALING, *OF_DRAWS)}


def name_of(method, architecture, settings):
    """A name for files, other for other settings."""
    return re.sub("[^A-Za-z0-9]+", "-", f"{method} {architecture}-") + digest_of(key_of(method, architecture, settings))


def digest_of(text):
    """Some letters and digits, other for another text."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]

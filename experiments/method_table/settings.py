"""The settings of a row of a table, from the arguments of a command, and back: the command that makes a row.

A command says what differs from the defaults alone.
"""

import shlex

from experiments.method_table import methods
from experiments.method_table.arguments import parse

_COMMON = (
    "dataset binarization seed updates minutes batch_size samples hidden_units refit_updates refit_learning_rate "
    "test_samples test_rows annealing_rows annealing_steps annealing_runs drawn_rows jit_compile"
)
_OF_SAMPLERS = (
    "as_published published_prior proposal_learning_rate posterior_samples burn_in patience climbing_rate "
    "climbing_offset one_rate annealing_draws"
)
_WHERE_ASKED = "latents_first", "unit_samples"  # of rows that were asked for it: those from before have none
_SMALL_BATCH = 25  # of reweighted wake-sleep as published


def settings_of(method, args):
    """What the result of a row depends on, besides its method and architecture."""
    names = _COMMON.split() + (_OF_SAMPLERS.split() if method in methods.SAMPLERS else [])
    settings = {name: getattr(args, name) for name in names}
    asked = _WHERE_ASKED if method in methods.SAMPLERS else _WHERE_ASKED[:1]  # others have no samples to average
    settings |= {name: getattr(args, name) for name in asked if getattr(args, name)}
    settings["batch_size"] = args.batch_size or (_SMALL_BATCH if method == "rws_published" else 100)
    return settings | {"learning_rates": list(methods.rates_of(method, args))}


def command_of(row):
    """The command of a row that is on record, of what differs from the defaults.

    Where the data lie is not told, and what the settings of the row do not have is as by default.

    Args:
      row: dict, see `experiments.method_table`.

    Returns:
      String, as a shell takes it.
    """
    method, settings = row["method"], row["settings"]
    words = ["--dataset", row["dataset"], "--methods", method, "--architectures", row["architecture"]]
    words += ["--as-published"] * settings.get("as_published", False)  # which other defaults follow
    usual = settings_of(method, parse(words))
    for name in [name for name in (*usual, *_WHERE_ASKED) if name in settings and settings[name] != usual.get(name)]:
        words += _option(method, name, settings[name])
    return shlex.join(["python", "-m", "experiments.method_table", *words])


def _option(method, name, value):
    """The words of an argument with a value of the settings."""
    if name == "jit_compile":
        return ["--no-jit"]
    if name == "learning_rates":
        climbing = "momentum_rate" if method == "rws_published" else "adam"
        name = "learning_rate" if method in methods.SAMPLERS else climbing
    values = value if isinstance(value, list) else [] if value is True else [value]
    return [f"--{name.replace('_', '-')}", *[str(value).removesuffix(".0") for value in values]]

"""The arguments of `recipes/table.py`, the settings of a row among them, and back: the command that makes a row.

A command says what differs from the defaults alone.
"""

import argparse
import math
import shlex

import table_methods

import tfdsmcmc as ds

_COMMON = (
    "dataset binarization seed updates minutes batch_size samples hidden_units refit_updates refit_learning_rate "
    "test_samples test_rows annealing_rows annealing_steps annealing_runs drawn_rows jit_compile"
)
_OF_SAMPLERS = (
    "as_published published_prior proposal_learning_rate posterior_samples burn_in patience climbing_rate one_rate "
    "annealing_draws"
)
_METHODS_HELP = f"of {', '.join(table_methods.METHODS)} (default: those of the package)"
_PAPERS_HELP = (
    "the rows of the papers' tables, whatever --methods and --architectures are; what recipes/papers.py sets for some "
    "stands, whatever is given here: the evaluation of NADEs, that and units of VAEs"
)
_RATES_HELP = "of samplers; validation chooses (default 0.3, of SGLD 0.5, as published 0.01)"
_PROPOSAL_HELP = "of the samplers' φ; default that of the method, which of Gibbs methods teaches it nothing"
_CLIMBING_HELP = (
    "R of the warm start's Adam, at step t R min(1, (t + 1)/2000)/(1 + t/2000) (default 0.03, of Gibbs methods 0.003 "
    "throughout; nothing with --as-published)"
)
_PATIENCE_HELP = (
    "updates without gain on validation data that end the warm start of samplers with importance samples (default "
    "1000; nothing with --as-published)"
)
_DRAWS_HELP = (
    "posterior samples, evenly spaced, of which the predictive average of the rows that are annealed is annealed too "
    "(default 0); each takes as long as the annealing of one set of weights from below"
)
_DRAWN_HELP = (
    "rows that the model draws, which are annealed in both directions where test rows are annealed at all (default as "
    "many as these)"
)
_SMALL_BATCH = 25  # of reweighted wake-sleep as published


def number(kind, least=None):
    """A type of argument: numbers above 0, or from `least` on."""

    def parsed(text):
        value = kind(text)
        if not (value > 0 if least is None else value >= least) or not value < math.inf:
            wanted = "above 0" if least is None else f"{least} or more"
            raise argparse.ArgumentTypeError(f"must be {wanted}. Received: {text}")
        return value

    return parsed


def part(text):
    """A type of argument: numbers between 0 and 1, without either."""
    value = number(float)(text)
    if value >= 1:
        raise argparse.ArgumentTypeError(f"must be below 1. Received: {text}")
    return value


def parse(arguments=None, description=None):
    """The arguments of a command, checked."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    add, count, amount = parser.add_argument, number(int), number(float)
    rates = {"nargs": "+", "type": amount, "metavar": "RATE"}
    methods = [method for method in table_methods.METHODS if method not in table_methods.WHERE_ASKED]
    add("--dataset", default="digits", help=f"one of {', '.join(ds.datasets.names())}, or NAME.npz of your own")
    add("--methods", nargs="+", choices=table_methods.METHODS, default=methods, metavar="METHOD", help=_METHODS_HELP)
    add("--architectures", nargs="+", default=["SBN/SBN 100-50", "VAE 50"], metavar="NAME")
    add("--papers", action="store_true", help=_PAPERS_HELP)
    add("--hidden-units", nargs="+", type=count, default=[200], help="of NADE layers; of VAEs, layer by layer")
    add("--updates", type=count, default=10**9, help="at most, in rounds of 50 (default: by time alone)")
    add("--minutes", type=amount, default=4.0, help="at most, of learning, a row (default 4)")
    add("--batch-size", type=count, default=None, help="default 100, of rws_published 25")
    add("--learning-rate", **rates, help=_RATES_HELP)
    add("--adam", **rates, help="of the optimizers of methods that climb, likewise (default: that of the method)")
    add("--momentum-rate", **rates, default=[3e-4, 1e-3, 3e-3], help="of rws_published (default 0.0003 0.001 0.003)")
    add("--proposal-learning-rate", type=amount, default=None, help=_PROPOSAL_HELP)
    add("--as-published", action="store_true", help="samplers with the papers' settings and prior")
    add("--published-prior", action="store_true", help="samplers with the papers' prior, but settings of ours")
    add("--samples", type=count, default=None, help="K in learning; default that of the method")
    add("--posterior-samples", type=count, default=20)
    add("--burn-in", type=part, default=0.5, help="part of a sampler's budget (default 0.5)")
    add("--patience", type=count, default=1000, help=_PATIENCE_HELP)
    add("--climbing-rate", type=amount, default=None, help=_CLIMBING_HELP)
    add("--one-rate", action="store_true", help="of all weights of a sampler with a warm start, whatever their noise")
    add("--refit-updates", type=count, default=2000, help="of φ alone, before an evaluation (default 2000)")
    add("--refit-learning-rate", type=amount, default=1e-3, help="of Adam meanwhile (default 0.001)")
    add("--test-samples", type=count, default=1000, help="importance samples a row in the test (default 1000)")
    add("--test-rows", type=count, default=None, help="random rows of the test set to evaluate (default all)")
    add("--annealing-rows", type=number(int, 0), default=0, help="test rows to anneal (default 0)")
    add("--drawn-rows", type=number(int, 0), default=None, help=_DRAWN_HELP)
    add("--annealing-steps", type=count, default=1000)
    add("--annealing-runs", type=count, default=5)
    add("--annealing-draws", type=number(int, 0), default=0, help=_DRAWS_HELP)
    add("--binarization", choices=["dynamic", "threshold"], default="dynamic", help="of grey data (default dynamic)")
    add("--data-dir", default=None, help="folder of packed datasets; default $TFDSMCMC_DATA, the Keras cache")
    add("--seed", type=int, default=0)
    add("--no-jit", dest="jit_compile", action="store_false", help="do not compile with XLA")
    add("--output", default=None, help="default runs/table/DATASET")
    args = parser.parse_args(arguments)
    if args.annealing_draws and not (args.annealing_rows or args.papers):
        parser.error(f"--annealing-draws needs --annealing-rows. Received: {args.annealing_draws} and no rows")
    if args.as_published and args.published_prior:
        parser.error("--as-published has --published-prior. Received: both")
    return args


def settings_of(method, args):
    """What the result of a row depends on, besides its method and architecture."""
    names = _COMMON.split() + (_OF_SAMPLERS.split() if method in table_methods.SAMPLERS else [])
    settings = {name: getattr(args, name) for name in names}
    settings["batch_size"] = args.batch_size or (_SMALL_BATCH if method == "rws_published" else 100)
    return settings | {"learning_rates": list(table_methods.rates_of(method, args))}


def command_of(row):
    """The command of a row that is on record, of what differs from the defaults.

    Where the data lie is not told, and what a row's version of the recipe had no argument for is as by default now.

    Args:
      row: dict, see `recipes/table.py`.

    Returns:
      String, as a shell takes it.
    """
    method, settings = row["method"], row["settings"]
    words = ["--dataset", row["dataset"], "--methods", method, "--architectures", row["architecture"]]
    words += ["--as-published"] * settings.get("as_published", False)  # which other defaults follow
    usual = settings_of(method, parse(words))
    for name in [name for name in usual if name in settings and settings[name] != usual[name]]:
        words += _option(method, name, settings[name])
    return shlex.join(["python", "recipes/table.py", *words])


def _option(method, name, value):
    """The words of an argument with a value of the settings."""
    if name == "jit_compile":
        return ["--no-jit"]
    if name == "learning_rates":
        climbing = "momentum_rate" if method == "rws_published" else "adam"
        name = "learning_rate" if method in table_methods.SAMPLERS else climbing
    values = value if isinstance(value, list) else [] if value is True else [value]
    return [f"--{name.replace('_', '-')}", *[str(value).removesuffix(".0") for value in values]]

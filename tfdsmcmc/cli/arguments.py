"""What can be typed."""

from __future__ import annotations

import argparse

# when to choose which, in the order of `methods`; that module imports TensorFlow, which takes seconds
METHODS: dict[str, str] = {
    "dsghmc_gibbs": "samples the weights, z by Gibbs chains that go on: rows of hundreds of columns",
    "dsghmc_nais": "samples the weights, z by importance sampling: tens of thousands of rows",
    "dsgld_nais": "the same without momentum: slower",
    "dsgnht_gibbs": "as dsghmc_gibbs, with a thermostat that makes up for unknown gradient noise",
    "dsgnht_nais": "as dsghmc_nais, with that thermostat: the default",
    "iwae": "one set of weights, continuous z: the best likelihood of a VAE",
    "nvil": "one set of weights by the evidence lower bound: for comparison",
    "online_vb": "as vb, from minibatches: more rows than a pass can wait for",
    "polya_gamma_gibbs": "samples the weights and z by Gibbs sampling, a draw an epoch: SBN and DARN layers",
    "rws": "one set of weights, reweighted wake-sleep: about a thousand rows, or plain NADE",
    "vae": "one set of weights, continuous z",
    "vb": "a normal law of the weights by a bound that rises: SBN and DARN layers",
    "wake_sleep": "one set of weights, the first of its kind: for comparison",
}

_DESCRIPTION = """Bayesian learning of deep generative models by doubly stochastic MCMC.

A first session:

  python -m tfdsmcmc datasets
  python -m tfdsmcmc fit digits model.keras --layers 100-50 --epochs 200
  python -m tfdsmcmc evaluate model.keras digits
  python -m tfdsmcmc sample model.keras samples.png
  python -m tfdsmcmc impute model.keras rows.csv filled.csv
  python -m tfdsmcmc export model.keras saved_models/digits
  python -m tfdsmcmc serve saved_models/digits
"""


class _Help(argparse.ArgumentDefaultsHelpFormatter):
    """States the defaults that say something."""

    def _get_help_string(self, action):
        return action.help if action.default in (None, False) else super()._get_help_string(action)


def parser() -> argparse.ArgumentParser:
    """The parser of all commands; each sets `module`, which has a function of its name that carries it out."""
    commands_parser = argparse.ArgumentParser(
        prog="python -m tfdsmcmc", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = commands_parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (_add_fit, _add_evaluate, _add_sample, _add_impute, _add_export, _add_serve, _add_datasets):
        add(commands)
    return commands_parser


def _command(commands, name, summary, details="", module="tfdsmcmc.cli.commands"):
    command = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. {details}".strip(),
        formatter_class=_Help,
    )
    command.set_defaults(module=module)
    return command


def _add_fit(commands):
    command = _command(
        commands,
        "fit",
        "learn a deep generative model",
        "By polya_gamma_gibbs and the methods whose names begin with ds the weights are a Markov chain whose samples "
        "follow their posterior; vb and online_vb fit a law to it; the others climb to one set of weights. Where the "
        "recognition network does not learn it is fitted at the end, so that the model can be evaluated. --posterior "
        "keeps samples of the chain, or draws of the law; --resume goes on with the chain of an existing model file.",
    )
    _add_data(command)
    command.add_argument("model", nargs="?", help="file to write, NAME.keras; none with --folder")
    command.add_argument("--chain", type=int, help="number of the chain to learn, from 0, as a job of an array does")
    command.add_argument("--of", type=int, help="how many chains there are to be")
    command.add_argument("--folder", help="of all chains: each has a folder of its own, in which a killed one goes on")
    command.add_argument(
        "--layers",
        help="latent layers, nearest to the data first: 200 or 200-100; or the name of an architecture of SBN, DARN, "
        "NADE or VAE layers, such as 'SBN/NADE 200-100' or 'VAE 50' (default: 100)",
    )
    choices = "; ".join(f"{name}: {what}" for name, what in METHODS.items())
    command.add_argument("--method", choices=METHODS, metavar="METHOD", help=f"{choices} (default: dsgnht_nais)")
    command.add_argument("--epochs", type=int, default=100, help="passes over the training data")
    command.add_argument("--batch-size", type=int, default=100, help="rows a step")
    command.add_argument(
        "--learning-rate", type=float, help="of the weights, for a minibatch (default: that of the method)"
    )
    command.add_argument("--num-samples", type=int, help="draws of the latents a row (default: that of the method)")
    command.add_argument("--posterior", help="folder for posterior samples; not collected by default")
    command.add_argument("--posterior-samples", type=int, help="how many (default: 50)")
    command.add_argument("--patience", type=int, help="minibatches over which validation must settle (default: 1000)")
    command.add_argument("--burn-in", type=int, help="collect after so many epochs instead, whatever the validation")
    command.add_argument(
        "--every",
        type=int,
        help="epochs from one sample to the next (default: spread over the rest, 25 to 1000 minibatches apart)",
    )
    command.add_argument("--resume", action="store_true", help="go on with the chain that MODEL holds")
    command.add_argument("--overwrite", action="store_true", help="replace MODEL and old posterior samples")
    command.add_argument("--seed", type=int, help="of the initial weights and of the chain (default: 0)")


def _add_evaluate(commands):
    command = _command(
        commands,
        "evaluate",
        "estimate the log-likelihood of a dataset's split by importance sampling",
        "Prints the mean in nats a row with its Monte Carlo error and its error over rows.",
    )
    command.add_argument("model", help="file that fit wrote")
    _add_data(command)
    command.add_argument("--split", default="test", choices=["train", "valid", "test"], help="rows to evaluate")
    command.add_argument("--num-samples", type=int, default=1000, help="importance samples a row")
    command.add_argument("--posterior", help="folder of posterior samples: prints their predictive average too")
    _add_average(command)
    command.add_argument("--seed", type=int, default=0, help="of the draws")


def _add_sample(commands):
    command = _command(
        commands,
        "sample",
        "draw from a model",
        "Writes a picture (.png, .pdf, .svg) or an array (.npy), as the name of the file says.",
    )
    command.add_argument("model", help="file that fit wrote")
    command.add_argument("output", help="file to write")
    command.add_argument("--num-samples", type=int, default=100, help="draws")
    command.add_argument("--shape", help="height x width of a picture, such as 8x8; a square by default")
    command.add_argument("--probabilities", action="store_true", help="show p(x given z) instead of draws")
    command.add_argument("--overwrite", action="store_true", help="replace the output file")
    command.add_argument("--seed", type=int, default=0, help="of the draws")


def _add_impute(commands):
    command = _command(
        commands,
        "impute",
        "draw the missing entries of rows given the observed ones",
        "Reads a .csv, with or without column names, where empty cells, NA, nan, null and none are missing; or an .npz "
        "with an array x and perhaps mask, True where an entry is observed. Writes a .csv of the rows with their gaps "
        "filled (all imputations below one another), or an .npz with x (imputation, row, column), probabilities and "
        "effective_sample_size.",
    )
    command.add_argument("model", help="file that fit wrote")
    command.add_argument("input", help="rows with missing entries, .csv or .npz")
    command.add_argument("output", help="file to write, .csv or .npz")
    command.add_argument("--num-imputations", type=int, default=1, help="draws for each row")
    command.add_argument(
        "--header",
        action=argparse.BooleanOptionalAction,
        help="whether the first line of the .csv has column names (default: where it has words and no numbers, or more "
        "than two numbers, 0,1,2 and on, which are said to be taken for names)",
    )
    command.add_argument(
        "--probabilities", action="store_true", help="write the means of the missing entries to the .csv, not draws"
    )
    command.add_argument(
        "--majority", action="store_true", help="write the more probable value of each entry to the .csv, not draws"
    )
    command.add_argument("--posterior", help="folder of posterior samples: averages over them")
    _add_average(command)
    command.add_argument("--overwrite", action="store_true", help="replace the output file")
    command.add_argument("--seed", type=int, default=0, help="of the draws")


def _add_export(commands):
    command = _command(
        commands,
        "export",
        "write a SavedModel for model servers",
        "Signatures log_likelihood (the default), sample, impute, encode and reconstruct, their row-wise twins "
        "NAME_rows and, for binary data, packed ones, NAME_packed; all with seeds as inputs.",
    )
    command.add_argument("model", help="file that fit wrote")
    command.add_argument("path", help="folder of the served model; its versions lie in it")
    command.add_argument("--version", type=int, default=1, help="version to write")
    command.add_argument("--posterior", help="folder of posterior samples whose average to export")
    command.add_argument("--ensemble", action="store_true", help="the same as --average draws")
    _add_average(command)
    command.add_argument("--shape", help="height x width of a picture, such as 8x8, for those who draw it")
    command.add_argument("--only", nargs="+", metavar="NAME", help="the signatures to export (default: all)")
    command.add_argument(
        "--serving-config", action="store_true", help="write warm-up records, models.config and batching.config too"
    )
    command.add_argument("--overwrite", action="store_true", help="replace the version")


def _add_average(command):
    command.add_argument(
        "--average",
        choices=["units", "draws", "weights", "weights_and_start", "units_and_start", "start"],
        help="what the samples are averaged to (default: what their run chose by its validation rows, else weights)",
    )


def _add_serve(commands):
    command = _command(
        commands,
        "serve",
        "serve an exported model on this machine",
        "A development server: the REST API of TensorFlow Serving and a page on which missing parts of a picture are "
        "completed. It is for trying a model out, not for the open network.",
    )
    command.add_argument("path", help="folder that export wrote")
    command.add_argument("--host", default="127.0.0.1", help="address to listen at")
    command.add_argument("--port", type=int, default=8501, help="port; 0 for any that is free")


def _add_datasets(commands):
    summary = "list the datasets that fit and evaluate know"
    _command(commands, "datasets", summary, module="tfdsmcmc.cli.listing")


def _add_data(command):
    command.add_argument("dataset", help="name of a dataset; see the command datasets")
    command.add_argument("--data-dir", help="folder of NAME.npz; by default $TFDSMCMC_DATA, then the Keras cache")

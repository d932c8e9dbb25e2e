"""The command line: parses, and calls the rooms that do the work."""

from __future__ import annotations

import argparse
import sys

_DESCRIPTION = """Bayesian learning of deep generative models by doubly stochastic MCMC.

A first session:

  python -m tfdsmcmc datasets
  python -m tfdsmcmc fit digits model.keras --layers 100-50 --epochs 200
  python -m tfdsmcmc evaluate model.keras digits
  python -m tfdsmcmc sample model.keras samples.png
  python -m tfdsmcmc export model.keras saved_models/digits
"""


class _Help(argparse.ArgumentDefaultsHelpFormatter):
    """States the defaults that say something."""

    def _get_help_string(self, action):
        return action.help if action.default in (None, False) else super()._get_help_string(action)


def main(arguments=None) -> int:
    """Runs a command; returns the exit status: 0, or 2 where the arguments or files are at fault."""
    args = _parser().parse_args(arguments)
    try:
        args.run(args)
    except (ValueError, OSError) as error:
        print(f"{args.command}: {error}", file=sys.stderr)
        return 2
    return 0


def _parser():
    parser = argparse.ArgumentParser(
        prog="python -m tfdsmcmc", description=_DESCRIPTION, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for add in (_add_fit, _add_evaluate, _add_sample, _add_export, _add_datasets):
        add(commands)
    return parser


def _command(commands, name, run, summary, details=""):
    command = commands.add_parser(
        name,
        help=summary,
        description=f"{summary[0].upper()}{summary[1:]}. {details}".strip(),
        formatter_class=_Help,
    )
    command.set_defaults(run=run)
    return command


def _add_fit(commands):
    command = _command(
        commands,
        "fit",
        _fit,
        "learn a sigmoid belief network by DSGNHT-NAIS",
        "The weights are a Markov chain whose samples follow their posterior. --posterior keeps samples of it; "
        "--resume goes on with the chain of an existing model file.",
    )
    _add_data(command)
    command.add_argument("model", help="file to write, NAME.keras")
    command.add_argument("--layers", help="latent layers, nearest to the data first: 200 or 200-100 (default: 100)")
    command.add_argument("--epochs", type=int, default=100, help="passes over the training data")
    command.add_argument("--batch-size", type=int, default=100, help="rows a step")
    command.add_argument("--learning-rate", type=float, help="of the weights' chain, for a minibatch (default: 0.03)")
    command.add_argument("--num-samples", type=int, help="importance samples of the latents a row (default: 5)")
    command.add_argument("--posterior", help="folder for posterior samples; not collected by default")
    command.add_argument("--posterior-samples", type=int, default=50, help="how many")
    command.add_argument("--patience", type=int, default=10, help="collect once validation has stalled so many epochs")
    command.add_argument("--burn-in", type=int, help="collect after so many epochs instead, whatever the validation")
    command.add_argument("--resume", action="store_true", help="go on with the chain that MODEL holds")
    command.add_argument("--overwrite", action="store_true", help="replace MODEL and old posterior samples")
    command.add_argument("--seed", type=int, help="of the initial weights and of the chain (default: 0)")


def _add_evaluate(commands):
    command = _command(
        commands,
        "evaluate",
        _evaluate,
        "estimate the log-likelihood of a dataset's split by importance sampling",
        "Prints the mean in nats a row with its Monte Carlo error and its error over rows.",
    )
    command.add_argument("model", help="file that fit wrote")
    _add_data(command)
    command.add_argument("--split", default="test", choices=["train", "valid", "test"], help="rows to evaluate")
    command.add_argument("--num-samples", type=int, default=1000, help="importance samples a row")
    command.add_argument("--posterior", help="folder of posterior samples: prints their predictive average too")
    command.add_argument("--seed", type=int, default=0, help="of the draws")


def _add_sample(commands):
    command = _command(
        commands,
        "sample",
        _sample,
        "draw from a model",
        "Writes a picture (.png, .pdf, .svg) or an array (.npy), as the name of the file says.",
    )
    command.add_argument("model", help="file that fit wrote")
    command.add_argument("output", help="file to write")
    command.add_argument("--num-samples", type=int, default=100, help="draws")
    command.add_argument("--shape", help="height x width of a picture, such as 8x8; a square by default")
    command.add_argument("--probabilities", action="store_true", help="show p(x given z) instead of draws")
    command.add_argument("--seed", type=int, default=0, help="of the draws")


def _add_export(commands):
    command = _command(
        commands,
        "export",
        _export,
        "write a SavedModel for model servers",
        "Signatures log_likelihood (the default) and sample, with seeds as inputs.",
    )
    command.add_argument("model", help="file that fit wrote")
    command.add_argument("path", help="folder of the served model; its versions lie in it")
    command.add_argument("--version", type=int, default=1, help="version to write")
    command.add_argument("--posterior", help="folder of posterior samples whose mean to export")
    command.add_argument("--overwrite", action="store_true", help="replace the version")


def _add_datasets(commands):
    _command(commands, "datasets", _datasets, "list the datasets that fit and evaluate know")


def _add_data(command):
    command.add_argument("dataset", help="name of a dataset; see the command datasets")
    command.add_argument("--data-dir", help="folder of NAME.npz; by default $TFDSMCMC_DATA, then the Keras cache")


def _fit(args):
    import pathlib

    import tfdsmcmc as ds
    from tfdsmcmc import checks

    path = pathlib.Path(args.model)
    if path.suffix != ".keras":
        raise ValueError(f"The model's file ends in .keras. Received: {args.model}")
    if path.exists() and not (args.resume or args.overwrite):
        raise ValueError(f"The file exists; say --resume or --overwrite. Received: {args.model}")
    epochs = checks.positive_integer("--epochs", args.epochs)
    data = ds.datasets.load(args.dataset, args.data_dir)
    model = _resumed(args) if args.resume else _new_model(args, data.train.shape[1])
    callbacks = []
    if args.posterior:
        callbacks.append(
            ds.posterior.Collector(
                args.posterior, args.posterior_samples, args.patience, args.burn_in, overwrite=args.overwrite
            )
        )
    path.parent.mkdir(parents=True, exist_ok=True)
    done = int(model.chain.epochs)
    try:
        model.fit(
            data.train,
            batch_size=args.batch_size,
            initial_epoch=done,
            epochs=done + epochs,
            validation_data=data.valid,
            callbacks=callbacks,
        )
    except KeyboardInterrupt:
        print("\ninterrupted")
    model.save(path)
    print(f"wrote {path} after {int(model.chain.steps)} steps; --resume goes on")
    if args.posterior:
        count = len(list(pathlib.Path(args.posterior).glob("sample_*.h5")))
        print(f"{count} posterior samples in {args.posterior}" + ("" if count else ": validation was still rising"))


def _new_model(args, units):
    import keras

    import tfdsmcmc as ds

    widths = _widths(args.layers or "100")
    seed = args.seed or 0
    keras.utils.set_random_seed(seed)
    model = ds.DeepGenerativeModel(
        generative=ds.GenerativeNetwork([ds.layers.SBN(n) for n in (*reversed(widths), units)]),
        recognition=ds.RecognitionNetwork([ds.layers.SBN(n) for n in widths]),
        seed=seed,
    )
    model.compile(
        kernel=ds.mcmc.SGNHT(learning_rate=0.03 if args.learning_rate is None else args.learning_rate),
        latents=ds.latents.NAIS(5 if args.num_samples is None else args.num_samples),
        proposal=ds.proposals.Wake(keras.optimizers.Adam(1e-3)),
        steps_per_execution=10,
    )
    return model


def _resumed(args):
    settings = ("layers", "learning_rate", "num_samples", "seed")
    given = [f"--{name.replace('_', '-')}" for name in settings if getattr(args, name) is not None]
    if given:
        raise ValueError(f"--resume goes on with what the model was made with. Received: {' '.join(given)}")
    model = _load(args.model)
    if model.chain is None:
        raise ValueError(f"The model was saved without a chain; there is nothing to resume. Received: {args.model}")
    return model


def _evaluate(args):
    import tfdsmcmc as ds

    model = _load(args.model)
    x = getattr(ds.datasets.load(args.dataset, args.data_dir), args.split)
    _print_estimate("weights of the model", model.log_likelihood(x, args.num_samples, args.seed))
    if args.posterior:
        posterior = ds.posterior.load(args.posterior)
        estimate = posterior.log_likelihood(model, x, args.num_samples, args.seed)
        _print_estimate(f"predictive, {len(posterior.samples)} samples", estimate)


def _sample(args):
    import os
    import pathlib

    import numpy as np

    import tfdsmcmc as ds

    output = pathlib.Path(args.output)
    if output.suffix not in (".png", ".pdf", ".svg", ".npy"):
        raise ValueError(f"The file's name must end in .png, .pdf, .svg or .npy. Received: {args.output}")
    model = _load(args.model)
    shape = _shape(args.shape, model.generative.units) if output.suffix != ".npy" else None
    x = model.sample(args.num_samples, args.seed, args.probabilities)
    if output.suffix == ".npy":
        output.parent.mkdir(parents=True, exist_ok=True)
        temporary = output.with_name(f".{os.getpid()}-{output.name}")
        np.save(temporary, x)
        os.replace(temporary, output)
    else:
        ds.plots.save(ds.plots.samples(x, shape), output)
    print(f"wrote {output}")


def _export(args):
    import tfdsmcmc as ds

    posterior = ds.posterior.load(args.posterior) if args.posterior else None
    path = ds.serving.export(_load(args.model), args.path, args.version, posterior, args.overwrite)
    print(f"wrote {path}")


def _datasets(args):
    import tfdsmcmc as ds

    for name in ds.datasets.names():
        print(name)


def _load(path):
    import pathlib
    import zipfile

    import keras

    import tfdsmcmc as ds

    if not pathlib.Path(path).is_file():
        raise ValueError(f"No such model file. Received: {path}")
    try:
        model = keras.saving.load_model(path)
    except (ValueError, OSError, KeyError, TypeError, zipfile.BadZipFile) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ValueError(f"Not a whole .keras file ({reason}). Received: {path}") from error
    if not isinstance(model, ds.DeepGenerativeModel):
        raise ValueError(f"Not a DeepGenerativeModel but a {type(model).__name__}. Received: {path}")
    return model


def _widths(layers):
    try:
        return [int(width) for width in layers.split("-")]
    except ValueError:
        raise ValueError(f"--layers takes widths such as 200-100. Received: {layers}") from None


def _shape(text, units):
    if text is None:
        side = round(units**0.5)
        if side * side != units:
            raise ValueError(f"{units} entries are no square; say --shape HEIGHTxWIDTH. Received: --shape not given")
        return side, side
    try:
        height, width = (int(number) for number in text.lower().split("x"))
    except ValueError:
        raise ValueError(f"--shape takes HEIGHTxWIDTH, such as 16x8. Received: {text}") from None
    return height, width


def _print_estimate(name, estimate):
    mean = estimate.mean()
    print(
        f"{name}: {mean:.3f} nats a row, Monte Carlo error {mean.standard_error:.3f}, error over rows "
        f"{mean.row_standard_error:.3f}, effective samples {mean.effective_sample_size:.1f}"
    )

"""What the commands do."""

from __future__ import annotations

import pathlib
import zipfile
from typing import TYPE_CHECKING

import keras
import numpy as np

from tfdsmcmc import files
from tfdsmcmc import public as ds
from tfdsmcmc._common import archives, checks
from tfdsmcmc._common.reasons import reason_of
from tfdsmcmc.cli import chains, tables

if TYPE_CHECKING:
    import argparse

_AUGMENTATION = ("online_vb", "polya_gamma_gibbs", "vb")  # the methods by augmentation
_OF_COLLECTOR = ("posterior_samples", "patience", "burn_in", "every")
_REFIT_EPOCHS = 10


def fit(args: argparse.Namespace) -> None:
    several = [args.chain, args.of, args.folder]
    if any(part is not None for part in several):
        if None in several:
            raise ValueError(f"--chain, --of and --folder go together. Received: {several}")
        _check_samples("--chain", args.method)
        chains.fit_chain(args, _new_model)
        return
    if args.model is None:
        raise ValueError("Name the file to write, or --chain, --of and --folder. Received: none of these")
    path = pathlib.Path(args.model)
    if path.suffix != ".keras":
        raise ValueError(f"The model's file ends in .keras. Received: {args.model}")
    if path.is_dir():
        raise ValueError(f"The model's file is no folder. Received: {args.model}")
    if path.exists() and not (args.resume or args.overwrite):
        raise ValueError(f"The file exists; say --resume or --overwrite. Received: {args.model}")
    epochs = checks.positive_integer("--epochs", args.epochs)
    checks.positive_integer("--batch-size", args.batch_size)
    if args.posterior:
        _check_samples("--posterior", args.method)
        if pathlib.Path(args.posterior).is_file():
            raise ValueError(f"--posterior is a folder. Received: {args.posterior}, a file")
    elif given := [name for name in _OF_COLLECTOR if getattr(args, name) is not None]:
        raise ValueError(f"Samples are kept with --posterior alone. Received: {_typed(given)}")
    data = ds.datasets.load(args.dataset, args.data_dir)
    model = _resumed(args) if args.resume else _new_model(args, data.train.shape[1])
    if args.posterior and isinstance(getattr(model.run.step, "kernel", None), ds.mcmc.MAP):
        raise ValueError(f"--posterior is for methods that sample. Received: {args.model}, of one that climbs")
    callbacks = [_collector(args)] if args.posterior else []
    path.parent.mkdir(parents=True, exist_ok=True)
    done = int(model.run.epochs)
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
        print("\ninterrupted" + (": no average over the posterior samples was chosen" if args.posterior else ""))
    if model.optimizer is None:
        print("fitting the recognition network, which did not learn")
        model.refit_recognition(data.train, _REFIT_EPOCHS, args.batch_size, latents=ds.latents.NAIS(5))
    model.save(path)
    print(f"wrote {path} after {int(model.run.steps)} steps; --resume goes on")
    if args.posterior:
        count = len(list(pathlib.Path(args.posterior).glob("sample_*.h5")))
        print(f"{count} posterior samples in {args.posterior}" + ("" if count else ": the run was too short"))


def _collector(args):
    return ds.posterior.Collector(args.posterior, **chains.collector_options(args), overwrite=args.overwrite)


def _check_samples(option, method):
    if method and not (method.startswith("ds") or method in _AUGMENTATION):
        raise ValueError(
            f"{option} is for methods that sample: {', '.join(_AUGMENTATION)}, and those whose names begin with ds. "
            f"Received: {method}"
        )


def _new_model(args, units, seed=None, num_chains=None):
    name = args.layers or "100"
    seed = checks.nonnegative_integer("--seed", args.seed or 0) if seed is None else seed
    if seed >= 2**32:
        raise ValueError(f"--seed is below 2³², as NumPy's generators ask. Received: --seed {seed}")
    keras.utils.set_random_seed(seed)
    model = ds.models.from_name(f"SBN/SBN {name}" if name[:1].isdigit() else name, units, seed=seed)
    method = args.method or "dsgnht_nais"
    given = {"learning_rate": args.learning_rate, "num_samples": args.num_samples}
    options = {key: value for key, value in given.items() if value is not None}
    if method in _AUGMENTATION:
        if options:
            raise ValueError(f"{method} takes no learning rate and no number of draws here. Received: {options}")
    arguments = {**getattr(ds.methods, method)(**options), "steps_per_execution": 10}
    model.compile(**arguments | ({} if num_chains is None else {"num_chains": num_chains}))
    return model


def _resumed(args):
    settings = ("layers", "method", "learning_rate", "num_samples", "seed")
    given = [name for name in settings if getattr(args, name) is not None]
    if given:
        raise ValueError(f"--resume goes on with what the model was made with. Received: {_typed(given)}")
    model = _load(args.model)
    if model.run is None:
        raise ValueError(f"The model was saved without a chain; there is nothing to resume. Received: {args.model}")
    return model


def evaluate(args: argparse.Namespace) -> None:
    if args.average is not None and not args.posterior:
        raise ValueError(f"An average is of posterior samples: --posterior. Received: --average {args.average}")
    model = _load(args.model)
    posterior = ds.posterior.load(args.posterior) if args.posterior else None
    if posterior is not None:
        posterior.components(model, args.average)  # which refuses what does not fit, before hours of estimates
    x = getattr(ds.datasets.load(args.dataset, args.data_dir), args.split)
    _print_estimate("weights of the model", model.log_likelihood(x, args.num_samples, args.seed))
    if posterior is not None:
        average = posterior.average if args.average is None else args.average
        estimate = posterior.log_likelihood(model, x, args.num_samples, args.seed, average=average)
        _print_estimate(f"average over {average}, {len(posterior.samples)} samples", estimate)


def sample(args: argparse.Namespace) -> None:
    output = pathlib.Path(args.output)
    if output.suffix not in (".png", ".pdf", ".svg", ".npy"):
        raise ValueError(f"The file's name must end in .png, .pdf, .svg or .npy. Received: {args.output}")
    if args.shape and output.suffix == ".npy":
        raise ValueError(f"--shape is of a picture. Received: --shape {args.shape} with {args.output}")
    _check_free(output, args.overwrite)
    model = _load(args.model)
    shape = _shape(args.shape, model.generative.units) if output.suffix != ".npy" else None
    x = model.sample(args.num_samples, args.seed, args.probabilities)
    if output.suffix == ".npy":
        with files.replacing(output) as temporary:
            np.save(temporary, x)
    else:
        ds.plots.save(ds.plots.samples(x, shape), output)
    print(f"wrote {output}")


def impute(args: argparse.Namespace) -> None:
    output = tables.check_name(args.output)
    if args.probabilities and args.majority:
        raise ValueError("Choose one of the two. Received: --probabilities --majority")
    if (args.probabilities or args.majority) and output.suffix != ".csv":
        raise ValueError(f"An .npz has the probabilities besides; the option is for a .csv. Received: {args.output}")
    if (args.probabilities or args.majority) and args.num_imputations != 1:
        raise ValueError(f"Probabilities and majorities are one table. Received: {args.num_imputations} imputations")
    _check_free(output, args.overwrite)
    table = tables.read(args.input, args.header)
    if args.header is None and table.header and tables.are_places(table.header):
        print(f"the first line, {','.join(table.header[:3])} and on, is taken for names; --no-header says otherwise")
    model = _load(args.model)
    posterior = ds.posterior.load(args.posterior) if args.posterior else None
    support = model.support
    if args.majority and not support.discrete:
        raise ValueError("A majority is of discrete data. Received: --majority")
    averaged = {"posterior": posterior, "average": args.average}
    result = ds.imputation.impute(model, table.x, table.mask, args.num_imputations, args.seed, **averaged)
    if output.suffix == ".npz":
        tables.write_npz(
            output,
            x=result.x,
            probabilities=result.probabilities,
            effective_sample_size=result.effective_sample_size,
        )
    else:  # what is observed as it was read, which float32 would round
        x, integers = result.x.reshape(-1, result.x.shape[-1]), support.discrete
        if args.probabilities or args.majority:
            x, integers = support.mode(result.probabilities) if args.majority else result.probabilities, args.majority
        tables.write_csv(output, x, table.header, integers, table.known)
    sizes = result.effective_sample_size[np.isfinite(result.effective_sample_size)]
    worth = f", effective samples {np.median(sizes):.1f} (median)" if len(sizes) else ""
    print(f"wrote {output}: {len(sizes)} rows with gaps of {len(table.x)}{worth}")


def _check_free(output, overwrite):
    if output.is_dir():
        raise ValueError(f"What is written is a file, and this is a folder. Received: {output}")
    if any(parent.exists() and not parent.is_dir() for parent in output.parents):
        raise ValueError(f"A file lies where the folder should. Received: {output}")
    if output.exists() and not overwrite:
        raise ValueError(f"The file exists; say --overwrite. Received: {output}")


def export(args: argparse.Namespace) -> None:
    posterior = ds.posterior.load(args.posterior) if args.posterior else None
    model = _load(args.model)
    path = ds.serving.export(
        model,
        args.path,
        args.version,
        posterior,
        args.overwrite,
        args.ensemble,
        _shape(args.shape, model.generative.units) if args.shape else None,
        only=args.only,
        serving_config=args.serving_config,
        average=args.average,
    )
    print(f"wrote {path}")


def serve(args: argparse.Namespace) -> None:
    ds.serving.serve(args.path, args.host, args.port)


def _load(path):
    if not pathlib.Path(path).is_file():
        raise ValueError(f"No such model file. Received: {path}")
    archives.check(path)
    try:
        model = keras.saving.load_model(path)
    except (ValueError, OSError, KeyError, TypeError, zipfile.BadZipFile) as error:
        raise ValueError(f"Not a whole .keras file ({reason_of(error)}). Received: {path}") from error
    if not isinstance(model, ds.DeepGenerativeModel):
        raise ValueError(f"Not a DeepGenerativeModel but a {type(model).__name__}. Received: {path}")
    return model


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
    if height < 1 or height * width != units:
        raise ValueError(f"--shape must be of {units} entries. Received: --shape {text}")
    return height, width


def _typed(names):
    """Options as they are typed."""
    return " ".join(f"--{name.replace('_', '-')}" for name in names)


def _print_estimate(name, estimate):
    mean = estimate.mean()
    print(
        f"{name}: {mean:.3f} nats a row, Monte Carlo error {mean.standard_error:.3f}, error over rows "
        f"{mean.row_standard_error:.3f}, effective samples {mean.effective_sample_size:.1f}"
    )

"""Chain i of n from one seed, each in a folder of its own.

    FOLDER/chain_0003/chain.json      what the chain learns from, by what method, under what seed
    FOLDER/chain_0003/samples/        what its `posterior.Collector` writes
    FOLDER/chain_0003/backup/         where a killed one goes on, bit for bit
    FOLDER/chain_0003/model.keras     the model in the end: a chain that has it is done
    FOLDER/.chain_0003.lock           whose lock whoever is at the chain holds

The seed of chain i is a fold of (seed, i): chain 3 is the same wherever it runs and however many there are.
"""

from __future__ import annotations

import functools
import inspect
import json
import pathlib
import shutil
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import keras
import numpy as np

from tfdsmcmc import contract, files, random
from tfdsmcmc._common import checks
from tfdsmcmc.cluster import work
from tfdsmcmc.cluster.checking import check_function, checked_folder, made, reading
from tfdsmcmc.cluster.digest import digest_of
from tfdsmcmc.cluster.rows import is_file, opened
from tfdsmcmc.posterior import Collector
from tfdsmcmc.posterior.merged import SAMPLES, STATEMENT, completed
from tfdsmcmc.training.fitting import arguments
from tfdsmcmc.training.fitting.learner import Learner
from tfdsmcmc.training.steps.starts import fresh_weights

if TYPE_CHECKING:
    from tfdsmcmc._common.types import FilePath
    from tfdsmcmc.rows.from_users import RowsLike


class ChainFailed(work.TasksFailed):
    """Some chains of several ended with an error; the others are done, and a further call goes on with these."""


def fit_chains(
    make_model: Callable[[int], Any],
    rows: RowsLike | str,
    folder: FilePath,
    num_chains: int,
    epochs: int,
    seed: int = 0,
    collector: dict[str, Any] | None = None,
    verbose: bool = False,
    timeout: float | None = None,
    **fit: Any,
) -> None:
    """Learns n independent chains, by `joblib`; chains that are done are not run again, killed ones go on.

    Where a worker dies, its chain goes on in another. Several schedulers may have one folder: each takes chains that
    nobody is at, and in the end waits for the others'.

    Args:
      make_model: function of a chain's seed; returns a compiled model of one chain, `compile(num_chains=1)`, whose own
        seed it is or follows from. Initial weights may follow none: they are drawn anew, by that of the chain. Frozen
        ones are the same at each seed, as no sample has them. It is called three times, once with another seed.
      rows: see `opened`; of a dataset's name the training rows, and its validation rows besides unless `fit` has some.
      folder: of all chains; workers on several machines share it.
      num_chains: n.
      epochs: of each chain.
      seed: non-negative integer.
      collector: arguments of `posterior.Collector`, a dict, without `path`.
      verbose: whether a line says how many chains are done.
      timeout: seconds within which some chain must get done, or the workers are taken for hanging, where the engine
        can tell, as loky can; None to wait.
      **fit: other arguments of `fit`.

    Raises:
      ValueError: for arguments out of range, before anything is run.
      ChainFailed: in the end, naming the chains that failed and why: such as a chain that began with other arguments, a
        model that is not compiled, rows that do not fit it, a full disk, or workers that die again and again.
    """
    num_chains = checks.positive_integer("num_chains", num_chains)
    folder, epochs, seed = _checked(make_model, rows, folder, epochs, seed, collector, fit)
    tasks = [
        (f"chain {chain}", (make_model, chain, rows, folder, epochs, seed, collector, fit))
        for chain in range(num_chains)
    ]
    said = {"error": ChainFailed, "refused": (), "timeout": timeout}
    done = work.run(functools.partial(_fit, False), tasks, verbose, "chains", **said)
    elsewhere = [task for task, mine in zip(tasks, done, strict=True) if not mine]
    if elsewhere:  # which end there, or go on here
        work.run(functools.partial(_fit, True), elsewhere, verbose, "chains of another scheduler", **said)


def fit_chain(
    make_model: Callable[[int], Any],
    chain: int,
    rows: RowsLike | str,
    folder: FilePath,
    epochs: int,
    seed: int = 0,
    collector: dict[str, Any] | None = None,
    fit: dict[str, Any] | None = None,
) -> None:
    """Learns one chain of `fit_chains`, as a job of an array does; arguments as there.

    Args:
      make_model: see `fit_chains`.
      chain: its number, from 0.
      rows: see `fit_chains`.
      folder: of all chains.
      epochs: of the chain.
      seed: of all chains.
      collector: see `fit_chains`.
      fit: other arguments of `fit`, a dict.

    Raises:
      ValueError: for arguments out of range, before anything is run.
    """
    chain = checks.nonnegative_integer("chain", chain)
    folder, epochs, seed = _checked(make_model, rows, folder, epochs, seed, collector, {} if fit is None else fit)
    _fit(True, make_model, chain, rows, folder, epochs, seed, collector, fit)


def _checked(make_model, rows, folder, epochs, seed, collector, fit):
    """(folder, epochs, seed), text and plain integers; a ValueError for arguments of which no chain could be learnt."""
    epochs, seed = checks.positive_integer("epochs", epochs), checks.nonnegative_integer("seed", seed)
    random.as_seed(seed)  # which refuses seeds beyond 64 bits
    folder = checked_folder(folder)
    check_function(make_model)
    known = set(inspect.signature(Collector).parameters) - {"path"}
    collector = {} if collector is None else collector
    if not isinstance(collector, dict) or not set(collector) <= known:
        raise ValueError(f"collector is a dict with names of {sorted(known)}. Received: collector={collector!r}")
    if not isinstance(fit, dict):
        raise ValueError(f"fit is a dict of other arguments of fit. Received: fit={fit!r}")
    if wrong := {"callbacks", "epochs", "x", "y"} & set(fit):
        raise ValueError(f"A chain has callbacks and rows of its own. Received: {', '.join(sorted(wrong))}")
    own = inspect.signature(Learner.fit).parameters
    if unknown := set(fit) - (set(own) - {"self"}):
        raise ValueError(f"fit has no such arguments. Received: {', '.join(sorted(unknown))}")
    counts = {name: fit.get(name, own[name].default) for name in arguments.FitArguments._fields}
    arguments.checked(**{**counts, "epochs": epochs})
    Collector("checked", **collector)  # which refuses what does not fit
    if rows is None:
        raise ValueError("rows are an array, a dataset's name or a file. Received: rows=None")
    if isinstance(rows, (str, pathlib.Path)):
        opened(rows)
    return folder, epochs, seed


def _fit(wait, make_model, chain, rows, folder, epochs, seed, collector, fit):
    """Learns a chain; returns whether it is done, and not another scheduler's, which is waited for or not."""
    own = pathlib.Path(folder) / f"chain_{chain:04d}"
    with files.claimed(own, wait) as mine:
        if mine:
            _fit_here(make_model, chain, rows, own, epochs, seed, collector, fit)
    return mine


def _fit_here(make_model, chain, rows, own, epochs, seed, collector, fit):
    chain_seed = int(random.integers([], 2**31 - 1, random.fold(random.stream(seed, "chains"), chain)))
    model = _made(make_model, chain_seed)
    data, held = _rows(rows)
    fit = {} if fit is None else fit
    how = digest_of([collector or {}, fit])
    learnt = _learnt_from(model, data, fit.get("mask"), fit.get("num_rows"))
    said = {"chain": chain, "seed": seed, "epochs": epochs, "arguments": how, **learnt}
    row_weights = fit.get("sample_weight")
    said["row_weights"] = None if row_weights is None else digest_of(row_weights)
    _check_same(own / STATEMENT, said)
    if (own / "model.keras").exists():
        return
    stated = keras.callbacks.LambdaCallback(on_train_begin=lambda logs: files.write_json(own / STATEMENT, said, 1))
    # kept until the model is saved: without room for that a further call has no more to do than to save
    backup = keras.callbacks.BackupAndRestore(own / "backup", delete_checkpoint=False)
    callbacks = [Collector(own / SAMPLES, **{"overwrite": True, **(collector or {})}), backup, stated]
    held = {} if held is None or fit.get("validation_split") else {"validation_data": held}
    model.fit(data, epochs=epochs, callbacks=callbacks, **{"verbose": 0, **held, **fit})
    model.save(own / "model.keras")
    shutil.rmtree(own / "backup", ignore_errors=True)


def _made(make_model, seed):
    """The model of a chain. Weights that two calls make differently, of layers without seeds, are drawn by the seed:
    what else draws in this process has no part in a chain."""
    model, twin, another = made(make_model, seed), made(make_model, seed), made(make_model, seed + 1)
    _check_model(model)
    _check_seeds(model, twin, another)
    drawn = False
    for place, name in enumerate(("generative", "recognition")):
        network, other = getattr(model, name, None), getattr(twin, name, None)
        if network is None:
            continue
        fresh = fresh_weights(network, random.fold(random.stream(seed, "first weights of a chain"), place))
        for one, two, value in zip(network.trainable_variables, other.trainable_variables, fresh, strict=True):
            if not np.array_equal(one, two):
                one.assign(value)
                drawn = True
    if drawn:  # a run begins at the weights of its compile
        model.compile_from_config(model.get_compile_config())
    return model


def _rows(rows):
    """(rows to learn from, validation rows or None)."""
    named = isinstance(rows, str) and not is_file(rows) and ":" not in rows
    return opened(rows), opened(rows, "valid") if named else None


def _check_model(model):
    run = getattr(model, "run", None)
    if run is None or model.fitting.settings.get("num_chains", 1) not in (1, None):
        raise ValueError(
            "make_model returns a model that is compiled with num_chains=1: several chains are as many folders. "
            f"Received: {'a model that is not compiled' if run is None else model.fitting.settings['num_chains']}"
        )


def _check_seeds(model, twin, another):
    """Raises a ValueError where chains would share their random numbers, or differ in weights that no sample has."""
    if np.array_equal(model.run.seed, another.run.seed):
        raise ValueError(
            "Chains are independent where make_model gives its seed to the model. "
            "Received: a make_model whose models all have one seed"
        )
    frozen = [[np.asarray(part) for part in contract.frozen_weights(each)] for each in (model, twin, another)]
    if any(not np.array_equal(*pair) for other in frozen[1:] for pair in zip(frozen[0], other, strict=True)):
        raise ValueError(
            "Weights that are frozen must be the same in every chain, as no sample has them. "
            "Received: a make_model that draws them anew"
        )


def _learnt_from(model, data, mask=None, num_rows=None):
    """What chains of one posterior have in common, as plain data."""
    source = model.source("x", data, mask, num_rows, model.run.step.fills_gaps)
    compiled = model.get_compile_config() or {}
    networks = _without_starts({name: part for name, part in model.get_config().items() if name != "prior"})
    return {
        "rows": int(source.checksum) if source.random_access else None,
        "weights": [list(variable.shape) for variable in (*model.theta_variables, *model.phi_variables)],
        "networks": digest_of(networks),
        "frozen": digest_of(contract.frozen_weights(model)),
        "patterns": digest_of(list(getattr(getattr(model, "prior", None), "patterns", ()))),  # the first found counts
        "prior": digest_of(_prior_of(model)),
        "method": digest_of(compiled),
    }


def _prior_of(model):
    """The configuration of its prior; patterns of a default one as earlier versions had them, without their ends."""
    if not hasattr(model, "prior"):
        return None
    found = keras.saving.serialize_keras_object(model.prior)
    if not model.prior.is_default:
        return found
    patterns = {pattern.rstrip("$"): part for pattern, part in found["config"]["distribution"].items()}
    return {**found, "config": {**found["config"], "distribution": patterns}}


def _without_starts(config):
    """A configuration without initializers, which say where a chain begins."""
    if isinstance(config, dict):
        return {key: _without_starts(part) for key, part in config.items() if not str(key).endswith("_initializer")}
    return [_without_starts(part) for part in config] if isinstance(config, (list, tuple)) else config


def _check_same(file, said):
    """Raises a ValueError for a folder of a chain that began otherwise."""
    if not file.is_file():
        return
    # without its statement alone a chain would go on from rows and arguments of any kind
    with reading(file, f"delete all of {file.parent}, and the chain is learnt anew"):
        before = completed(json.loads(file.read_text(encoding="utf-8")), said)
    differing = [name for name, value in said.items() if before.get(name) != value]
    if differing:
        raise ValueError(
            f"This folder has a chain that differs in {', '.join(differing)}: give other chains another folder. "
            f"Received: {file.parent}"
        )

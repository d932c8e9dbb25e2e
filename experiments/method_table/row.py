"""One row of a table: a method learns an architecture, and is evaluated. `experiments.method_table` runs the rows.

Learning goes in rounds of 50 updates, which are epochs to Keras; a round reads the rows in a new order and ends with a
backup, from which an interrupted row goes on. The budget is counted, and posterior samples are collected, after rounds.
"""

import math
import shutil

import keras

import tfdsmcmc as ds
from experiments.common import kept
from experiments.common.rows import log_odds
from experiments.method_table import evaluation, methods
from experiments.method_table.budget import Budget
from experiments.method_table.look import look_of
from experiments.method_table.looks import Looks
from experiments.method_table.validation import Validation

_ROUND = 50
_TRIAL = 0.1  # of the minutes, for each learning rate of several
_CLIMB = 0.99  # of the part in which latents are learnt first: nothing is to be sampled yet
_VALIDATED = 4  # looks at validation data within the patience of a warm start


def run(method, architecture, settings, data, folder):
    """Learns and evaluates.

    Args:
      method: of `methods.METHODS`.
      architecture: name for `tfdsmcmc.models.from_name`.
      settings: dict, see `experiments.method_table.settings`.
      data: `tfdsmcmc.datasets.Dataset`.
      folder: `pathlib.Path` of the row; what is there already goes on, or stands.

    Returns:
      (the model with the weights that were evaluated last, dict of `learning_rate`, `trials` (the validation
      log-likelihood of each rate, where there are several; None of one that diverged), `updates`,
      `wall_time_seconds`, `curve`, and what `evaluation.evaluate` has).

    Raises:
      DivergedError: if the weights diverge with the rate that is chosen, or with each of several.
    """
    rates, trials = settings["learning_rates"], {}
    for rate in rates if len(rates) > 1 else []:
        trials[f"{rate:g}"] = _trial(method, architecture, rate, settings, data, folder / f"rate_{rate:g}")
    if trials and set(trials.values()) == {None}:
        raise ds.DivergedError(f"One learning rate on trial at least must not diverge. Received: {rates}")
    worth = {name: value for name, value in trials.items() if value is not None}
    best = max(rates, key=lambda rate: worth.get(f"{rate:g}", -math.inf)) if trials else rates[0]
    model, curve, seconds, updates = learn(method, architecture, best, settings, data, folder / "learning", 1.0)
    return model, {
        "learning_rate": best,
        "trials": trials,
        "updates": updates,  # the last round may go beyond those asked for
        "wall_time_seconds": round(seconds, 2),
        "curve": curve,
        **evaluation.evaluate(model, method, settings, data, folder / "learning"),
    }


def _trial(method, architecture, rate, settings, data, folder):
    """What a learning rate is worth on validation data after a part of the minutes; None where it diverges."""

    def value():
        try:
            return learn(method, architecture, rate, settings, data, folder, _TRIAL)[1][-1]["valid"]
        except ds.DivergedError:
            return None

    found = kept.content(folder.with_name(f"{folder.name}.json"), value)
    for place in (folder, _place_of_latents(folder)):  # nothing else is left of a trial
        shutil.rmtree(place, ignore_errors=True)
    return found


def build(method, architecture, settings, x):
    """The model, not compiled; the bias of its data layer starts at the mean of the data."""
    inner = settings["hidden_units"]
    return ds.models.from_name(
        architecture,
        units=x.shape[1],
        hidden_units=inner[0] if len(inner) == 1 else inner,
        data_logits=log_odds(x),
        prior=methods.prior_of(method, settings),
        seed=settings["seed"],
    )


def learn(method, architecture, rate, settings, data, folder, share):
    """Spends a share of the budget, or what is left of it, in the phases of the method.

    With `latents_first` a part of it goes before, in which an SBN stands in the place of the data layer.

    Returns:
      (model, its curve: list of points, see `looks.Looks`, seconds, updates).
    """
    keras.utils.clear_session()  # the names and seeds of a row do not depend on the rows before it
    keras.utils.set_random_seed(settings["seed"])
    model = build(method, architecture, settings, data.train)
    part = settings.get("latents_first") or 0.0
    before = [], 0.0, 0
    if part:
        first = ds.models.with_data_layer(model, ds.layers.SBN(model.units))
        climbing = {**settings, "burn_in": _CLIMB}
        before = _learn(first, method, rate, climbing, data, _place_of_latents(folder), share * part, before)
        model = ds.models.with_data_layer(first, model.generative.layers[-1])
    return model, *_learn(model, method, rate, settings, data, folder, share * (1 - part), before)


def _place_of_latents(folder):
    return folder.with_name(f"{folder.name}_of_latents")


def _learn(model, method, rate, settings, data, folder, share, before):
    """The phases of a model, after what a curve, seconds and updates tell; returns these as they are then."""
    if not _backed_up(folder / "phase_0"):
        shutil.rmtree(folder, ignore_errors=True)  # what was left before the first backup belongs to no chain
    phases = methods.phases(method, rate, settings)
    curve, seconds, earlier = before
    block = min(_ROUND, settings["updates"])
    updates = max(block, math.ceil(share * settings["updates"] / len(phases)))
    rounds, limit = -(-updates // block), 60 * settings["minutes"] * share / len(phases)
    for number, arguments in enumerate(phases):
        model.compile(**arguments, steps_per_execution=block, jit_compile=settings["jit_compile"])
        looks = _phase(model, method, settings, data, folder, number, rounds, limit, seconds, earlier)
        seconds += looks.budget.seconds
    return curve + looks.points, seconds, earlier + int(model.run.steps)


def _phase(model, method, settings, data, folder, number, rounds, limit, seconds, earlier):
    """Runs a phase, or what is left of it; returns its `Looks`."""
    own = folder / f"phase_{number}"
    if not _backed_up(own):
        shutil.rmtree(own, ignore_errors=True)
    own.mkdir(parents=True, exist_ok=True)
    collector = None
    if method in methods.SAMPLERS:
        collector = ds.posterior.Collector(folder / "posterior", settings["posterior_samples"], burn_in=0, stop=False)
    budget = Budget(own / "progress.json", rounds, limit, collector, share=settings.get("burn_in", 0.5))
    look = look_of(method, settings, data)
    rows = settings["batch_size"]
    looks = Looks(folder / "curve.json", budget, look, rows, seconds, earlier, best=folder / "best.npz")
    if budget.over:
        model.load_weights(own / "backup" / "latest.weights.h5")
        return looks
    backup = keras.callbacks.BackupAndRestore(own / "backup", delete_checkpoint=False)
    model.fit(
        data.train,
        batch_size=settings["batch_size"],
        steps_per_epoch=min(_ROUND, settings["updates"]),
        epochs=rounds,
        callbacks=[budget, looks, *_of_sampler(method, settings, data, collector), backup],
        verbose=0,
    )
    return looks


def _of_sampler(method, settings, data, collector):
    """The callbacks of a method that samples; with importance samples their estimates may end the climb before."""
    if collector is None:
        return []
    if method in methods.GIBBS:
        return [collector]
    look = look_of(method, settings, data, ("valid",))
    rounds = max(1, settings["patience"] // (_VALIDATED * _ROUND))
    return [Validation(lambda model: look(model)["valid"], rounds), collector]


def _backed_up(folder):
    return (folder / "backup" / "training_metadata.json").exists()

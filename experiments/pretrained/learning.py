"""Learning what is released; a second call goes on where a first was interrupted."""

import time

import keras

import tfdsmcmc as ds
from experiments.common.seeded_model import seeded_model
from experiments.pretrained.settings import Machine

BATCH = 100


def learnt(settings, data, folder):
    """(model, about): the model at the end of its run, and what the run took, a dict.

    Args:
      settings: `Directed`, whose posterior samples go to FOLDER/posterior, or `Machine`.
      data: `datasets.Dataset`.
      folder: of this run.
    """
    is_machine, backup = isinstance(settings, Machine), folder / "backup"
    is_new = not backup.exists()
    model = (_machine if is_machine else _directed)(settings, data)
    callbacks = [keras.callbacks.BackupAndRestore(backup, delete_checkpoint=False)]
    if not is_machine:
        spread = ds.posterior.last_part(settings.epochs, settings.num_draws, settings.share)
        callbacks.insert(0, ds.posterior.Collector(folder / "posterior", settings.num_draws, **spread))
    valid = data.valid if is_machine else data.valid[: settings.valid_rows]
    begun = time.process_time()
    model.fit(
        data.train, validation_data=valid, batch_size=BATCH, epochs=settings.epochs, callbacks=callbacks, verbose=0
    )
    seconds = round(time.process_time() - begun) if is_new else None  # of a run in parts nobody knows
    return model, {"updates": int(model.run.steps), "processor_seconds": seconds}


def _directed(settings, data):
    model = seeded_model(settings.architecture, data.train, settings.seed)
    model.compile(
        **ds.methods.dsgnht_nais(num_chains=settings.num_chains), steps_per_execution=_steps_at_once(data.train)
    )
    return model


def _machine(settings, data):
    keras.utils.set_random_seed(settings.seed)
    rows = data.train
    rbm = ds.boltzmann.RBM(rows.shape[1], hidden_units=settings.hidden_units, seed=settings.seed)
    falling = keras.optimizers.schedules.CosineDecay(
        settings.learning_rate, settings.epochs * -(-len(rows) // BATCH), alpha=0.01
    )
    growing = ds.boltzmann.GrowingSteps(every=max(1, settings.epochs // settings.cd_steps), most=settings.cd_steps)
    rbm.compile(
        kernel=ds.mcmc.MAP(optimizer=keras.optimizers.SGD(falling, momentum=settings.momentum)),
        estimator=ds.boltzmann.ContrastiveDivergence(steps=growing),
        steps_per_execution=_steps_at_once(rows),
    )
    return rbm


def _steps_at_once(rows):
    return min(50, -(-len(rows) // BATCH))

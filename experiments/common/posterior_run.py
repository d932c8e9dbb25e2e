"""A resumable run of a sampler that ends with posterior samples: what several studies learn with."""

import keras

import tfdsmcmc as ds
from experiments.common import run_settings


def posterior_run(
    folder,
    train,
    architecture,
    updates,
    posterior_samples,
    seed,
    data_logits=None,
    num_chains=None,
    prior=None,
    method="dsgnht_nais",
    options=None,
):
    """Learns, or goes on learning, and returns the model at the end with its posterior samples.

    Args:
      folder: of this run; a run with other arguments in it is refused.
      train: (n, D), NaN where an entry is missing.
      architecture: as in `models.from_name`.
      updates: minibatches of 100 rows; whole epochs are run, and more of them than there are to be samples.
      posterior_samples: of each chain, one an epoch at most, collected evenly over the second half of the run, or over
        more of it where it has fewer epochs; those of the warm start are left out, and there are fewer then.
      seed: of weights and chain.
      data_logits: (D,), where the biases of the data layer start; by default as `models.from_name` has them.
      num_chains: over the weights; by default those of the method.
      prior: of the weights, as `DeepGenerativeModel` takes it; each has a folder of its own.
      method: name of a function in `methods`.
      options: dict of its other arguments that are not as by default.

    Returns:
      (`DeepGenerativeModel`, `Posterior`).
    """
    options = options or {}
    keras.utils.set_random_seed(seed)
    model = ds.models.from_name(architecture, train.shape[1], data_logits=data_logits, prior=prior, seed=seed)
    model.compile(**getattr(ds.methods, method)(num_chains=num_chains, **options), steps_per_execution=20)
    about = {"architecture": architecture, "updates": updates, "posterior_samples": posterior_samples, "seed": seed}
    about |= {} if method == "dsgnht_nais" else {"method": method}  # noted where it is not the usual one
    run_settings.note(folder, {**about, **options, "num_chains": num_chains or "auto", "rows": len(train)})
    _fit(model, train, folder, updates, posterior_samples)
    return model, ds.posterior.load(folder / "posterior")


def _fit(model, train, folder, updates, posterior_samples):
    epochs = max(posterior_samples + 1, updates // -(-len(train) // 100))
    spread = ds.posterior.last_part(epochs, posterior_samples)
    collector = ds.posterior.Collector(folder / "posterior", posterior_samples, **spread)
    backup = keras.callbacks.BackupAndRestore(folder / "backup", delete_checkpoint=False)
    model.fit(train, batch_size=100, epochs=epochs, callbacks=[collector, backup], verbose=0)

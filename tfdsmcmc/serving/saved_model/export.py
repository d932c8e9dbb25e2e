"""Export to SavedModel.

The signatures are said in `serving.saved_model.signatures`. Seeds are inputs: a server that reloads does not repeat
its draws unless it is asked to. Nothing is compiled with XLA unless asked for: a stock TensorFlow Serving refuses such
functions ("XLA compilation disabled") unless it is started with --xla_cpu_compilation_enabled=true.
"""

from __future__ import annotations

from tfdsmcmc import checks
from tfdsmcmc.serving.saved_model import configuration, manifest, warm_up
from tfdsmcmc.serving.saved_model.signatures import names, signatures
from tfdsmcmc.serving.saved_model.weights import Weights
from tfdsmcmc.serving.saved_model.writing import free_target, write_version

_KINDS = {
    "draws": "samples of the posterior",
    "weights": "mean of the posterior's samples",
    "units": "samples of the posterior, averaged unit by unit",
    "start": "weights at which the warm start ended",
}


def export(
    model,
    path,
    version=1,
    posterior=None,
    overwrite=False,
    ensemble=False,
    data_shape=None,
    figures=None,
    only=None,
    sweeps=50,
    max_draws=10_000_000,
    jit=False,
    serving_config=False,
    verbose=True,
    average=None,
):
    """Writes PATH/VERSION/saved_model.pb and its variables, ready for `tf.saved_model.load` and model servers.

    Args:
      model: `DeepGenerativeModel`.
      path: the served model's folder; its name is the model's, and its versions lie beside each other.
      version: positive integer.
      posterior: `Posterior` to export; by default the model's present weights.
      overwrite: whether to replace an existing version, and other serving files.
      ensemble: the same as average="draws".
      data_shape: of a row, such as (28, 28), for those who draw it; by default (D,).
      figures: dictionary of numbers and words for the manifest, such as the test log-likelihood.
      only: names of the signatures to export; by default all that the model can have (see
        `serving.saved_model.signatures`).
      sweeps: of the Markov chain behind each imputation.
      max_draws: draws of the latents that a request may ask for; others are refused.
      jit: whether to compile the parts with XLA; a server must be started with --xla_cpu_compilation_enabled=true.
      serving_config: whether to write warm-up records into the version and `models.config` and `batching.config` beside
        the versions (see `serving.saved_model.configuration`); needs the package tensorflow-serving-api. A server with
        batching takes row-wise signatures alone: export `only` those for it.
      verbose: whether to print the size and the time of a call of each signature.
      average: what the posterior is averaged to, see `posterior.components`; by default its own. "weights" exports the
        mean of each chain's weights, "draws" all samples, "units" the samples of each chain averaged unit by unit. Of
        several components likelihoods are averages, samples and imputations draw one. A likelihood by "draws" or
        "units" costs as many times as much as there are samples, and an imputation 256 draws for each component before
        its chains.

    Returns:
      The version's path, a string.

    Raises:
      ValueError: for an existing version without `overwrite`, a posterior of another architecture, chains of unequal
        numbers of draws with "units", an argument out of range, or weights that are not finite; nothing is written
        then.
      ImportError: with `serving_config` and without tensorflow-serving-api.
      RuntimeError: where the graph holds what a server refuses, or the loaded model answers otherwise than the live
        one; the version is not put in place then.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds, tempfile
    >>> model = ds.DeepGenerativeModel(
    ...     generative=ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.SBN(4)]),
    ...     recognition=ds.RecognitionNetwork([ds.layers.SBN(2)]),
    ... )
    >>> path = ds.serving.export(model, tempfile.mkdtemp() + "/tiny", only=["sample"], verbose=False)
    >>> served = tf.saved_model.load(path)
    >>> served.signatures["sample"](num_samples=tf.constant(3), seed=tf.constant([0, 1]))["x"].shape
    TensorShape([3, 4])
    """
    average = _average_of(model, posterior, ensemble, average)
    version = checks.positive_integer("version", version)
    chosen = _chosen(only, names(model.generative))
    sweeps, max_draws = checks.positive_integer("sweeps", sweeps), checks.positive_integer("max_draws", max_draws)
    data_shape = manifest.checked_shape(data_shape, model.generative.units)
    figures = manifest.checked_figures(figures)
    target = free_target(path, version, overwrite)
    name = target.parent.name
    if serving_config:
        warm_up.protos()
        configuration.check(target.parent, name, overwrite)
    averaged, module, source = _weights(model, posterior, average)
    functions = signatures(averaged, module, chosen, sweeps, max_draws, jit)
    settings = {"sweeps": sweeps, "max_draws": max_draws, "jit": bool(jit)}
    parts = manifest.parts_of_networks(model)
    contents = manifest.manifest(model, parts, name, source, data_shape, functions, settings, figures)
    return write_version(target, module, functions, contents, jit, overwrite, serving_config, verbose)


def _average_of(model, posterior, ensemble, average):
    """The name of the average to export; None for the model's own weights."""
    is_posterior = hasattr(posterior, "components") and hasattr(getattr(posterior, "samples", None), "__len__")
    if not hasattr(model, "generative") or not (is_posterior or posterior is None):
        raise ValueError(f"Export takes a model and a Posterior or None. Received: {model!r}, {posterior!r}")
    if posterior is None:
        if ensemble or average is not None:
            raise ValueError(
                f"ensemble and average are of a posterior. Received: {ensemble!r} and {average!r}, posterior=None"
            )
        return None
    if not len(posterior.samples):
        raise ValueError("A posterior has at least one sample. Received: none")
    if ensemble and average not in (None, "draws"):
        raise ValueError(f"An ensemble is the average over draws. Received: ensemble=True, average={average!r}")
    average = "draws" if ensemble else posterior.average if average is None else average
    draws = posterior.components(model, average, stacklevel=3).draws
    if average == "units" and len(set(draws)) > 1:
        raise ValueError(
            "Units are averaged for export over equally many draws of each chain: cut them, as by posterior[-10:]. "
            f"Received: chains of {draws} draws"
        )
    return average


def _chosen(only, possible):
    """The names of the signatures to write, in their own order."""
    if only is None:
        return possible
    wanted = [only] if isinstance(only, str) else list(only) if isinstance(only, (list, tuple, set)) else []
    if not wanted or any(name not in possible for name in wanted):
        raise ValueError(f"only has names among {possible}. Received: {only!r}")
    return [name for name in possible if name in wanted]


def _weights(model, posterior, average):
    """(the model that has them, the weights to save, what the manifest says of them)."""
    if posterior is None:
        return model, Weights(model), {"kind": "weights of the model", "samples": 1}
    components = posterior.components(model, average, stacklevel=0)
    steps = [int(step) for step in (posterior.samples[0].step, posterior.samples[-1].step)]
    source = {
        "kind": _KINDS[average],
        "average": average,
        "chains": posterior.num_chains,
        "samples": len(posterior.samples),
        "first_step": steps[0],
        "last_step": steps[1],
    }
    averaged = components[0].model
    return averaged, Weights(averaged, _Pairs(components)), source


class _Pairs:
    """The weights of the components of a posterior as pairs (θ, φ), each made when it is asked for."""

    def __init__(self, components):
        self._components = components

    def __len__(self):
        return len(self._components)

    def __getitem__(self, m):
        return self._components[m].weights

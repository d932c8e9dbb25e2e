"""Export to SavedModel.

    log_likelihood (also serving_default)   x (n, D), num_samples, seed (2,) → value, standard_error,
                                            effective_sample_size, each (n,)
    sample                                  num_samples, seed (2,) → x (num_samples, D)

Every input but x is int32. Seeds are inputs: a server that reloads does not repeat its draws unless it is asked to.
The functions are not compiled with XLA, which a stock model server refuses.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import tempfile

import tensorflow as tf

from tfdsmcmc import checks
from tfdsmcmc.likelihood.importance import log_likelihood
from tfdsmcmc.networks import evaluated_at

_CHUNK = 32  # importance samples held at a time; a batch may have any size


def export(model, path, version=1, posterior=None, overwrite=False):
    """Writes PATH/VERSION/saved_model.pb and its variables, ready for `tf.saved_model.load` and model servers.

    Args:
      model: `DeepGenerativeModel`.
      path: the served model's folder; its versions lie beside each other.
      version: positive integer.
      posterior: `Posterior` whose mean of weights to export; by default the model's present weights.
      overwrite: whether to replace an existing version.

    Returns:
      The version's path, a string.

    Raises:
      ValueError: for an existing version without `overwrite`, or a posterior of another architecture; nothing is
        written then.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds, tempfile
    >>> model = ds.DeepGenerativeModel(
    ...     generative=ds.GenerativeNetwork([ds.layers.SBN(2), ds.layers.SBN(4)]),
    ...     recognition=ds.RecognitionNetwork([ds.layers.SBN(2)]),
    ... )
    >>> served = tf.saved_model.load(ds.serving.export(model, tempfile.mkdtemp() + "/tiny"))
    >>> served.signatures["sample"](num_samples=tf.constant(3), seed=tf.constant([0, 1]))["x"].shape
    TensorShape([3, 4])
    """
    if not hasattr(model, "generative") or not hasattr(posterior, "mean") and posterior is not None:
        raise ValueError(f"Export takes a model and a Posterior or None. Received: {model!r}, {posterior!r}")
    if getattr(posterior, "num_chains", 1) > 1:
        raise ValueError(
            "The mean over several chains is no model: choose one, posterior.chain(0). "
            f"Received: a posterior of {posterior.num_chains} chains"
        )
    version = checks.positive_integer("version", version)
    target = pathlib.Path(path) / str(version)
    if target.exists() and not overwrite:
        raise ValueError(f"The version exists; choose another one, or overwrite=True. Received: {target}")
    module = _Servable(model, None if posterior is None else posterior.mean())
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = pathlib.Path(tempfile.mkdtemp(dir=target.parent, prefix=".export-"))
    try:
        tf.saved_model.save(module, str(temporary / "new"), signatures=module.signatures())
        if target.exists():
            os.replace(target, temporary / "old")
        try:
            os.replace(temporary / "new", target)
        except OSError:
            if (temporary / "old").exists():
                os.replace(temporary / "old", target)
            raise
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return str(target)


class _Servable(tf.Module):
    """The served functions at fixed weights. Only the copied weights are attributes, so only they are saved."""

    def __init__(self, model, weights):
        super().__init__()
        generative, recognition = model.generative, model.recognition
        variables = [*generative.weights, *recognition.weights]
        self.weights = [tf.Variable(value, trainable=False) for value in _values(variables, model, weights)]

        def evaluate(x, num_samples, seed):
            with evaluated_at(variables, self.weights):
                estimate = log_likelihood(generative, recognition, x, num_samples, seed, _CHUNK)
            return dict(zip(("value", "standard_error", "effective_sample_size"), estimate))

        def sample(num_samples, seed):
            with evaluated_at(variables, self.weights):
                x, _ = generative.sample(num_samples, seed)
            return {"x": tf.ensure_shape(x, [None, generative.units])}

        scalar, seed = tf.TensorSpec([], tf.int32, "num_samples"), tf.TensorSpec([2], tf.int32, "seed")
        data = tf.TensorSpec([None, generative.units], tf.float32, "x")
        self._evaluate = tf.function(evaluate, input_signature=[data, scalar, seed], autograph=False)
        self._sample = tf.function(sample, input_signature=[scalar, seed], autograph=False)

    def signatures(self):
        evaluate = self._evaluate.get_concrete_function()
        return {
            "serving_default": evaluate,
            "log_likelihood": evaluate,
            "sample": self._sample.get_concrete_function(),
        }


def _values(variables, model, means):
    """The variables' values, those that were learnt replaced by their posterior means."""
    learnt = [*model.generative.trainable_variables, *model.recognition.trainable_variables]
    replacements = learnt if means is None else [*means[0], *means[1]]
    shapes, expected = [tuple(v.shape) for v in replacements], [tuple(v.shape) for v in learnt]
    if shapes != expected:
        raise ValueError(f"The posterior's weights must have the shapes {expected}. Received: {shapes}")
    replaced = {id(variable): value for variable, value in zip(learnt, replacements)}
    return [tf.convert_to_tensor(replaced.get(id(variable), variable)) for variable in variables]

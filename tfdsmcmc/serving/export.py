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
        os.replace(temporary / "new", target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return str(target)


class _Servable(tf.Module):
    """The served functions at fixed weights."""

    def __init__(self, model, weights):
        super().__init__()
        self._generative, self._recognition = model.generative, model.recognition
        self._model_variables = [*model.generative.weights, *model.recognition.weights]
        learnt = [*model.generative.trainable_variables, *model.recognition.trainable_variables]
        means = learnt if weights is None else [*weights[0], *weights[1]]
        shapes, expected = [tuple(v.shape) for v in means], [tuple(v.shape) for v in learnt]
        if shapes != expected:
            raise ValueError(f"The posterior's weights must have the shapes {expected}. Received: {shapes}")
        replaced = {id(variable): mean for variable, mean in zip(learnt, means)}
        values = [replaced.get(id(variable), variable) for variable in self._model_variables]
        self.weights = [tf.Variable(tf.convert_to_tensor(value), trainable=False) for value in values]

    def signatures(self):
        scalar, seed = tf.TensorSpec([], tf.int32, "num_samples"), tf.TensorSpec([2], tf.int32, "seed")
        data = tf.TensorSpec([None, self._generative.units], tf.float32, "x")
        evaluate = tf.function(self._log_likelihood, autograph=False).get_concrete_function(data, scalar, seed)
        sample = tf.function(self._sample, autograph=False).get_concrete_function(scalar, seed)
        return {"serving_default": evaluate, "log_likelihood": evaluate, "sample": sample}

    def _log_likelihood(self, x, num_samples, seed):
        with evaluated_at(self._model_variables, self.weights):
            estimate = log_likelihood(self._generative, self._recognition, x, num_samples, seed, _CHUNK)
        return dict(zip(("value", "standard_error", "effective_sample_size"), estimate))

    def _sample(self, num_samples, seed):
        with evaluated_at(self._model_variables, self.weights):
            x, _ = self._generative.sample(num_samples, seed)
        return {"x": tf.ensure_shape(x, [None, self._generative.units])}

"""Prior densities of named weights.

    log p(θ) = Σ over weights w of Σᵢ log p_w(wᵢ)

Default: Student-t with 2.2 degrees of freedom and scale 0.09, a sparse prior with a heavy tail.
"""

from __future__ import annotations

import re

import keras
import numpy as np
import tensorflow as tf
import tensorflow_probability as tfp

tfd = tfp.distributions


def default_prior():
    """Student-t, 2.2 degrees of freedom, location 0, scale 0.09."""
    return tfd.StudentT(df=2.2, loc=0.0, scale=0.09)


@keras.saving.register_keras_serializable("tfdsmcmc")
class Prior:
    """Independent priors of the entries of named weights.

    Args:
      distribution: a scalar TFP distribution for every weight; or a dict from regular expressions to scalar
        distributions or None (a flat prior). A weight takes the first pattern that is found in its name, such
        as "sbn_1/kernel".

    Raises:
      ValueError: if `distribution` is neither, or a distribution is no scalar one.

    Example:

    >>> import tfdsmcmc as ds, tensorflow_probability as tfp
    >>> tfd = tfp.distributions
    >>> prior = ds.Prior({"kernel": tfd.Laplace(0.0, 0.1), "bias": None})
    >>> round(float(prior.log_prob(["top/kernel"], [[0.0, 0.0]])), 4)
    3.2189
    """

    def __init__(self, distribution=None):
        spec = default_prior() if distribution is None else distribution
        self.patterns = dict(spec) if isinstance(spec, dict) else {"": spec}
        for pattern, member in self.patterns.items():
            _check(pattern, member)

    def log_prob(self, names, values):
        """log p(θ), a scalar.

        Args:
          names: names of the weights.
          values: their tensors.

        Raises:
          ValueError: if no pattern is found in a name.
        """
        total = tf.zeros([])
        for name, value in zip(names, values):
            distribution = self.for_weight(name)
            if distribution is not None:
                log_prob = distribution.log_prob(tf.cast(value, distribution.dtype))
                total += tf.reduce_sum(tf.cast(log_prob, total.dtype))
        return total

    def for_weight(self, name):
        """The distribution of the weight, or None where the prior is flat."""
        for pattern, distribution in self.patterns.items():
            if re.search(pattern, name):
                return distribution
        raise ValueError(f"No pattern of the prior is found in {name!r}. Received: patterns {list(self.patterns)}")

    def get_config(self):
        return {"distribution": {k: _to_config(d) for k, d in self.patterns.items()}}

    @classmethod
    def from_config(cls, config):
        return cls({k: _from_config(d) for k, d in config["distribution"].items()})


def _check(pattern, distribution):
    if not isinstance(pattern, str):
        raise ValueError(f"A prior's patterns are strings. Received: {pattern!r}")
    try:
        re.compile(pattern)
    except re.error as error:
        raise ValueError(f"A prior's patterns are regular expressions ({error}). Received: {pattern!r}") from None
    if distribution is None:
        return
    if not isinstance(distribution, tfd.Distribution):
        raise ValueError(
            "A prior is a TFP distribution, or a dict from name patterns to such. "
            f"Received: {type(distribution).__name__}"
        )
    if distribution.event_shape.rank != 0 or distribution.batch_shape.rank != 0:
        raise ValueError(f"A prior's distributions are scalar. Received: {distribution}")


def _to_config(value):
    """TFP distributions and their parameters as plain data."""
    if isinstance(value, tfd.Distribution):
        name = type(value).__name__
        if getattr(tfd, name, None) is not type(value):
            raise ValueError(f"Only distributions of tfp.distributions can be saved. Received: {value}")
        return {"tfd": name, "parameters": {k: _to_config(v) for k, v in value.parameters.items()}}
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [_to_config(part) for part in value]
    if isinstance(value, tf.DType):
        return {"dtype": value.name}
    if isinstance(value, (np.ndarray, np.generic)) or tf.is_tensor(value) or isinstance(value, tf.Variable):
        array = np.asarray(value)
        return {"array": array.tolist(), "dtype": array.dtype.name}
    raise ValueError(f"A prior's parameters must be numbers or distributions to be saved. Received: {value!r}")


def _from_config(config):
    if isinstance(config, dict) and "tfd" in config:
        return getattr(tfd, config["tfd"])(**{k: _from_config(v) for k, v in config["parameters"].items()})
    if isinstance(config, dict):
        dtype = tf.as_dtype(config["dtype"])
        return tf.constant(config["array"], dtype) if "array" in config else dtype
    if isinstance(config, list):
        return [_from_config(part) for part in config]
    return config

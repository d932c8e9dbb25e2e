"""Importance sampling with the recognition network.

    log p(x) ≈ log (1/K) Σ_k w_k,      w_k = p(x, z_k; θ) / q(z_k given x; φ),      z_k ~ q
    standard error (delta method)    √((K Σ w² / (Σ w)² − 1) / (K − 1))
    effective sample size            (Σ w)² / Σ w²

The estimate is a lower bound in expectation. The sums are streamed over rows and samples with a running maximum, so
memory depends on neither n nor K. With few effective samples the estimate is too low and its standard error, which is
made of the same weights, cannot tell: a `LowEffectiveSampleSize` warning says so. A proposal that misses a mode
altogether has even weights and gives no sign.

Source: Burda, Grosse and Salakhutdinov, "Importance weighted autoencoders", ICLR 2016, equation 8 and theorem 1; Owen,
"Monte Carlo theory, methods and examples" (2013), section 9.2 (delta method) and 9.3 (effective sample size).
"""

from __future__ import annotations

import warnings
import weakref

import numpy as np
import tensorflow as tf

from tfdsmcmc import checks, random
from tfdsmcmc.likelihood.estimate import LogLikelihood, LowEffectiveSampleSize
from tfdsmcmc.networks import evaluated_at

_CHUNK_ENTRIES = 2**20  # floats of the widest layer at once: 4 MiB, about a core's cache
_LARGEST_CHUNK = 2**12  # a longer float32 sum over one axis, as XLA adds it up, loses digits
_FEW_SAMPLES = 10.0

_programs = weakref.WeakKeyDictionary()


def importance_sampling(
    model, x, num_samples=1000, seed=0, batch_size=100, weights=None, warn=True
) -> LogLikelihood:
    """Estimates log p(x) of each row.

    Args:
      model: a `DeepGenerativeModel`.
      x: (n, D).
      num_samples: K, draws for each row.
      seed: integer, or int32 tensor of shape (2,). The draws of a row depend on its batch.
      batch_size: rows at a time.
      weights: pair (θ, φ) of lists of arrays to evaluate at; by default the model's own weights.
      warn: whether to warn where the median effective sample size is below 10.

    Returns:
      `LogLikelihood`.

    Raises:
      ValueError: for data that do not fit the model, or counts below 1.
    """
    num_samples = checks.positive_integer("num_samples", num_samples)
    batch_size = checks.positive_integer("batch_size", batch_size)
    x = checks.rows("x", x, model.generative.units, model.generative.binary_data)
    seed = random.stream(seed, "importance sampling")
    groups = model.generative.trainable_variables, model.recognition.trainable_variables
    theta, phi = (_values(*pair) for pair in zip(groups, groups if weights is None else weights, strict=True))

    batch_size = min(batch_size, _power_of_two(len(x)))
    program = _program(model, chunk_size(model.generative, batch_size, num_samples))
    parts = []
    for number, start in enumerate(range(0, len(x), batch_size)):
        batch = x[start : start + batch_size]
        missing = batch_size - len(batch)
        padded = np.pad(batch, ((0, missing), (0, 0)), mode="edge") if missing else batch
        result = program(theta, phi, padded, tf.constant(num_samples), random.fold(seed, number))
        parts.append([part.numpy()[: len(batch)] for part in result])
    estimate = LogLikelihood(*(np.concatenate(part) for part in zip(*parts)))
    if warn:
        _warn_of_few(estimate.effective_sample_size, num_samples)
    return estimate


def log_likelihood(generative, recognition, x, num_samples, seed, chunk):
    """The estimate as tensors, in graph or eager mode, with the networks' present weights.

    Args:
      generative: `GenerativeNetwork`.
      recognition: `RecognitionNetwork`.
      x: (B, D).
      num_samples: K, int32 scalar.
      seed: int32 of shape (2,).
      chunk: draws held at a time, an integer.

    Returns:
      (value, standard_error, effective_sample_size), each (B,).
    """
    rows = tf.shape(x)[0]
    start = tf.zeros([1, rows])

    def add_chunk(number, maximum, total, squares):
        z, log_q = recognition.sample_and_log_prob(x, chunk, random.fold(seed, number))
        log_weights = generative.log_joint(x, z) - log_q
        wanted = number * chunk + tf.range(chunk) < num_samples
        log_weights = tf.where(wanted[:, tf.newaxis], log_weights, -np.inf)
        highest = tf.maximum(maximum, tf.reduce_max(log_weights, 0, keepdims=True))
        # where every weight so far is 0 the maximum is −∞: any finite reference will do
        reference = tf.where(tf.math.is_finite(highest), highest, 0.0)
        scale = tf.exp(maximum - reference)
        ratio = tf.exp(log_weights - reference)
        return (
            number + 1,
            highest,
            total * scale + tf.reduce_sum(ratio, 0, keepdims=True),
            squares * scale**2 + tf.reduce_sum(ratio**2, 0, keepdims=True),
        )

    _, maximum, total, squares = tf.while_loop(
        lambda number, *_: number * chunk < num_samples,
        add_chunk,
        (tf.constant(0), start - np.inf, start, start),
        shape_invariants=(tf.TensorShape([]), *[tf.TensorShape([1, x.shape[0]])] * 3),
    )
    maximum, total, squares = maximum[0], total[0], squares[0]
    count = tf.cast(num_samples, total.dtype)
    value = maximum + tf.math.log(total) - tf.math.log(count)
    excess = tf.maximum(count * squares / total**2 - 1.0, 0.0)
    return value, tf.sqrt(excess / (count - 1.0)), total**2 / squares


def chunk_size(generative, batch_size, num_samples):
    """Draws held at a time, so that a layer's values fit the cache."""
    widest = max(layer.widest for layer in generative.layers)
    fitting = max(1, min(_LARGEST_CHUNK, _CHUNK_ENTRIES // (batch_size * widest)))
    # powers of two, so that other numbers of rows and samples seldom need another program
    return min(_power_of_two(num_samples), _power_of_two(fitting // 2 + 1))


def _power_of_two(number):
    """The smallest power of two that is not below `number`."""
    return 1 << (number - 1).bit_length()


def _values(variables, weights):
    """The weights as tensors of the variables' types."""
    expected = [tuple(variable.shape) for variable in variables]
    received = [tuple(np.shape(weight)) for weight in weights]
    if received != expected:
        raise ValueError(f"weights must be a pair of lists, one of arrays {expected}. Received: shapes {received}")
    return [tf.cast(tf.convert_to_tensor(w), v.dtype) for v, w in zip(variables, weights)]


def _program(model, chunk):
    """The compiled estimate at explicit weights; one for each model, chunk and way to compile."""
    programs = _programs.setdefault(model, {})
    key = chunk, getattr(model, "uses_xla", True)
    if key not in programs:
        generative, recognition = model.generative, model.recognition

        def evaluate(theta, phi, x, num_samples, seed):
            variables = [*generative.trainable_variables, *recognition.trainable_variables]
            with evaluated_at(variables, [*theta, *phi]):
                return log_likelihood(generative, recognition, x, num_samples, seed, chunk)

        programs[key] = tf.function(evaluate, jit_compile=key[1], autograph=False)
    return programs[key]


def _warn_of_few(effective_sample_size, num_samples):
    median = float(np.median(effective_sample_size))
    if median < min(_FEW_SAMPLES, num_samples / 2):
        warnings.warn(
            f"The median effective sample size is {median:.1f} of {num_samples}: the log-likelihood is "
            "underestimated, by more than its standard error says.",
            LowEffectiveSampleSize,
            stacklevel=3,
        )

"""Programs at explicit weights, compiled once for each model."""

from __future__ import annotations

import functools
import weakref

import tensorflow as tf

from tfdsmcmc.networks import evaluated_at

_programs = weakref.WeakKeyDictionary()


def at_weights(model, values):
    """A context in which both networks have the given weights (θ, φ)."""
    variables = [*model.generative.trainable_variables, *model.recognition.trainable_variables]
    return evaluated_at(variables, [*values[0], *values[1]])


def trained(model):
    """What tells programs apart that take weights: which variables are trained, and so stand in θ and φ."""
    networks = model.generative, model.recognition
    return tuple(id(variable) for network in networks for variable in network.trainable_variables)


def compiled(model, key, evaluate):
    """The program (θ, φ, …) → evaluate(generative, recognition, …) at these weights.

    Args:
      model: a `DeepGenerativeModel`.
      key: hashable; all that `evaluate` depends on besides its arguments.
      evaluate: function of the two networks and tensors; it must not hold the model, which would then live for ever.
    """
    programs = _programs.setdefault(model, {})
    key = key, trained(model), getattr(model, "uses_xla", True)
    if key not in programs:
        # TensorFlow warns of frequent tracing where one function's code is traced often; a partial is its own function
        program = functools.partial(_run, evaluate, model.generative, model.recognition)
        programs[key] = tf.function(program, jit_compile=key[-1], autograph=False)
    return programs[key]


def _run(evaluate, generative, recognition, theta, phi, *arguments):
    variables = [*generative.trainable_variables, *recognition.trainable_variables]
    with evaluated_at(variables, [*theta, *phi]):
        return evaluate(generative, recognition, *arguments)

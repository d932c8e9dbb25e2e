"""What `evaluate` of every learner has in common, beside what it measures."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import keras

from tfdsmcmc._common import checks
from tfdsmcmc.training.fitting.callbacks import listed

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Callbacks, Evaluation, Logs, Verbose
    from tfdsmcmc.training.fitting.learner import Learner


def evaluated(
    learner: Learner,
    measured: Callable[[bool], dict[str, float]],
    y: None,
    callbacks: Callbacks | None,
    verbose: Verbose,
    return_dict: bool,
    keras_arguments: dict[str, Any],
) -> Evaluation:
    """What `evaluate` returns, in the form that Keras and its callbacks expect.

    Args:
      learner: the model.
      measured: function (whether the data are the validation data of the present fit) → dict of numbers.
      y: must be None.
      callbacks: Keras callbacks; they see the beginning and the end of the test.
      verbose: 0 is silent; otherwise a line is printed.
      return_dict: whether to return a dict, or a list.
      keras_arguments: dict of the others that `evaluate` was called with.

    Raises:
      ValueError: for targets, or an argument that means nothing here.
    """
    verbose = checks.verbose(verbose)
    inside_fit = keras_arguments.pop("_use_cached_eval_dataset", False)
    checks.no_targets("evaluate", y)
    for name in ("sample_weight", "steps"):
        if keras_arguments.pop(name, None) is not None:
            raise ValueError(f"evaluate takes data x alone. Received: {name}")
    if keras_arguments:
        raise ValueError(f"evaluate has no such arguments. Received: {sorted(keras_arguments)}")
    if not isinstance(callbacks, keras.callbacks.CallbackList):
        callbacks = keras.callbacks.CallbackList(listed(callbacks), model=learner)
    callbacks.on_test_begin()
    logs = measured(inside_fit)
    callbacks.on_test_end(logs)
    if verbose and not inside_fit:
        print(" - ".join(f"{name}: {value:.4f}" for name, value in logs.items()))
    if inside_fit:
        logs = with_loss(logs)
    return logs if return_dict else list(logs.values())


def with_loss(logs: Logs) -> Logs:
    """Logs with −log_likelihood as `loss` where they have one, under which `TerminateOnNaN` and others look."""
    return {**logs, "loss": -logs["log_likelihood"]} if "log_likelihood" in logs else logs

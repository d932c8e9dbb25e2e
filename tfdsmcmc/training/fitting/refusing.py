"""What Keras offers of every model, and a learner has no meaning for: a ValueError names what there is instead."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

# name of a method: (what its docstring says, what there is instead)
REFUSED: dict[str, tuple[str, str]] = {
    "train_on_batch": (
        "A run learns many steps at a time.",
        "Use fit, with as many epochs as there are batches.",
    ),
    "test_on_batch": (
        "`evaluate` takes any number of rows.",
        "Use evaluate or log_likelihood.",
    ),
    "predict": (
        "A generative model has no outputs of its inputs.",
        "Use log_likelihood, sample or impute.",
    ),
    "predict_on_batch": (
        "A generative model has no outputs of its inputs.",
        "Use log_likelihood, sample or impute.",
    ),
    "export": (
        "A SavedModel has likelihoods, samples and imputations.",
        "Use tfdsmcmc.serving.export(model, path).",
    ),
}


def refused(name: str) -> Callable[..., NoReturn]:
    """The method of this name that raises, by the table."""
    why, instead = REFUSED[name]

    def method(self: object, *args: Any, **kwargs: Any) -> NoReturn:
        raise ValueError(f"{instead} Received: a call of {name}")

    method.__name__, method.__doc__ = name, why
    return method


def no_function(instead: str, inputs: object) -> NoReturn:
    """Raises for a call of a model with inputs; `instead` names what there is of it."""
    raise ValueError(
        f"Use {instead}: a generative model is no function of its inputs. Received: a call with {type(inputs).__name__}"
    )

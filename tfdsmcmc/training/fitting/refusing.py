"""What Keras offers of every model, and a learner has no meaning for: a ValueError names what there is instead."""

from __future__ import annotations

from typing import Any, NoReturn

import keras


class Refusing(keras.Model):
    """Base class of models that are no functions of their inputs, and that learn many steps at a time.

    Attributes:
      instead: of a call, as an error names it.
    """

    instead = "log_likelihood, evaluate or sample"

    def call(self, inputs: Any) -> NoReturn:
        """A generative model is no function of its inputs."""
        raise ValueError(
            f"Use {self.instead}: a generative model is no function of its inputs. "
            f"Received: a call with {type(inputs).__name__}"
        )

    def train_on_batch(self, *args: Any, **kwargs: Any) -> NoReturn:
        """A run learns many steps at a time."""
        raise ValueError("Use fit, with as many epochs as there are batches. Received: a call of train_on_batch")

    def test_on_batch(self, *args: Any, **kwargs: Any) -> NoReturn:
        """`evaluate` takes any number of rows."""
        raise ValueError("Use evaluate or log_likelihood. Received: a call of test_on_batch")

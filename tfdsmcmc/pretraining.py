"""Learning layer by layer: each layer with the units below as its data.

    p(x, z_1) of the data layer under a layer of independent units learns from x;
    p(z_1, z_2) of the next layer learns from draws of z_1 given x at the weights learnt; and so on.

Each is a network of one latent layer, whose own top is left behind, but for the last, which is the model's. Where a
layer could learn p(z_1) better than independent units do, the next one raises a bound of the log-likelihood; that all
of them together are better afterwards is not guaranteed. The weights are where any method may go on: compile and fit
the model, where methods by augmentation need a burn-in of the units, `methods.vb(burn_in=10)`, or the start is lost.

Sources: Gan, Henao, Carlson and Carin, "Learning deep sigmoid belief networks with data augmentation", AISTATS 2015,
section 3.3; Hinton, Osindero and Teh, "A fast learning algorithm for deep belief nets", Neural Computation 18 (2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import contract, methods, random
from tfdsmcmc._common import checks
from tfdsmcmc.model import DeepGenerativeModel
from tfdsmcmc.networks import GenerativeNetwork, RecognitionNetwork
from tfdsmcmc.priors.patterns import without_others
from tfdsmcmc.rows import as_rows

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Callbacks, Verbose
    from tfdsmcmc.rows.from_users import RowsLike

_ROWS = 1000  # whose units are drawn at a time


def pretrain(
    model: DeepGenerativeModel,
    x: RowsLike,
    epochs: int | Sequence[int],
    method: dict[str, Any] | None = None,
    batch_size: int = 100,
    steps_per_execution: int | Literal["auto"] = 1,
    jit_compile: bool = True,
    verbose: Verbose = 0,
    callbacks: Callbacks | None = None,
) -> list[keras.callbacks.History]:
    """Learns the layers of a model one after the other, from the data upwards; θ and φ of the model are changed.

    Args:
      model: `DeepGenerativeModel`; it need not be compiled, and is to be compiled afterwards.
      x: what `fit` takes, of random access; NaN where an entry is missing.
      epochs: of each layer, an integer or a list from the data upwards.
      method: dict of arguments of `compile`, such as `methods` gives, of which each layer gets its own copy; by default
        `methods.polya_gamma_gibbs()`. One chain learns.
      batch_size: B.
      steps_per_execution: as of `compile`.
      jit_compile: as of `compile`.
      verbose: as in Keras.
      callbacks: list of Keras callbacks, which follow the fit of one layer after the other. Their `model` is that of
        the layer, whose last layer is the model's own, under the units of the next one.

    Returns:
      List of `keras.callbacks.History`, from the data upwards.

    Raises:
      ValueError: for a model without latent layers, or what `compile` and `fit` refuse of the lowest layers; nothing is
        changed then.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> model = ds.models.from_name("SBN/SBN 3-2", units=4)
    >>> histories = ds.pretrain(model, np.eye(4), epochs=[3, 1], jit_compile=False)
    >>> [len(history.epoch) for history in histories]
    [3, 1]
    """
    contract.check_directed(model, "pretrain", "A DBN learns its machines layer by layer with fit.")
    layers = model.generative.layers
    depth = len(layers) - 1
    if model.generative.context is not None:
        raise ValueError(f"To learn layer by layer is of rows alone. Received: a model with {model.generative.context}")
    if not depth:
        raise ValueError("To learn layer by layer takes latent layers. Received: a generative network without any")
    counts = list(epochs) if isinstance(epochs, (list, tuple)) else [epochs] * depth
    counts = [checks.nonnegative_integer("epochs", count) for count in counts]
    if len(counts) != depth:
        raise ValueError(f"epochs must be one number, or one for each of {depth} layers. Received: epochs={epochs!r}")
    method = methods.polya_gamma_gibbs() if method is None else method
    options = {"num_chains": 1, "steps_per_execution": steps_per_execution, "jit_compile": jit_compile}
    histories, rows = [], x
    for number, count in enumerate(counts, 1):
        part = _alone(model, number)
        part.compile(**{**_copied(method), **options})
        histories.append(part.fit(rows, batch_size=batch_size, epochs=count, verbose=verbose, callbacks=callbacks))
        if number < depth:
            rows = _units(part, rows)
    return histories


def _alone(model, number):
    """The model of layer `number`, 1 for the data layer, under the next one without its parents."""
    child, parent = model.generative.layers[-number], model.generative.layers[-number - 1]
    if parent.parent_units:
        parent = type(parent).from_config(parent.get_config())  # of the same name, by which a prior knows it
    seed = int(random.integers([], 2**31 - 1, random.stream(model.seed, f"layer {number} alone")))
    generative = GenerativeNetwork([parent, child])
    recognition = RecognitionNetwork([model.recognition.layers[number - 1]])
    prior = without_others(model.prior, [name for name, _ in generative.named_weights])
    return DeepGenerativeModel(generative, recognition, prior, seed)


def _copied(method):
    """The arguments with fresh objects: an optimizer belongs to one run."""
    return {
        name: keras.saving.deserialize_keras_object(keras.saving.serialize_keras_object(value))
        if hasattr(value, "get_config") else value
        for name, value in method.items()
    }  # fmt: skip


def _units(part, x):
    """A draw of the latent units of each row, (N, H): the method's own, else one of the recognition network.

    What a method keeps are draws, or means, from which a draw comes; a draw is its own mean.
    """
    kept, seed = getattr(part.run.state, "units", None), random.stream(part.seed, "units")
    if kept is not None:
        means = tf.cast(kept[0], tf.float32)  # draws are kept as bytes
        return tf.cast(random.open_uniform(means.shape, seed) < means, tf.float32).numpy()
    found = []
    for number, rows in enumerate(part.source("x", x).batches(_ROWS)):
        (z,) = part.recognition.sample(as_rows(rows).floats().plain, 1, random.fold(seed, number))
        found.append(z[0].numpy())
    return np.concatenate(found)

"""A recognition network that has learnt the factors of the rows of variational Bayes.

    φ climbs (1/N) Σ_n E[log q(z given x_n; φ)],   z ~ q(z_n),

which is least KL(q(z_n) ‖ q(z given x_n; φ)) in the mean over the rows. The factors of a row's units have many optima,
and where the weights have learnt from those of the rows, a row that they have not seen is best begun near what its like
have: `variational_bound(initial="recognition")`. Published code takes the units of the test rows along from the first
pass over the training rows to the last, to the same end.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc._common import checks, compiling
from tfdsmcmc.augmentation.variational.mean_field_step import VariationalStep
from tfdsmcmc.rows.source import RandomAccessSource

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.augmentation.variational.mean_field_step import VariationalState
    from tfdsmcmc.programs import DirectedModel
    from tfdsmcmc.rows.from_users import RowsLike


def variational_run(model: DirectedModel, what: str) -> tuple[VariationalStep, VariationalState]:
    """(step, state) of the first chain; a ValueError for a model that learns otherwise.

    Args:
      model: a `DeepGenerativeModel`.
      what: the beginning of the error's message.
    """
    step, state = (None, None) if model.run is None else model.run.step.first_chain(model.run.state)
    if not isinstance(step, VariationalStep):
        received = "a model that is not compiled" if step is None else f"one compiled with {type(step).__name__}"
        raise ValueError(f"{what} of a model that learns by variational Bayes. Received: {received}")
    return step, state


def teach_recognition(
    model: DirectedModel,
    x: RowsLike,
    epochs: int = 30,
    batch_size: int = 100,
    learning_rate: float = 2e-3,
    seed: Seed = 0,
) -> None:
    """Fits the recognition network to the units of the rows that the model has learnt from; θ stays.

    For importance sampling `refit_recognition` is better: it fits the posterior p(z given x; θ), not q.

    Args:
      model: a `DeepGenerativeModel` that has learnt with `methods.vb` or `methods.online_vb`; of several chains it is
        the first that counts.
      x: the rows (N, D) that it has learnt from, in the same order and of the same type: an array or a source with
        random access.
      epochs: passes over them.
      batch_size: rows of an update.
      learning_rate: of Adam.
      seed: integer, or int32 tensor of shape (2,).

    Raises:
      ValueError: for a model that learns otherwise or has not learnt, other rows, a recognition network whose weights
        are frozen, or arguments out of range.
    """
    epochs = checks.positive_integer("epochs", epochs)
    batch_size = checks.positive_integer("batch_size", batch_size)
    learning_rate = checks.learning_rate(learning_rate)
    _, state = variational_run(model, "Units to learn are those")
    source = model.source("x", x)
    if not state.units:
        raise ValueError("Units to learn take latent layers. Received: a generative network without any")
    count = len(state.units[0])
    if not count:
        raise ValueError("Call fit first: the recognition network learns units of rows. Received: units of 0 rows")
    if not isinstance(source, RandomAccessSource) or source.checksum != int(model.run.rows):
        received = f"{source.num_rows} rows of a {type(source).__name__}"
        raise ValueError(f"x must be the {count} rows of fit, in their order and of their type. Received: {received}")
    update = _update(model, learning_rate)
    batch_size, stream = min(batch_size, count), random.stream(seed, "teaching of the recognition network")
    for epoch in range(epochs):
        of_order, of_updates = tf.unstack(random.split(random.fold(stream, epoch), 2))
        order = random.host_permutation(count, of_order)
        for number, start in enumerate(range(0, count - batch_size + 1, batch_size)):  # the rest has another turn
            index = np.asarray(order[start : start + batch_size])
            rows = source.take(index).floats().plain
            update(rows, [tf.gather(part, index) for part in state.units], random.fold(of_updates, number))


def _update(model, learning_rate):
    """A function of rows, their means of the units and a seed: a step of Adam."""
    variables = model.recognition.trainable_variables
    if not variables:
        raise ValueError(f"The recognition network must have weights that learn. Received: {model.recognition}, frozen")
    optimizer = keras.optimizers.Adam(learning_rate)
    optimizer.build(variables)
    step = functools.partial(_climb, model.recognition, optimizer)
    return compiling.program(step, model.uses_xla)


def _climb(recognition, optimizer, rows, means, seed):
    seeds = random.split(seed, len(means))
    z = [tf.cast(random.uniform(tf.shape(m), s) < m, m.dtype)[tf.newaxis] for m, s in zip(means, tf.unstack(seeds))]
    variables = recognition.trainable_variables
    with tf.GradientTape() as tape:
        loss = -tf.reduce_mean(recognition.log_prob(z, rows))
    optimizer.apply(tape.gradient(loss, variables), variables)

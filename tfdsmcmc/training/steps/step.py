"""The contract of a step, the widest in the package: any way to learn from one minibatch after another.

    state ← init(rows, seed)
    state, metrics ← step(state, batch, seed)

A state is a named tuple whose parts are nests of tensors, the first of them the weights of the model. A run keeps it,
saves it, and makes many steps in one compiled program; it knows no method. What learns beside the state by assignment,
such as Keras variables under an optimizer, is named in `own_variables` if Keras does not save it anyway.

Weights of the model that are assigned beside the state, such as those of a recognition network, stand in `beside`, and
with whatever else is assigned, such as the slots of their optimizer, in `assigned`: several chains each have their own.

Parts named in `per_row` have an entry for each row of the data, such as the state of a Markov chain over the latent
variables of that row. They belong to these rows in this order; for others they begin anew.

A step that moves once in a pass over all rows, such as a sweep of full-data Gibbs sampling, sums statistics of the
minibatches in a part of its state, over the rows that `batch.counted`, anew where `batch.begins_pass` is true, moves
where `batch.ends_pass` is, and sets `needs_passes`, so that no epoch is shorter or longer than a pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import keras
    import numpy as np
    import tensorflow as tf

    from tfdsmcmc._common.types import Nest, Number, Seed, TensorLike
    from tfdsmcmc.mcmc.events import Event
    from tfdsmcmc.rows.source import RandomAccessSource, Source
    from tfdsmcmc.training.feeding.batch import Batch


class Step:
    """Base class: a subclass defines `init`, `step` and the attributes that differ.

    Attributes:
      variables: list of the model's variables that the part `weights` of a state stands for.
      num_chains: C, Markov chains over the weights that the step moves. With C > 1 each tensor of the state has a
        leading axis C, and so have the parts of a batch; with one chain there is no such axis.
      metric_names: the keys of the metrics.
      per_row: names of the parts of the state with an entry for each row, along the first axis (after C).
      beside: list of the model's weights that belong to a chain beside `variables`.
      assigned: list of the variables that a step assigns; those in `beside` may be among them.
      needs_passes: whether each epoch must be one pass over all rows, which are the N that there are then.
      fills_gaps: whether it draws what is missing of a row, so that rows with gaps suit any model that it suits.
      takes_weights: whether it heeds weights of the rows.
      phi_follows: whether a recognition network, if there is one, learns along with the weights, so that estimates with
        it tell what these are worth.
      own_variables: dict of further variables that a saved run needs, beside those that Keras saves.
    """

    variables: Sequence[keras.Variable] = ()
    num_chains = 1
    metric_names: tuple[str, ...] = ()
    per_row: tuple[str, ...] = ()
    beside: Sequence[keras.Variable] = ()
    assigned: Sequence[keras.Variable | tf.Variable] = ()
    needs_passes = False
    fills_gaps = False
    takes_weights = False
    phi_follows = False

    @property
    def own_variables(self) -> dict[str, keras.Variable | tf.Variable]:
        return {}

    def init(
        self,
        rows: RandomAccessSource | None,
        seed: Seed,
        weights: Sequence[TensorLike],
        num_rows: Number = 1.0,
        state: Nest = None,
    ) -> NamedTuple:
        """The state with which a run begins, or goes on with new rows.

        Args:
          rows: a source of rows with random access; None where there is none, or none yet: parts for each row have no
            entry then.
          seed: int32 of shape (2,).
          weights: list of tensors, (C, …) for several chains.
          num_rows: N.
          state: the state so far, for a run that learnt before: what does not depend on the rows goes on.

        Returns:
          Named tuple with a field `weights`.
        """
        raise NotImplementedError(f"{type(self).__name__} must define init(rows, seed, weights, …).")

    def check_rows(self, rows: Source) -> None:
        """Raises a ValueError for rows that the step cannot learn from; `fit` asks before it changes anything.

        Args:
          rows: a source of rows with random access.
        """

    def look_at(self, rows: Source, steps: int) -> None:
        """Looks at the rows of a fit before its first step, if what the step does goes by them.

        Args:
          rows: a source, with random access or without.
          steps: that the run has made.
        """

    def step(self, state: Nest, batch: Batch, seed: Seed) -> tuple[Nest, dict[str, tf.Tensor]]:
        """One step, in a graph.

        Args:
          state: as `init` gives it; the tensors of a part for each row have any number of rows.
          batch: `Batch`.
          seed: int32 of shape (2,).

        Returns:
          (state, metrics): of the same structure, shapes and types; a dict of float32 scalars, one for each of
          `metric_names`.
        """
        raise NotImplementedError(f"{type(self).__name__} must define step(state, batch, seed).")

    def metric_weight(self, batch: Batch) -> Number:
        """What the metrics of a step count for in those of an epoch, such as the number of rows they are means of."""
        return 1.0

    def sampled(self, state: Nest) -> bool | tf.Tensor:
        """Whether the weights may be a posterior sample, a boolean scalar; False while an optimizer climbs first."""
        return True

    def started_at(self, state: Nest) -> tuple[list[tf.Tensor], list[tf.Tensor]] | None:
        """The weights at which sampling began, which an optimizer found best; None where none did.

        Returns:
          (list as `variables`, list as `beside`); the second is empty where none were kept with the first.
        """
        return None

    def leaves_for(self, state: Nest, steps: int) -> tuple[list[tf.Tensor], list[tf.Tensor]] | None:
        """The weights that the next step goes back to, as `started_at` has them; None where it does not.

        Args:
          state: of one chain.
          steps: how many steps ago, at least, these weights were the present ones; at least 1.
        """
        return None

    def has_ended_climb(self, state: Nest) -> bool:
        """Whether an optimizer that climbs before sampling is to make no further step, at the state of one chain."""
        return False

    @property
    def most_climbs(self) -> int:
        """How many climbs from new weights may follow each other before a single chain samples."""
        return 1

    def climb_of(self, state: Nest) -> tuple[int, int, float]:
        """(updates so far, the one from which on it samples, the best look at validation rows) of such a step."""
        raise NotImplementedError(f"{type(self).__name__} does not climb.")

    def first_chain(self, state: Nest) -> tuple[Step, Nest]:
        """(the step of one chain, the state of the first chain)."""
        return self, state

    def posterior_draw(self, state: Nest, seed: Seed) -> list[tf.Tensor]:
        """The weights of a posterior sample at this state, a list as its own.

        They are those of the chain. A step whose state describes a law of the weights draws from it, with a seed that
        belongs to the state.
        """
        return list(state.weights)

    def told(self, state: Nest, event: Event, beside: Sequence[TensorLike] | None = None) -> Nest:
        """The state after an event of the run (`mcmc.events`), counted in steps; a step with phases takes notice.

        Args:
          state: the state.
          event: one of them.
          beside: the present values of `beside`, of several chains with their axis; by default those of the variables.
        """
        del event, beside
        return state

    def skipped(self, state: Nest) -> tuple[tf.Tensor, tf.Tensor] | None:
        """What a run asks at the end of an epoch to tell a chain that cannot move.

        Returns:
          (updates of the weights so far, those of them that were left out as not finite), integers, (C,) for several
          chains; None where no update is ever left out.
        """
        return None

    def fresh_weights(self, seed: Seed) -> list[np.ndarray]:
        """Weights at which another chain may start, list of arrays as `variables` and `beside`."""
        raise NotImplementedError(f"{type(self).__name__} does not say where a second chain starts.")

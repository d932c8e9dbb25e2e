"""What annealing needs to know of a path of densities, whatever it is a path over.

A path has unnormalised densities f_β(s), 0 ≤ β ≤ 1, of the states s of n independent runs; transitions that leave f_β
invariant; and a law g that can be drawn from. With g normalised, a run's weight (see `annealed`) has the mean
Z_1 = Σ_s f_1(s). Where f_0 itself is drawn from, g = f_0/Z_0, a path may leave out Z_0, which must be the same for
every run of a row: `log_start` is then 0 where it would be log Z_0, and the mean is Z_1/Z_0.

A state is any nest of tensors whose leading axis has the n runs: a list of layers, a dictionary of two machines, one
tensor. Runs may be of several rows, each with a normaliser of its own: run r of row i stands at r · rows + i.

The simplest path has `start`, `log_density` and `move`. `tests/conformance/paths.py` has one suite for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np
import tensorflow as tf

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Nest, Number, Seed


class Path:
    """Densities f_β of the states of n runs.

    Subclasses define `start`, `log_density` and `move`; `log_start` where g is not f_0, and `increment` where the
    difference of two densities is known more exactly, or at less cost, than as a difference.

    Args:
      num_runs: n, an integer.
      num_rows: the rows that the runs are of, of which n is a multiple; 1 where all runs are of one density.

    Attributes:
      step_size: of the transitions: None where they have none, a number, or "auto" for one that a pilot run fits for
        each β.
      target_acceptance: the mean acceptance probability at which such a fit aims.
    """

    num_runs: int
    num_rows: int
    step_size: float | Literal["auto"] | None = None
    target_acceptance: float | None = None

    def __init__(self, num_runs: int, num_rows: int = 1):
        self.num_runs, self.num_rows = num_runs, num_rows

    def start(self, seed: Seed) -> Nest:
        """The states of n runs drawn from g.

        Args:
          seed: int32 of shape (2,).
        """
        raise NotImplementedError(f"{type(self).__name__} must define start(seed).")

    def log_start(self, state: Nest) -> tf.Tensor:
        """log f_0(s)/g(s), (n,)."""
        return tf.zeros([self.num_runs])

    def log_density(self, beta: Number, state: Nest) -> tf.Tensor:
        """log f_β(s), (n,).

        Args:
          beta: β, a scalar.
          state: as `start` returns it.
        """
        raise NotImplementedError(f"{type(self).__name__} must define log_density(beta, state).")

    def increment(self, before: Number, after: Number, state: Nest) -> tf.Tensor:
        """log f_after(s) − log f_before(s), (n,), of two β; −∞ where f_before is 0."""
        return difference(self.log_density(after, state), self.log_density(before, state))

    def move(
        self,
        beta: Number,
        state: Nest,
        seed: Seed,
        step_size: Number | None = None,
    ) -> tuple[Nest, tf.Tensor | None]:
        """One transition that leaves f_β invariant.

        Args:
          beta: β, a scalar.
          state: as `start` returns it.
          seed: int32 of shape (2,).
          step_size: a scalar, of transitions that have one.

        Returns:
          (the new state, in the structure of the old; the acceptance probabilities (n,), or None where nothing is ever
          refused).
        """
        raise NotImplementedError(f"{type(self).__name__} must define move(beta, state, seed, step_size).")


def difference(after: tf.Tensor, before: tf.Tensor) -> tf.Tensor:
    """log f_after − log f_before; −∞ where f_before is 0: a state that has no density weighs nothing from there on."""
    return tf.where(before > -np.inf, after - before, before)

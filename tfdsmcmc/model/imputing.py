"""Imputations of a deep generative model, as arrays alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tfdsmcmc import imputation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.model.deep_generative_model import DeepGenerativeModel
    from tfdsmcmc.rows.from_users import RowsLike


def impute(
    self: DeepGenerativeModel,
    x: RowsLike,
    mask: ArrayLike | None,
    num_imputations: int,
    seed: Seed,
    probabilities: bool,
    majority: bool,
    **options: Any,
) -> np.ndarray:
    """Draws the missing entries of rows from p(x_missing given x_observed).

    Args:
      x: (n, D), missing entries NaN or, under a mask, anything.
      mask: (n, D) or (D,), True where an entry is observed.
      num_imputations: draws for each row.
      seed: integer, or int32 tensor of shape (2,).
      probabilities: True for the means of the missing entries instead of draws: the probabilities of a one, for
        binary data.
      majority: True for the likeliest value of each missing entry, as the literature reports accuracies: of binary
        data 1 where that probability is above ½, else 0; discrete data alone.
      **options: of `imputation.impute`, such as `method`, `burn_in`, `posterior` and `average`. It returns
        effective sample sizes besides; whether `burn_in` was long enough only a longer one tells.

    Returns:
      float32 array (num_imputations, n, D), or (n, D) of the probabilities or the majority; what is observed is
      as it was.

    Raises:
      ValueError: for data, a mask or options that do not fit.
    """
    if majority and (probabilities or not self.support.discrete):
        kind = type(self.generative.layers[-1]).__name__
        raise ValueError(
            "A majority is of discrete data, in place of the probabilities. "
            f"Received: majority=True, probabilities={probabilities!r}, data layer {kind}"
        )
    drawn, means, *_ = imputation.impute(self, x, mask, num_imputations, seed, **options)
    if majority:
        return self.support.mode(means)
    return means if probabilities else drawn

"""What an imputer knows beside the values in gaps: other completions, probabilities, new rows, log-likelihoods."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tfdsmcmc._common import checks
from tfdsmcmc.imputer import frames, multiple, sharing
from tfdsmcmc.imputer.completions import log_likelihood_by_completions
from tfdsmcmc.imputer.table import Table
from tfdsmcmc.rows import ArraySource

if TYPE_CHECKING:
    import pandas
    from numpy.typing import ArrayLike

    from tfdsmcmc._common.estimates import LogLikelihood


class Knowing:
    """Methods of a fitted imputer; `Imputer` has what they need."""

    _like: Any  # a foreign frame without rows, of the types of `fit`

    def impute(self: Any, X: ArrayLike | pandas.DataFrame, num_imputations: int = 20) -> list[Any]:
        """Several completions of a table, of draws of the weights and of the gaps.

        Each is at a posterior sample of its own, as long as there are as many; with fewer `posterior_samples` some
        share one, and less is seen of what is not known of the weights. Only a method that samples has draws of their
        posterior, as the default does for up to 256 columns: samples of one that climbs, as "iwae" of a VAE, are points
        of its path, which differ too little. Analyses of the tables are put together by `imputation.pool`.

        Args:
          X: as `transform` takes it.
          num_imputations: m.

        Returns:
          List of m tables as `transform` gives them.

        Raises:
          ValueError: for a count that is not positive, or as `transform`.
        """
        count = checks.positive_integer("num_imputations", num_imputations)
        X, rows, finish = self._opened(X)
        if rows.complete:
            return [finish(X, None) for _ in range(count)]
        options = self._imputation_options()
        drawn = multiple.imputations(self.model_, self.posterior_, rows, count, self._seed(), options, self.verbose)
        return [finish(X, values) for values in drawn]

    def probabilities(self: Any, X: pandas.DataFrame) -> dict[Any, pandas.DataFrame]:
        """The probabilities of the states of each column that is binary, categorical or ordinal.

        Args:
          X: DataFrame with the columns of `fit`.

        Returns:
          Dict from names of columns to DataFrames with a row for each of X and a column for each state; where X shows
          the state its probability is 1.

        Raises:
          ValueError: where `fit` was given an array, or as `transform`.
        """
        frame, rows, _ = self._opened(X)
        if not isinstance(self.columns_, Table):
            raise ValueError("Probabilities are of the columns of a DataFrame. Received: an imputer fitted to an array")
        means = rows.values.astype(np.float32) if rows.complete else self._imputation(rows).probabilities
        found = self.columns_.probabilities(frame, means)
        return {name: frames.made(X, part) for name, part in found.items()} if frames.is_foreign(X) else found

    def log_likelihood(
        self: Any, X: ArrayLike | pandas.DataFrame, num_samples: int = 1000, seed: int = 0
    ) -> LogLikelihood:
        """log p(x_observed) of each row, in the units of the columns, averaged over the posterior samples.

        Args:
          X: as `transform` takes it.
          num_samples: draws of the hidden units for each row.
          seed: of the draws.

        Returns:
          `LogLikelihood`; of real columns it is that of a density.

        Raises:
          ValueError: as `transform`.
        """
        _, rows, _ = self._opened(X)
        with sharing.in_place_of(self.model_) as twin:
            if not (rows.complete or twin.generative.layers[-1].factorised):
                found = log_likelihood_by_completions(twin, self.posterior_, rows, num_samples, seed)
            elif self.posterior_ is None:
                found = twin.log_likelihood(ArraySource(rows), num_samples, seed)
            else:
                found = self.posterior_.log_likelihood(twin, ArraySource(rows), num_samples, seed)
        return found._replace(value=found.value - self.columns_.log_scales(rows))

    def sample(self: Any, num_rows: int, seed: int | None = None) -> Any:
        """New rows, drawn from what was learnt, each at a posterior sample of its own.

        Args:
          num_rows: n.
          seed: integer; None for that of the fit.

        Returns:
          A DataFrame with the types of `fit`, or an array where it was given one; columns of which nothing was observed
          are left out.

        Raises:
          ValueError: for a count that is not positive.
        """
        check_is_fitted(self)
        seed = self.seed_ if seed is None else seed
        drawn = self.model_.sample(checks.positive_integer("num_rows", num_rows), seed, posterior=self.posterior_)
        if isinstance(self.columns_, Table):
            frame = self.columns_.frame_of(drawn)
            return frame if self._like is None else frames.like(self._like, frame)
        return self.columns_.drawn(drawn)

"""An imputer with the interface of scikit-learn.

It learns p(x, z; θ) from rows with gaps by what they do show, and fills the gaps of these or of new rows from

    p(x_missing given x_observed) = ∫ p(x_missing given x_observed, θ) p(θ given x_observed, X) dθ

of which `imputation.impute` tells how. Source: Rubin, "Multiple imputation for nonresponse in surveys" (1987), chapter
3; the interface is that of Buitinck et al., "API design for machine learning software", ECML PKDD workshop (2013).
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from tfdsmcmc import imputation
from tfdsmcmc._common import checks
from tfdsmcmc.imputation.directed import method_for
from tfdsmcmc.imputer import choices, learning, opening, sharing
from tfdsmcmc.imputer.knowing import Knowing
from tfdsmcmc.imputer.table import Table
from tfdsmcmc.rows import ArraySource

if TYPE_CHECKING:
    import pandas
    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from tfdsmcmc._common.types import MethodName, Verbose
    from tfdsmcmc.imputer.columns import Columns
    from tfdsmcmc.imputer.kinds_of_columns import Word
    from tfdsmcmc.model import DeepGenerativeModel
    from tfdsmcmc.posterior.ensemble import Posterior

_STRATEGIES = ("probabilities", "mode", "draw")
_OWN = ("model", "x", "mask", "num_imputations", "seed", "posterior", "verbose")  # options that the imputer sets itself
_OPTIONS = [name for name in inspect.signature(imputation.impute).parameters if name not in _OWN]


class Imputer(Knowing, OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """Fills missing entries, NaN, with what a deep generative model expects there given the rest of the row.

    A DataFrame of pandas gives a DataFrame with the same columns, types, categories and index; one of Polars, or a
    table of Arrow, gives such a one (with the extra `tables`). The kinds of its columns follow from their types, see
    `kinds_of_columns`, or are said by `kinds`; dates and free text have none and are refused. Real columns, amounts and
    counts are filled with the conditional means, rounded where they are counts or of a type of integers; the others
    with the likeliest values. Values that a column of states did not have in `fit` are refused.

    Of an array, where all observed entries of X are 0 or 1 the data layer is binary, and `transform` takes no others.
    Otherwise all columns are taken for real ones, those of zeros and ones among them: they are standardised.

    By default weights are drawn from their posterior, along with what is missing of the rows that are learnt from, up
    to 256 columns. Where these are not all binary each is a regression on others, the ones that are missing more often
    on those that are less often, of its kind: normal, logistic, of counts …; with n/100 latent binary units besides, 50
    at most, from 500 rows on. Fewer rows say too little about latent units, which would attenuate slopes.

    Entries must be missing at random: what is missing may depend on what is observed alone. Columns of which nothing
    was observed in `fit` are left out by `transform`, with a warning, unless `keep_empty_features`: as in
    scikit-learn's imputers.

    Arguments are checked in `fit`; `strategy`, `imputation_options` and `random_state` may be changed after it, with
    `set_params`. Several imputations are those of `impute`: draws of `strategy="draw"` have weights of their own for
    each row unless these weigh alike, and tell less of what is not known of them.

    Args:
      architecture: as in `models.from_name`, where other columns than binary ones replace its data layer: by a
        `layers.Mixed` that is dependent of a DARN, and otherwise independent given the hidden units, an `MLPGaussian`
        where all columns are real. By default "DARN/DARN 50" for binary columns and "DARN", without latent units, or
        "DARN/SBN" of the size above for others. Of more than 256 columns, and where X has gaps and a method or its
        options are given, it is "SBN/SBN 50" for binary ones and "VAE 10" for others; see `docs/results/archive.md`.
      kinds: dict from names of columns of a DataFrame to "binary", "categorical", "ordinal", "count",
        "semicontinuous" (amounts, many of them 0), "skewed" (normal after a power transform) or "real".
      hidden_units: of the inner network of each NADE and VAE layer and of an `MLPGaussian` data layer.
      method: name of a function in `methods`; by default "iwae" for a VAE, "dsgnht_gibbs" with `draw_missing` where X
        has gaps and the columns depend on each other besides on the hidden units, as in a DARN or, of binary columns,
        a NADE, and "dsgnht_nais" for all else.
      method_options: its arguments, a dict; None for its own defaults, or where `method` is None and becomes that of a
        sampler for one chain with its defaults. Where `method` becomes "dsgnht_gibbs", `draw_missing` is among them.
      updates: minibatches to learn from, at most; a method of whole passes makes at least two a sample.
      batch_size: rows in each; by default half of X, at most 100.
      posterior_samples: M, samples of the weights from the second half of the run, over which imputations are averaged;
        0 for the last weights alone. Where the method climbs to one θ they are points of its path.
      strategy: "probabilities" for the conditional means, of binary columns the probabilities of a one; "mode" for 1
        where that is above ½, else 0, of real columns the conditional means; "draw" for one draw from the conditional
        law, of all rows at one random sample of the weights where these weigh alike. In a DataFrame the first is the
        second, for its types have no probabilities.
      imputation_options: arguments of `imputation.impute`, such as `burn_in` and `num_chains`, a dict. By default the
        weights of the samples suit new rows, where the method teaches a recognition network to tell them;
        `{"posterior_weights": "equal"}` suits those of `fit`. Where no length is among them, chains of more than 1,000
        rows with gaps go on from sample to sample, and 20 samples give 480 states in place of 2,000. More than 10,000
        such rows have one chain each, and `transform` takes 10 of the samples at most: probabilities are from 40
        states, of more than 100,000 rows from 30. Chains at fewer samples are longer, of 50 sweeps that count at most.
      keep_empty_features: whether columns of which nothing was observed stay, filled with 0; of a DataFrame those that
        are no numbers stay empty.
      random_state: integer, `numpy.random.RandomState`, or None for another seed in each `fit`; after it an integer
        alone is heeded. Imputations of a row depend on its place among the rows with gaps.
      verbose: as in Keras, of `fit`; of imputations 0 is silent, and otherwise a bar tells how far they are.
      jit_compile: whether to compile with XLA: some seconds more to begin with, and then much faster. Fits and
        imputations in one process share what was compiled where arguments and numbers of rows and columns are equal.

    Attributes:
      model_: `DeepGenerativeModel` of the columns that were observed, at its last weights.
      posterior_: `Posterior` of M samples in memory, or None.
      columns_: which columns were observed, of what kinds they are, and their means and standard deviations.
      seed_: integer, drawn from `random_state` in `fit`.
      n_features_in_: number of columns in `fit`.
      feature_names_in_: their names, where they have names.

    Raises:
      ValueError: in `fit` and `transform`, for arguments out of range or data that do not fit.

    Example:

    >>> import numpy as np, tfdsmcmc as ds
    >>> x = np.array([[1, 0, np.nan], [0, 1, 1], [1, np.nan, 0], [0, 1, 1]])
    >>> imputer = ds.Imputer("SBN 2", updates=2, posterior_samples=0, strategy="mode", jit_compile=False)
    >>> filled = imputer.fit_transform(x)
    >>> filled.shape, bool(np.isnan(filled).any())
    ((4, 3), False)
    """

    model_: DeepGenerativeModel
    posterior_: Posterior | None
    columns_: Columns | Table
    seed_: int
    n_features_in_: int

    def __init__(
        self,
        architecture: str | None = None,
        *,
        kinds: dict[Any, Word] | None = None,
        hidden_units: int | Sequence[int] = 100,
        method: MethodName | None = None,
        method_options: dict[str, Any] | None = None,
        updates: int = 5000,
        batch_size: int | None = None,
        posterior_samples: int = 20,
        strategy: Literal["probabilities", "mode", "draw"] = "probabilities",
        imputation_options: dict[str, Any] | None = None,
        keep_empty_features: bool = False,
        random_state: int | np.random.RandomState | None = None,
        verbose: Verbose = 0,
        jit_compile: bool = True,
    ):
        self.architecture = architecture
        self.kinds = kinds
        self.hidden_units = hidden_units
        self.method = method
        self.method_options = method_options
        self.updates = updates
        self.batch_size = batch_size
        self.posterior_samples = posterior_samples
        self.strategy = strategy
        self.imputation_options = imputation_options
        self.keep_empty_features = keep_empty_features
        self.random_state = random_state
        self.verbose = verbose
        self.jit_compile = jit_compile

    def fit(self, X: ArrayLike | pandas.DataFrame, y: Any = None) -> Self:
        """Learns the model.

        Args:
          X: (n, D), numbers, with NaN where an entry is missing, or a masked array; or a DataFrame.
          y: ignored.

        Returns:
          The imputer.

        Raises:
          ValueError: for arguments out of range, X with nothing observed or with columns of no kind, or a data layer
            that takes no gaps. What was learnt before stays then.
        """
        learnt = copy.copy(self)
        learnt._learn(X)
        self.__dict__ = learnt.__dict__
        return self

    def _learn(self, X):
        self._check_imputation()
        length = learning.epoch_length(self.updates, self.posterior_samples)
        choices.batch_size_of(self.batch_size, 1)
        X, columns = opening.columns_in_fit(self, X)
        rows = columns.standardised(X)
        kinds = columns.kinds if isinstance(columns, Table) and columns.mixed else None
        width = rows.values.shape[1] if kinds is None else len(kinds)  # of what the model has
        architecture, method, options = self._choices(columns.binary, width, not rows.complete, len(rows.values))
        batch_size = choices.batch_size_of(self.batch_size, len(rows.values))
        arguments = learning.compile_arguments(method, options)
        if not (columns.kept.all() or self.keep_empty_features):
            names = getattr(columns, "names", range(len(columns.kept)))
            empty = [name for name, kept in zip(names, columns.kept, strict=True) if not kept]
            warnings.warn(f"Columns without an observed entry are left out of the result: {empty}", stacklevel=3)
        seed = int(choices.random_state_of(self.random_state).randint(np.iinfo(np.int32).max))
        model = learning.build(rows, columns.binary, architecture, self.hidden_units, seed, kinds)
        method_for(model.generative, self._imputation_options().get("method", "auto"))  # which refuses others
        model.compile(**arguments, steps_per_execution=length, jit_compile=self.jit_compile)
        model.fitting.settle(self.updates)  # a twin has as many chains
        with sharing.in_place_of(model, run=True) as twin:
            posterior = learning.learn(twin, rows, self.updates, batch_size, self.posterior_samples, self.verbose)
        # where gaps are drawn, estimates of log p(x_observed) cost as much as all else, and φ has not learnt from gaps
        telling = arguments.get("proposal") is not None and not model.run.step.fills_gaps
        self.seed_, self.columns_, self._phi_learns = seed, columns, telling
        self.posterior_, self.model_ = posterior, model

    def transform(self, X: ArrayLike | pandas.DataFrame) -> Any:
        """Fills the gaps of rows.

        Args:
          X: (n, D), numbers, with NaN where an entry is missing; or a DataFrame.

        Returns:
          Array (n, K) of the type of X, floating, or a DataFrame; what is observed is as it was. K = D where every
          column was observed in `fit`. Categories whose gaps were filled are those of `fit`; so is the type of a column
          where the one that it has cannot hold what fills it.

        Raises:
          ValueError: for arguments out of range, other entries than 0 and 1 where the data layer is binary, or values
            that a column of a DataFrame cannot have.
        """
        X, rows, finish = self._opened(X)
        if rows.complete:
            return finish(X, None)
        if self.strategy == "draw":
            return finish(X, self._imputation(rows, draws=True).x[0])
        result = self._imputation(rows)
        table = isinstance(self.columns_, Table)
        if table or self.strategy == "mode" and self.columns_.binary:
            return finish(X, self.model_.support.mode(result.probabilities))
        return finish(X, result.probabilities)

    def get_feature_names_out(self, input_features: Sequence[str] | None = None) -> np.ndarray:
        """The names of the columns of the result.

        Args:
          input_features: names of the columns of X; by default those seen in `fit`, or x0, x1, …

        Returns:
          Array of strings.
        """
        names = super().get_feature_names_out(input_features)
        return names if self.keep_empty_features else names[self.columns_.kept]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _opened(self, X):
        """(X checked, its `Rows`, function of it and values (n, K) or None → the result), after `fit`."""
        check_is_fitted(self)
        self._check_imputation()
        return opening.opened(self, X)

    def _imputation(self, rows, draws=False):
        """`imputation.Imputation` of rows, in the units of the data layer."""
        posterior = self.posterior_
        count = 0 if posterior is None else len(posterior.samples)
        options, most = choices.lengths_of(self._imputation_options(), len(rows.with_gaps), draws, count)
        if posterior is not None and draws and choices.one_serves(options):
            posterior = learning.posterior_of(posterior.samples[choices.place_of_draw(count, self._seed())])
        elif posterior is not None and most is not None:
            posterior = learning.posterior_of(*posterior.samples[:: -(-count // most)])
        with sharing.in_place_of(self.model_) as twin:
            told = {"seed": self._seed(), "verbose": self.verbose, **options}
            return imputation.impute(twin, ArraySource(rows), posterior=posterior, **told)

    def _imputation_options(self):
        # samples are weighed by estimates that a recognition network makes
        options = {"posterior_weights": "likelihood" if getattr(self, "_phi_learns", True) else "equal"}
        return options | ({} if self.imputation_options is None else self.imputation_options)

    def _seed(self):
        # an integer may have been set since the fit, for other draws of the same model
        return int(self.random_state if isinstance(self.random_state, (int, np.integer)) else self.seed_)

    def _check_imputation(self):
        """Raises a ValueError for what `transform` cannot use; `fit` asks as well, before anything is learnt."""
        checks.one_of("strategy", self.strategy, _STRATEGIES)
        checks.verbose(self.verbose)
        checks.boolean("keep_empty_features", self.keep_empty_features)
        choices.random_state_of(self.random_state)
        if self.imputation_options is not None:
            learning.check_options("imputation_options", self.imputation_options, _OPTIONS)
            choices.check_lengths(self.imputation_options, self.posterior_samples)

    def _choices(self, binary, num_columns, gaps, num_rows=10**6):
        """(architecture, method, its options), with defaults where they are not given."""
        given = self.architecture, self.method, self.method_options
        return choices.chosen(*given, binary, num_columns, gaps, num_rows)

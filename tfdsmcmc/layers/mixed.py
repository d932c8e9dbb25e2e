"""The data layer of a table whose columns are of several kinds.

    p(y given h) = Π_c p_c(y_c; λ_c),      λ = e W + b,      e = tanh(… tanh(h A₀ + a₀) …) or h

over the columns c, each with the law of its kind (`columns`), whose parameters are some entries of λ and, for what all
rows share, weights of the layer. Entries of λ stand in the order of `columns.Layout`: those of the columns of one
likeness together. With `dependent` the parameters of a column also have a term that is linear in the columns before
it, as in a DARN, see `columns.DependentColumns`.

Source: Valera and Ghahramani, "General latent feature models for heterogeneous datasets", Journal of Machine Learning
Research 21 (2020); Nazábal, Olmos, Ghahramani and Valera, "Handling incomplete heterogeneous data using VAEs", Pattern
Recognition 107 (2020).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import keras
import tensorflow as tf

from tfdsmcmc._common import checks
from tfdsmcmc.columns import DependentColumns, IndependentColumns, Layout
from tfdsmcmc.distributions.affine import affine
from tfdsmcmc.distributions.ordering import check_ordering
from tfdsmcmc.layers.initial import add_weight, initializer_of
from tfdsmcmc.layers.mlp import _MLP

if TYPE_CHECKING:
    from typing_extensions import Self

    from tfdsmcmc._common.types import Config, Distribution, Seed, TensorLike
    from tfdsmcmc.columns import Kind
    from tfdsmcmc.layers.initial import Initializer


@keras.saving.register_keras_serializable("tfdsmcmc")
class Mixed(_MLP):
    """Columns of several kinds, independent given the parents or the output of an inner network unless `dependent`.

    Its `units` are the entries of a row, of which a column takes one or several side by side.

    Args:
      columns: list of `columns.Kind`, in the order of a row.
      hidden_units: widths of the inner network, the one next to the parents first; none without it.
      dependent: whether each column depends on those before it too. Missing columns do not drop out then: rows with
        gaps are learnt from by latents that draw them, as in `methods.dsgnht_gibbs(draw_missing=True)`.
      ordering: permutation of the columns where they depend on each other, the first one first; None for 0, 1, ….
        Where columns that are missing more often come later, draws of what is missing are accepted more often: all are
        where no column is observed in a row that lacks an earlier one (a monotone pattern, Rubin 1987, section 5.4).
      activation: of the inner network, as in Keras.
      kernel_initializer: of the matrices.
      bias_initializer: of b, (P,), the parameters of all columns. `columns.Kind.fitted` tells where to start for data.
      shared_initializer: of the weights that all rows share, one (C, shared) for each group of columns with such.
      lateral_initializer: of U, (units, P), where columns depend on each other.
      seed: integer seed of the initial weights and of calls without an explicit seed.
      **kwargs: of `keras.layers.Layer`.

    Attributes:
      columns: the list.
      layout: `columns.Layout`.

    Raises:
      ValueError: for no list of kinds of columns, an entry of `hidden_units` that is no positive integer, or an
        `ordering` that is no permutation.

    Example:

    >>> import tensorflow as tf, tfdsmcmc as ds
    >>> layer = ds.layers.Mixed([ds.columns.Binary(), ds.columns.Categorical(3), ds.columns.Count(), ds.columns.Real()])
    >>> layer.units, layer(tf.zeros([2, 4])).shape
    (6, TensorShape([2, 6]))
    """

    lateral: keras.Variable

    def __init__(
        self,
        columns: Sequence[Kind],
        hidden_units: Sequence[int] = (),
        dependent: bool = False,
        ordering: Sequence[int] | None = None,
        activation: Callable[..., Any] | str = "tanh",
        kernel_initializer: Initializer = "glorot_uniform",
        bias_initializer: Initializer = "zeros",
        shared_initializer: Sequence[Initializer] | Initializer = "zeros",
        lateral_initializer: Initializer = "zeros",
        seed: int | None = None,
        **kwargs: Any,
    ):
        self.layout: Layout = Layout(columns)
        self.columns: list[Kind] = self.layout.kinds
        units = self.layout.units
        super().__init__(units, hidden_units, activation, kernel_initializer, bias_initializer, seed, **kwargs)
        self.support = self.layout.support
        self.dependent: bool = checks.boolean("dependent", dependent)
        self.factorised, self.redraws = not self.dependent, True
        self.ordering: list[int] | None = check_ordering(ordering, len(self.columns))
        self.lateral_initializer: Callable[..., Any] = initializer_of(lateral_initializer, self.seed)
        several = isinstance(shared_initializer, (list, tuple))
        given = list(shared_initializer) if several else [shared_initializer] * len(self.layout.groups)
        if len(given) != len(self.layout.groups):
            raise ValueError(
                f"shared_initializer is one, or a list of {len(self.layout.groups)} for the groups of columns. "
                f"Received: {len(given)}"
            )
        self.shared_initializers: list[Any] = [initializer_of(one, self.seed) for one in given]

    @property
    def widest(self) -> int:
        return max(super().widest, self.layout.parameters)

    def distribution(self, parents: TensorLike) -> Distribution:
        if self.dependent:
            parts = self.parameters(parents), self.shared(), self.lateral.value
            return DependentColumns(self.layout, *parts, self.ordering)
        return IndependentColumns(self.layout, self.parameters(parents), self.shared())

    def completion_log_weight(self, value: TensorLike, observed: TensorLike, parents: TensorLike) -> tf.Tensor:
        return self._of_each(value, parents).observed_log_prob(value, observed)

    def redrawn(self, value: TensorLike, observed: TensorLike, parents: TensorLike, seed: Seed) -> tf.Tensor:
        if not self.dependent:
            return super().redrawn(value, observed, parents, seed)
        return self.distribution(parents).redrawn(value, self.layout.observed_columns(observed), seed)

    def conditional_mean(self, value: TensorLike, parents: TensorLike) -> tf.Tensor:
        return self._of_each(value, parents).mean()

    def parameters(self, parents: TensorLike) -> tf.Tensor:
        """λ, (…, P)."""
        hidden = self._hidden(parents)  # which builds the layer at its first use
        kernel, bias = self._output
        return affine(hidden, kernel.value, bias.value)

    @property
    def kernel(self) -> tf.Tensor:
        """W, (width of e, P)."""
        return self._output[0].value

    def columns_parameters(self, value: TensorLike, parents: TensorLike) -> tf.Tensor:
        """λ of each column given the parents and, where columns depend on each other, those before it, (…, P)."""
        return self._of_each(value, parents).row

    def columns_log_factor(self, value: TensorLike, observed: TensorLike | None, parameters: TensorLike) -> tf.Tensor:
        """log p(value) at λ but for terms of the value and the weights alone, (…).

        Args:
          value: (…, units).
          observed: (…, units), of the columns that count; None where all do.
          parameters: λ, (…, P), as of `columns_parameters`.

        Raises:
          ValueError: for columns that depend on each other, of which some do not count.
        """
        if observed is not None and self.dependent:
            raise ValueError("What is missing drops out of independent columns alone. Received: dependent ones")
        terms = IndependentColumns(self.layout, parameters, self.shared()).column_log_factors(value)
        if observed is not None:
            terms = tf.where(self.layout.observed_columns(observed), terms, 0.0)
        return tf.reduce_sum(terms, -1)

    def shared(self) -> list[tf.Tensor]:
        """The parameters that all rows share, (C, shared) of each group of columns; some of width 0."""
        weights = iter(self._shared)
        sizes = [(len(group.columns), group.kind.shared) for group in self.layout.groups]
        return [next(weights).value if size[1] else tf.zeros(size) for size in sizes]

    def get_config(self) -> Config:
        config = {name: part for name, part in super().get_config().items() if name != "units"}
        columns = [keras.saving.serialize_keras_object(kind) for kind in self.columns]
        shared = [keras.initializers.serialize(one) for one in self.shared_initializers]
        lateral = keras.initializers.serialize(self.lateral_initializer)
        own = {"columns": columns, "shared_initializer": shared, "lateral_initializer": lateral}
        return {**config, **own, "dependent": self.dependent, "ordering": self.ordering}

    @classmethod
    def from_config(cls, config: Config) -> Self:
        columns = [keras.saving.deserialize_keras_object(kind) for kind in config["columns"]]
        return cls(**{**config, "columns": columns})

    def _of_each(self, value, parents):
        """The law of each column given the parents and, where they depend on each other, those before it."""
        law = self.distribution(parents)
        return law.given(value) if self.dependent else law

    def _complete(self, value, observed, parents, seed):
        if not self.dependent:
            return super()._complete(value, observed, parents, seed)
        value = tf.where(observed, value, 0.0)
        law = self.distribution(parents)
        y = law.complete(value, self.layout.observed_columns(observed), seed)
        return y, law.given(y).observed_log_prob(y, observed)

    def _build_output(self, width):
        self._output = self._map("", width, self.layout.parameters, self.bias_initializer)
        self._shared = []
        for number, (group, initializer) in enumerate(zip(self.layout.groups, self.shared_initializers)):
            if group.kind.shared:
                name = f"{group.kind.word}_{number}_bias"  # as biases priors take them
                shape = (len(group.columns), group.kind.shared)
                self._shared.append(add_weight(self, name, shape, initializer))
        if self.dependent:
            shape = (self.units, self.layout.parameters)
            self.lateral = add_weight(self, "lateral", shape, self.lateral_initializer)

"""What every stochastic layer must honour, in one call."""

from __future__ import annotations

import functools
import itertools

import numpy as np
import pytest
import tensorflow as tf

from tests.chance import assert_frequencies, assert_means
from tests.conformance.layers_of_any_kind import LayerTest
from tests.oracles import binary_states
from tfdsmcmc.supports import Binary


def run_layer_test(layer_class, init_kwargs, parent_units, tmp_path, reference=None, custom_objects=None, values=None):
    """Runs every check of the contract on a layer.

    Args:
      layer_class: subclass of `ds.layers.StochasticLayer`.
      init_kwargs: its arguments; of a binary layer at most 10 units, so that all 2^units values can be listed; of
        another one at most 2, so that its density can be integrated; of columns so few that their values, of which
        counts are 0 to 60 and real numbers those of a grid, can be listed.
      parent_units: width of the parents, at least 1; width 0 is checked besides.
      tmp_path: an empty folder.
      reference: function (weights, value, parents) → log p(value given parents) in NumPy, from the list of weight
        arrays; value (…, units) and parents (…, parent_units) broadcast. None leaves only the checks of
        consistency.
      custom_objects: for loading; None checks that the layer loads without any.
      values: (S, units), all values of y, of a layer with another support than zeros and ones or all real numbers.
    """
    if values is not None:
        kind = functools.partial(_ListedLayerTest, values)
    elif "columns" in init_kwargs:
        kind = _ColumnsLayerTest
    else:
        kind = _BinaryLayerTest if layer_class.support == Binary() else _RealLayerTest
    test = kind(layer_class, init_kwargs, parent_units, reference, custom_objects)
    test.units_are_checked()
    test.config_round_trips()
    test.seeds_decide_the_draws()
    test.saves_and_loads(tmp_path)
    for width in (parent_units, 0):
        layer = test.built(width)
        test.law_is_normalised(layer)
        test.shapes_follow_the_parents(layer)
        test.draws_follow_the_law(layer)
        test.means_are_those_of_the_law(layer)
        test.draws_come_with_their_log_probabilities(layer)
        test.gradients_flow(layer)
        test.jit_changes_nothing(layer)
        test.other_widths_are_refused(layer)


class _ListedLayerTest(LayerTest):
    """Every value is listed."""

    cell = 1.0  # of a sum over all values

    def __init__(self, listed, *arguments):
        self.listed = np.asarray(listed, np.float32)
        super().__init__(*arguments)

    def all_values(self):
        assert self.make().support.holds(self.listed).all()
        return tf.constant(self.listed)

    def draws_follow_the_law(self, layer):
        """Chi-square over all values, false failures at most 1e-6: half a per cent of a frequent value is seen."""
        parents = self.parents(layer.parent_units, rows=2)
        draws = layer.sample(parents, 11, [2**15]).numpy()
        assert draws.dtype == np.float32
        places = {value.tobytes(): place for place, value in enumerate(self.listed)}
        for row, parent in enumerate(parents):
            numbers = [places[draw.tobytes()] for draw in draws[:, row] + np.float32(0)]  # 0 for −0
            counts = np.bincount(numbers, minlength=len(places))
            assert_frequencies(counts, np.exp(layer.log_prob(self.values, parent), dtype=np.float64))

    def means_are_those_of_the_law(self, layer):
        """Of each unit given the parents alone, or also given the units before it, by sums over all values."""
        parents, values = self.parents(layer.parent_units, rows=1), self.values.numpy()
        p = np.exp(layer.log_prob(self.values, parents[0]), dtype=np.float64)
        order = getattr(layer, "ordering", None) or range(self.units)
        together = np.ones(len(values), bool)  # the values that agree with `value` in the units so far
        mean = layer.conditional_mean(self.value[tf.newaxis], parents)[0]
        autoregressive = hasattr(layer.distribution(parents), "conditional_logits")
        for unit in order:
            np.testing.assert_allclose(mean[unit], p[together] @ values[together, unit] / p[together].sum(), rtol=1e-4)
            if autoregressive:
                together &= values[:, unit] == self.value.numpy()[unit]


class _BinaryLayerTest(_ListedLayerTest):
    def __init__(self, layer_class, init_kwargs, *arguments):
        super().__init__(binary_states(init_kwargs["units"]), layer_class, init_kwargs, *arguments)


class _RealLayerTest(LayerTest):
    """The density is summed over a grid; its trapezoidal sum is exact to rounding for smooth laws of this width."""

    width, points = 24.0, 385
    cell = None

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.value = tf.constant([0.4, -0.7][: self.units])

    def built(self, width):
        layer = super().built(width)
        for variable in layer.trainable_variables:  # standard deviations near 1, so that the grid is fine enough
            variable.assign(0.2 * variable)
        return layer

    def all_values(self):
        axis = np.linspace(-self.width / 2, self.width / 2, self.points)
        self.cell = (axis[1] - axis[0]) ** self.units
        return tf.constant(np.stack(np.meshgrid(*[axis] * self.units), -1).reshape(-1, self.units), tf.float32)

    def means_are_those_of_the_law(self, layer):
        """Compared in `draws_follow_the_law`."""

    def draws_follow_the_law(self, layer):
        """Means and second moments against sums over the grid, false failures at most 1e-6."""
        parents = self.parents(layer.parent_units, rows=2)
        draws = layer.sample(parents, 11, [2**15]).numpy().astype(np.float64)
        values = self.values.numpy().astype(np.float64)
        for row, parent in enumerate(parents):
            p = np.exp(layer.log_prob(self.values, parent), dtype=np.float64) * self.cell
            mean = p @ values
            assert_means(draws[:, row], mean)
            if layer.factorised:
                np.testing.assert_allclose(layer.conditional_mean(self.value, parent), mean, atol=1e-4)
            second = np.einsum("ni,nj->nij", draws[:, row] - mean, draws[:, row] - mean)
            assert_means(second, np.einsum("s,si,sj->ij", p, values - mean, values - mean))


class _ColumnsLayerTest(_RealLayerTest):
    """Every value is listed, of counts those to 60 and of real columns those of a grid."""

    largest_count = 60

    def __init__(self, *arguments):
        LayerTest.__init__(self, *arguments)

    def units_are_checked(self):
        for columns in (None, [], 3, ["binary"], [None]):
            with pytest.raises(ValueError, match="Received: columns="):
                self.make(columns=columns)
        layer = self.make()
        assert layer.units == sum(kind.entries for kind in layer.columns) and layer.widest >= layer.units

    def means_are_those_of_the_law(self, layer):
        """Of the entries of each column given the parents, or also given the columns before it, by sums."""
        parents, values, value = self.parents(layer.parent_units, rows=1), self.values.numpy(), self.value.numpy()
        p = np.exp(layer.log_prob(self.values, parents[0]), dtype=np.float64)
        together = np.ones(len(values), bool)
        mean = layer.conditional_mean(value[np.newaxis], parents)[0]
        for column in layer.ordering or range(len(layer.columns)):
            own = layer.layout.owners == column
            want = p[together] @ values[together][:, own] / p[together].sum()
            np.testing.assert_allclose(mean[own], want, rtol=1e-4, atol=1e-5)
            if not layer.factorised:
                together &= (values[:, own] == value[own]).all(1)

    def all_values(self):
        layer, self.cell, values = self.make(), 1.0, []
        for kind in layer.columns:
            if kind.word == "real":
                axis = np.linspace(-self.width / 2, self.width / 2, self.points)
                self.cell *= axis[1] - axis[0]
                values.append(axis[:, np.newaxis])
            elif kind.word == "binary":
                values.append(np.array([[0], [1]]))
            else:
                values.append(np.arange(self.largest_count + 1)[:, np.newaxis] if kind.word == "count" else None)
                if values[-1] is None:
                    values[-1] = np.eye(kind.entries)
        return tf.constant(np.array([np.concatenate(parts) for parts in itertools.product(*values)]), tf.float32)

"""Mean-field factors of tiny networks in float64, moved one at a time, for tests of the bound."""

import numpy as np
import tensorflow as tf

import tfdsmcmc as ds
from tfdsmcmc.augmentation.shared.layer_shapes import LayerShape
from tfdsmcmc.augmentation.variational import diagonal_covariance, full_covariance, weight_factors
from tfdsmcmc.augmentation.variational.grid_scales import GridScales
from tfdsmcmc.augmentation.variational.local_factors import LocalFactors, LocalModel, Observations, WeightFactor
from tfdsmcmc.augmentation.variational.scale_factors import NormalScales, StudentTScales, ThreeParameterScales

KINDS = {"full": full_covariance, "diagonal": diagonal_covariance}


def shapes_of(widths, lateral=(), labels=1, rng=None):
    """Shapes of layers of some widths, the data's first; in those at the places `lateral` units follow each other."""
    rng, shapes = rng or np.random.default_rng(0), []
    for place, width in enumerate(widths):
        order = rng.permutation(width)
        last = place == len(widths) - 1
        earlier = order[None] < order[:, None] if place in lateral else None
        above = labels * (labels > 1) if last else widths[place + 1]
        shapes.append(LayerShape(width, above, earlier))
    return shapes


def rows_of(units, num_rows, labels=1, gaps=False, rng=None):
    rng = rng or np.random.default_rng(1)
    x = (rng.random((num_rows, units)) < 0.4).astype(float)
    known = (rng.random(x.shape) < 0.7).astype(float) if gaps else None
    context = np.ones((num_rows, 0)) if labels == 1 else np.eye(labels)[rng.integers(0, labels, num_rows)]
    return Observations(tf.constant(x), None if known is None else tf.constant(known), tf.constant(context))


def student_t(columns, mask):
    return StudentTScales(2.2, 0.3, mask[:, columns])


def three_parameters(a=0.5, b=0.5):
    return lambda columns, mask: ThreeParameterScales(a, b, mask[:, columns])


def horseshoe(group, tau="tensor"):
    prior = ds.priors.Horseshoe(0.5, 0.05, learn_global_scale=True, group=group, global_scale_group=tau)
    return lambda columns, mask: GridScales(prior, group, mask[:, columns], tau)


class Ascent:
    """All factors at random values, and the bound.

    Args:
      shapes: list of `LayerShape`.
      rows: `Observations`.
      kind: "full" or "diagonal".
      scales: function of (columns, mask) → the prior of weights that are no biases.
      bias_scale: the standard deviation of a bias a priori.
      seed: of the start.
    """

    def __init__(self, shapes, rows, kind, scales=student_t, bias_scale=1.2, seed=0):
        rng = np.random.default_rng(seed)
        self.kind, self.rows, self.model = KINDS[kind], rows, LocalModel(shapes, KINDS[kind])
        self.shapes, self.priors, self.weights = shapes, [], []
        num_rows = len(rows.x)
        for shape in shapes:
            used = [columns for columns in shape.columns[:2] if columns.stop > columns.start]
            parts = [(columns, scales(columns, shape.mask)) for columns in used]
            parts.append((shape.columns[2], NormalScales(bias_scale, shape.mask[:, shape.columns[2]])))
            self.priors.append(weight_factors.LayerPrior(shape, parts))
            mean = tf.constant(rng.normal(0, 0.5, shape.mask.shape) * shape.mask)
            self.weights.append(WeightFactor(mean, self.kind.initial(mean, 0.1, shape.mask)))
        self.scales = [prior.initial(self._second(i)) for i, prior in enumerate(self.priors)]
        self.log_dets = [self.kind.log_det(w.covariance, s.mask) for w, s in zip(self.weights, shapes)]
        units = [tf.constant(rng.random((num_rows, shape.units))) for shape in shapes[1:]]
        tilts = [tf.constant(rng.random((num_rows, shape.units)) * 3) for shape in shapes]
        self.factors = LocalFactors(units, tilts)
        self._functions = {}

    def bound(self):
        """The evidence lower bound, in nats."""

        def bound(weights, factors, scales, log_dets):
            total = tf.reduce_sum(self.model.bound(weights, self.rows, factors))
            for i, prior in enumerate(self.priors):
                second = weight_factors.second_moments(self.kind, weights[i])
                total += prior.bound(scales[i], second) + self.kind.entropy(log_dets[i], self.shapes[i].mask)
            return total

        return float(self._traced("bound", bound)(self.weights, self.factors, self.scales, self.log_dets))

    def moves(self):
        """Names of all moves, in an order; each moves factors to their best given the others."""
        units = [("units", place) for place in range(len(self.factors.units))]
        layers = range(len(self.shapes))
        weights = [("weights", i) for i in layers]
        scales = [
            ("scales", i, part, name)
            for i in layers
            for part, (_, scales) in enumerate(self.priors[i].parts)
            for name in ("zeta", "xi", "phi", "omega", "tau")
            if hasattr(scales, f"update_{name}")
        ]
        whole = [
            ("scales", i, part, "all")
            for i in layers
            for part, (_, scales) in enumerate(self.priors[i].parts)
            if not hasattr(scales, "update_zeta")
        ]
        return [("tilts",), *units, ("tilts",), *weights, *scales, *whole]

    def move(self, what, *place):
        getattr(self, f"_move_{what}")(*place)

    def forget(self):
        """Traces everything anew, after something was patched."""
        self._functions.clear()

    def _move_tilts(self):
        tilts = self._traced("tilts", lambda weights, units: self.model.tilts(weights, self.rows, units))
        self.factors = self.factors._replace(tilts=tilts(self.weights, self.factors.units))

    def _move_units(self, place):
        update = self._traced(("units", place), lambda w, f: self.model.update_units(w, self.rows, f, place))
        self.factors.units[place] = update(self.weights, self.factors)

    def _move_weights(self, place):
        def update(weights, factors, scales):
            gamma = self.model.gammas(self.rows, factors.tilts)[place]
            targets = self.model.targets(self.rows, factors.units)[place]
            r = self.model.regressors(self.rows, factors.units)[place]
            precision = self.priors[place].precision(scales[place], tf.float64)
            statistics = self.kind.statistics(gamma, targets, r)
            return self.kind.update(statistics, precision, weights[place].mean, self.shapes[place].mask)

        update = self._traced(("weights", place), update)
        *factor, self.log_dets[place] = update(self.weights, self.factors, self.scales)
        self.weights[place] = WeightFactor(*factor)

    def _move_scales(self, place, part, name):
        columns, scales = self.priors[place].parts[part]
        state, second = self.scales[place][part], self._second(place)[:, columns]
        if name == "all":
            state = scales.update(state, second)
        else:
            update = getattr(scales, f"update_{name}")
            state = update(state, second) if name == "zeta" else update(state)
        self.scales[place][part] = state

    def _second(self, place):
        return weight_factors.second_moments(self.kind, self.weights[place])

    def _traced(self, name, function):
        if name not in self._functions:
            self._functions[name] = tf.function(function, autograph=False)
        return self._functions[name]


def largest_fall(ascent, rounds, moves=None):
    """(the largest fall of the bound over single moves, what fell, the bound at last); a fall is negative.

    Args:
      ascent: `Ascent`.
      rounds: over the moves.
      moves: of those of the ascent; by default all.
    """
    bound, worst = ascent.bound(), (0.0, None)
    for _ in range(rounds):
        for move in moves or ascent.moves():
            ascent.move(*move)
            last, bound = bound, ascent.bound()
            worst = min(worst, (bound - last, move), key=lambda pair: pair[0])
    return *worst, bound

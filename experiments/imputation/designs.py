"""Simulated tables with gaps whose regression is known: what is missing depends on what is observed alone.

linear    x_1, x_2 ~ N(0, 1) of correlation ½,  y = 1 + ½ x_1 + ½ x_2 + N(0, 1).  x_2 is missing with probability
          σ(a + y − 1); y and x_1 have no gaps. Regression of y on x_1 and x_2.
mixed     a ~ N(0, 1),  b ~ Bernoulli(σ(1.2 a)),  y = 0.8 a + 0.7 b + N(0, 0.6²),  k ~ Poisson(exp(0.7 + 0.5 a)).
          y is missing with probability σ(a − ½) and b with 0.6 σ(a), independently. Regression of y on a and b.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas
import scipy.special

from experiments.imputation.amputation import logistic


class Design(NamedTuple):
    """A design.

    Attributes:
      draw: function (`numpy.random.Generator`, rows) → (DataFrame with gaps, the whole one).
      outcome: name of the column that is regressed on the others.
      predictors: their names.
      truth: dict from coefficients to their values.
    """

    draw: Callable[[np.random.Generator, int], tuple[pandas.DataFrame, pandas.DataFrame]]
    outcome: str
    predictors: tuple[str, ...]
    truth: dict[str, float]


def regression(frame, design):
    """(coefficients of the predictors, their squared standard errors, degrees of freedom) by least squares."""
    x = np.stack([np.ones(len(frame)), *(_numbers(frame[name]) for name in design.predictors)], 1)
    y = _numbers(frame[design.outcome])
    inverse = np.linalg.inv(x.T @ x)
    coefficients = inverse @ x.T @ y
    freedom = len(y) - x.shape[1]
    noise = np.square(y - x @ coefficients).sum() / freedom
    return coefficients[1:], noise * np.diag(inverse)[1:], freedom


def _linear(rng, rows):
    x = rng.normal(size=rows)
    other = 0.5 * x + np.sqrt(0.75) * rng.normal(size=rows)
    y = 1 + 0.5 * x + 0.5 * other + rng.normal(size=rows)
    whole = pandas.DataFrame({"x_1": x, "x_2": other, "y": y})
    gaps = whole.copy()
    gaps.loc[rng.random(rows) < logistic(y - 1, 0.4), "x_2"] = np.nan
    return gaps, whole


def _mixed(rng, rows):
    a = rng.normal(size=rows)
    b = rng.random(rows) < scipy.special.expit(1.2 * a)
    y = 0.8 * a + 0.7 * b + 0.6 * rng.normal(size=rows)
    counts = pandas.array(rng.poisson(np.exp(0.7 + 0.5 * a)), dtype="Int64")
    whole = pandas.DataFrame({"a": a, "y": y, "b": pandas.Categorical(b.astype(int), [0, 1]), "k": counts})
    gaps = whole.copy()
    gaps.loc[rng.random(rows) < scipy.special.expit(a - 0.5), "y"] = np.nan
    gaps.loc[rng.random(rows) < 0.6 * scipy.special.expit(a), "b"] = np.nan
    return gaps, whole


def _numbers(column):
    return column.astype(float).to_numpy()


DESIGNS = {
    "linear": Design(_linear, "y", ("x_1", "x_2"), {"x_1": 0.5, "x_2": 0.5}),
    "mixed": Design(_mixed, "y", ("a", "b"), {"a": 0.8, "b": 0.7}),
}

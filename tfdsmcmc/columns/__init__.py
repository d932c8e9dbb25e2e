"""Kinds of columns of a table, one a file; `base` is the contract.

A column takes one entry of a row or several side by side, and is missing as a whole. Its kind says what values it has
and which law it follows, given some parameters that a layer computes.
"""

from tfdsmcmc.columns.base import Kind
from tfdsmcmc.columns.binary import Binary
from tfdsmcmc.columns.categorical import Categorical
from tfdsmcmc.columns.count import Count
from tfdsmcmc.columns.dependent import DependentColumns
from tfdsmcmc.columns.independent import IndependentColumns
from tfdsmcmc.columns.layout import Layout
from tfdsmcmc.columns.mixture import IndependentColumnsMixture
from tfdsmcmc.columns.ordinal import Ordinal
from tfdsmcmc.columns.real import Real
from tfdsmcmc.columns.semicontinuous import Semicontinuous
from tfdsmcmc.columns.skewed import Skewed

__all__ = [
    "Binary",
    "Categorical",
    "Count",
    "DependentColumns",
    "IndependentColumns",
    "IndependentColumnsMixture",
    "Kind",
    "Layout",
    "Ordinal",
    "Real",
    "Semicontinuous",
    "Skewed",
]

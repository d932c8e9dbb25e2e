"""Kinds of warnings about estimates of the log-likelihood."""

from __future__ import annotations


class UnreliableImportanceWeights(UserWarning):
    """Importance weights have such heavy tails that the estimate and its standard error cannot be trusted."""


class LowEffectiveSampleSize(UnreliableImportanceWeights):
    """The importance weights are so uneven that the estimate and its standard error are too low."""


class PrecisionNotReached(UserWarning):
    """Some rows have a larger standard error than was asked for."""

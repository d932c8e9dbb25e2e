"""Whether the patterns of a prior and the weights of a model fit each other."""

from __future__ import annotations

import re
from collections.abc import Collection

from tfdsmcmc._common.warning import warn
from tfdsmcmc.priors.prior import Prior


def check_patterns(prior: Prior, names: Collection[str], frozen: Collection[str] = ()) -> None:
    """Finds weights that the patterns of a prior leave out, and patterns that are left over.

    Args:
      prior: of a model. A default one has patterns for layers of all kinds, and some may be left over.
      names: of the model's weights.
      frozen: names of weights that are not learnt, and may have patterns or none.

    Raises:
      ValueError: for a weight in whose name no pattern is found.

    Warns:
      UserWarning: for a pattern that no weight takes, as it is in no name or behind one that is found first.
    """
    taken = {prior.pattern_of(name) for name in names}
    if prior.is_default:
        return
    others = [pattern for pattern in prior.patterns if pattern not in taken]
    left = [pattern for pattern in others if not any(re.search(pattern, name) for name in frozen)]
    if left:
        warn(
            "Each weight takes the first pattern of the prior that is found in its name, and no weight takes "
            f"{', '.join(map(repr, left))}. Received: patterns {list(prior.patterns)}, weights {list(names)}"
        )


def without_others(prior: Prior, names: Collection[str]) -> Prior:
    """The prior of these weights of a model alone: without patterns that none of them takes. One of a class of its own
    stays as it is."""
    taken = {prior.pattern_of(name) for name in names}
    if prior.is_default or type(prior) is not Prior or len(taken) == len(prior.patterns):
        return prior
    return Prior({pattern: part for pattern, part in prior.patterns.items() if pattern in taken})

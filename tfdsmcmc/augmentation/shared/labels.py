"""Labels as an earlier version took them, now a context of the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Config


def without_labels(config: Config) -> Config:
    """The configuration of a method that was saved with `labels` and `num_labels`, without them.

    Raises:
      ValueError: where there were labels.
    """
    if config.get("labels") is not None:
        raise ValueError(
            "Labels are a context of the rows: GenerativeNetwork(layers, context=[Y]), fit(Rows(x, context=labels)). "
            f"Received: a method saved with {len(config['labels'])} labels"
        )
    return {name: value for name, value in config.items() if name not in ("labels", "num_labels")}

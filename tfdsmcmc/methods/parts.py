"""What methods share."""

from __future__ import annotations

import keras

from tfdsmcmc import checks


def triple(kernel, latents, proposal):
    """Arguments of `compile`, a dict."""
    return {"kernel": kernel, "latents": latents, "proposal": proposal}


def adam(optimizer, learning_rate):
    """The optimizer; Adam of this learning rate, which is checked, where it is None."""
    checks.learning_rate(learning_rate)
    return keras.optimizers.Adam(learning_rate) if optimizer is None else optimizer


def check_as_published(as_published):
    """Raises a ValueError for what is no boolean."""
    if not isinstance(as_published, bool):
        raise ValueError(f"as_published must be True or False. Received: as_published={as_published!r}")


def given(value, default, published, as_published):
    """A value, or what stands in its place where it is None."""
    check_as_published(as_published)
    return (published if as_published else default) if value is None else value

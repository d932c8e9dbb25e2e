"""Who is ahead: a difference beside its standard error."""

import math

VERDICTS = ("ahead", "level", "behind", "not judged")
ERRORS = 2  # how many standard errors a difference must exceed


def verdict(difference, error):
    """One of `VERDICTS` for the sampler; "not judged" where either is missing or not finite, as of a single row."""
    if any(value is None or not math.isfinite(value) for value in (difference, error)):
        return "not judged"
    return "level" if abs(difference) <= ERRORS * error else "ahead" if difference > 0 else "behind"


def counts(verdicts):
    """How many there are of each of `VERDICTS`, in their order."""
    verdicts = list(verdicts)
    return [verdicts.count(name) for name in VERDICTS]


def said(model, verdicts):
    """A sentence of how many data sets the sampler is ahead on with a model."""
    ahead, level, behind, unknown = counts(verdicts)
    rest = f", and not to be judged on {unknown}" if unknown else ""
    whole = f"{ahead} of {ahead + level + behind + unknown} data sets"
    return f"With {model} the sampler is ahead on {whole}, level on {level}, and behind on {behind}{rest}."

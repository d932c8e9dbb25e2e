"""Gaps in rows, and how well they are filled."""

import numpy as np


def gaps(x, share, rng):
    """The rows as float32, with NaN in a share of the entries, completely at random."""
    return np.where(rng.random(x.shape) < share, np.nan, x).astype(np.float32)


def score(truth, missing, probabilities):
    """Log-loss a missing entry and accuracy, with standard errors over the rows."""
    p = np.clip(probabilities, 1e-3, 1 - 1e-3)
    loss = -np.where(truth == 1, np.log(p), np.log1p(-p))
    right = 100.0 * ((p > 0.5) == (truth == 1))
    scores = {}
    for name, values in (("log_loss", loss), ("accuracy", right)):
        of_rows, counts = (values * missing).sum(1), missing.sum(1)
        ratio = of_rows.sum() / counts.sum()
        # a ratio of two means over rows
        error = np.std(of_rows - ratio * counts, ddof=1) / counts.mean() / np.sqrt(len(counts))
        scores[name], scores[f"{name}_error"] = float(ratio), float(error)
    return scores

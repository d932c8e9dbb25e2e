"""Scores of a completion on the entries that are missing. Numbers count in standard deviations of their whole column.

With draws x_1, …, x_m of an entry whose truth is y, x̄ their mean and s² their variance:

    squared error of the conditional mean    (x̄ − y)² − s²/m    unbiased for that of infinitely many draws
    CRPS                                     Σ|x_i − y|/m − Σ_{i<j}|x_i − x_j|/(m (m − 1)),    the fair estimator
    interval of level p                      from the quantile (1 − p)/2 to (1 + p)/2, the quantile q the order
                                             statistic of rank q (m + 1), linear between whole ranks
    log-loss                                 −log (v_y + ½)/(v + S/2),    v_k votes of v for the state k of S

Squared errors and CRPS compare imputers of any m. The interval covers with probability p where the draws and the truth
are exchangeable and uniform, and nearly so for other laws; ends belong to it. Sources: Ferro, "Fair scores for ensemble
forecasts", QJRMS 2014; Gneiting and Raftery, "Strictly proper scoring rules", JASA 2007.
"""

import numpy as np

LEVELS = (0.5, 0.9)


def squared_error(draws, truth):
    """Of the mean of infinitely many draws: draws (m, h), truth (h,) → (h,)."""
    return np.square(draws.mean(0) - truth) - draws.var(0, ddof=1) / len(draws)


def crps(draws, truth):
    """Draws (m, h), truth (h,) → (h,)."""
    m = len(draws)
    ranks = 2 * np.arange(1, m + 1) - m - 1  # Σ_{i<j}|x_i − x_j| = Σ_i (2i − m − 1) x_(i)
    apart = np.tensordot(ranks, np.sort(draws, 0), 1)
    return np.abs(draws - truth).mean(0) - apart / (m * (m - 1))


def interval(draws, level):
    """(low, high), each (h,), of draws (m, h)."""
    return np.quantile(draws, [(1 - level) / 2, (1 + level) / 2], axis=0, method="weibull")


def log_loss(votes, truth):
    """Votes (h, S), codes (h,) → (h,)."""
    total, states = votes.sum(1), votes.shape[1]
    return -np.log((votes[np.arange(len(truth)), truth] + 0.5) / (total + states / 2))


def of_completion(completion, complete, missing):
    """All that a completion allows, a dict of means over the missing entries.

    Args:
      completion: `Completion`.
      complete: `Coded`, the whole table.
      missing: (n, D).
    """
    found = {}
    for j, states in enumerate(complete.states):
        gaps = missing[:, j]
        if gaps.any():
            truth = complete.values[gaps, j]
            if states:
                own = _of_states(completion.votes[j][gaps], truth.astype(int), completion.stated)
            else:
                own = _of_numbers(completion, truth, gaps, j, np.std(complete.values[:, j]))
            for name, values in own.items():
                found.setdefault(name, []).append(values)
    means = {name: float(np.concatenate(values).mean()) for name, values in found.items()}
    if "squared_error" in means:
        means["rmse"] = max(means.pop("squared_error"), 0.0) ** 0.5
    return means


def _of_states(votes, truth, stated):
    right = votes.argmax(1) == truth
    return {"accuracy": right, "log_loss": log_loss(votes, truth)} if stated else {"accuracy": right}


def _of_numbers(completion, truth, gaps, j, scale):
    if completion.draws is None:
        return {"squared_error": np.square((completion.expected[gaps, j] - truth) / scale)}
    draws, truth = completion.draws[:, gaps, j] / scale, truth / scale
    found = {"squared_error": squared_error(draws, truth), "crps": crps(draws, truth)}
    for level in LEVELS:
        low, high = interval(draws, level)
        found[f"coverage_{level:g}"] = (low <= truth) & (truth <= high)
        found[f"width_{level:g}"] = high - low
    return found

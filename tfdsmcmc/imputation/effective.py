"""The effective size of the states of several Markov chains.

    N_eff = M N / τ,      τ = 1 + 2 Σ_{t ≥ 1} ρ_t,      ρ_t = 1 − (W − γ_t) / V

for M chains of N states, γ_t the mean over the chains of the autocovariances at lag t, W the mean of their variances
and V = W (N − 1)/N + the variance of their means: chains that disagree have a large V, ρ near 1 and few effective
states. The sum stops where ρ_2k + ρ_2k+1 is not above 0, and the pairs are made to fall.

Sources: Geyer, "Practical Markov chain Monte Carlo", Statistical Science 7 (1992), section 3.3; Gelman, Carlin, Stern,
Dunson, Vehtari and Rubin, "Bayesian data analysis" (3rd edition, 2013), section 11.5.
"""

from __future__ import annotations

import numpy as np

_SHORTEST = 4


def effective_sample_size(trace: np.ndarray) -> np.ndarray:
    """The effective number of independent states in the traces of a quantity.

    Args:
      trace: (N, M, …), N successive values of each of M chains.

    Returns:
      (…), at most M N. M where the values are all the same up to 10⁻⁶ of their size, or fewer than 4: each chain
      counts for its start alone.
      nan where a value is not finite.
    """
    try:
        trace = np.asarray(trace, np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"trace must be numbers ({error}). Received: {type(trace).__name__}") from None
    if trace.ndim < 2 or 0 in trace.shape[:2]:
        raise ValueError(f"trace must be (values, chains, …), one at least. Received: shape={trace.shape}")
    length, chains = trace.shape[:2]
    finite = np.isfinite(trace).all((0, 1))
    if length < _SHORTEST:
        return np.where(finite, float(chains), np.nan)
    trace = np.where(finite, trace, 0.0)
    covariances = _autocovariances(trace).mean(1)
    within = covariances[0] * length / (length - 1)
    between = trace.mean(0).var(0, ddof=1) if chains > 1 else 0.0
    total = covariances[0] + between
    still = total <= 1e-12 * np.square(trace).mean((0, 1))  # float32 rounds a value that never changes so
    rho = 1.0 - (within - covariances) / np.where(still, 1.0, total)
    rho[0] = 1.0
    pairs = rho[: length // 2 * 2].reshape(length // 2, 2, *rho.shape[1:]).sum(1)
    pairs = np.minimum.accumulate(np.where(np.logical_and.accumulate(pairs > 0), pairs, 0.0))
    tau = 2.0 * pairs.sum(0) - 1.0
    size = np.where(still, float(chains), chains * length / np.maximum(tau, 1.0))
    return np.where(finite, size, np.nan)


def _autocovariances(trace):
    """(1/N) Σ_i (x_i − x̄)(x_{i+t} − x̄) of each lag t < N along the first axis, by the Fourier transform."""
    length = len(trace)
    spectrum = np.fft.rfft(trace - trace.mean(0), 2 * length, axis=0)
    return np.fft.irfft(np.square(np.abs(spectrum)), 2 * length, axis=0)[:length] / length

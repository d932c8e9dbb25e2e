"""Machines of two Gaussian layers, which are one normal distribution of v and h.

    −E(v, h) = c's − s'P s/2,      s = (v, h),  c = (b, a),      P = (Γ_v, −W; −W', Γ_h)
    log Z = ½ c'P⁻¹c − ½ log det P + ½ (D + M) log 2π,      s ~ N(P⁻¹c, P⁻¹)

with the precisions on the diagonals Γ_v and Γ_h. log Z is there if P is positive definite.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import scipy.linalg
import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.boltzmann.units import Gaussian

if TYPE_CHECKING:
    from tfdsmcmc._common.types import Seed
    from tfdsmcmc.boltzmann.machines.machine import Machine


def is_pair(machine: Machine) -> bool:
    """Whether both layers are Gaussian."""
    return isinstance(machine.visible, Gaussian) and isinstance(machine.hidden, Gaussian)


def check(machine: Machine) -> None:
    """Raises a ValueError for two Gaussian layers that have no log Z."""
    if is_pair(machine):
        _factor(machine)


def log_partition(machine: Machine) -> float:
    """log Z."""
    factor, linear = _factor(machine)
    half = scipy.linalg.solve_triangular(factor, linear, lower=True)
    return float(0.5 * (half @ half + len(linear) * np.log(2.0 * np.pi)) - np.log(np.diag(factor)).sum())


def draws(machine: Machine, num_draws: int, seed: Seed) -> np.ndarray:
    """Independent draws of v, (num_draws, D) float32."""
    factor, linear = _factor(machine)
    mean = scipy.linalg.cho_solve((factor, True), linear)
    normal = random.normal([len(linear), num_draws], seed, tf.float64).numpy()
    around = scipy.linalg.solve_triangular(factor, normal, lower=True, trans="T")
    return (mean[:, np.newaxis] + around)[: machine.kernel.shape[0]].T.astype(np.float32)


def _factor(machine):
    """(the Cholesky factor of P, c), float64."""
    machine = machine.cast(tf.float64)
    ends = machine.visible_natural, machine.hidden_natural
    linear, precisions = (np.concatenate([end[i] for end in ends]) for i in (0, 1))
    matrix, kernel, units = np.diag(precisions), machine.kernel.numpy(), machine.kernel.shape[0]
    matrix[:units, units:], matrix[units:, :units] = -kernel, -kernel.T
    try:
        return np.linalg.cholesky(matrix), linear
    except np.linalg.LinAlgError:
        least = np.linalg.eigvalsh(matrix)[0]
        raise ValueError(
            "Two Gaussian layers have a log Z where their weights are small beside their precisions: the least "
            f"eigenvalue of the matrix of both must be above 0. Received: {least:.3g}"
        ) from None

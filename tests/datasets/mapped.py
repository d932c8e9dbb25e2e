"""Rows of bits, their labels, and rows of grey values."""

import numpy as np

RNG = np.random.default_rng(1)
X = RNG.integers(0, 2, (41, 13)).astype(np.uint8)  # 13 is no multiple of 8
LABELS = [np.arange(41) % 7, np.arange(41) / 4, np.array([f"row {i}" for i in range(41)])]
GREY = [RNG.integers(0, 256, (rows, 12)).astype(np.uint8) for rows in (37, 3, 4)]


def blocks(x=X):
    yield from (x[:5], x[5:5], x[5:6], x[6:])

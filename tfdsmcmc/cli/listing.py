"""What a command says without a model."""

from __future__ import annotations

from tfdsmcmc.datasets import names


def datasets(args):
    for name in names():
        print(name)

"""What a command says without a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tfdsmcmc.datasets import names

if TYPE_CHECKING:
    import argparse


def datasets(args: argparse.Namespace) -> None:
    for name in names():
        print(name)

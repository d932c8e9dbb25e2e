"""For tools that ask for a setup.py: all that it would say stands in pyproject.toml."""

from setuptools import setup

setup()

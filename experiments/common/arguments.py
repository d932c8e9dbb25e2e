"""Arguments of commands: their parser, and types that refuse numbers out of range."""

import argparse
import math


def parser_of(command, description):
    """A parser of `python -m COMMAND`, whose help is the docstring as it stands."""
    return argparse.ArgumentParser(
        prog=f"python -m {command}", description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )


def number(kind, least=None):
    """A type of argument: numbers above 0, or from `least` on."""

    def parsed(text):
        value = kind(text)
        if not (value > 0 if least is None else value >= least) or not value < math.inf:
            wanted = "above 0" if least is None else f"{least} or more"
            raise argparse.ArgumentTypeError(f"must be {wanted}. Received: {text}")
        return value

    return parsed


def part(text):
    """A type of argument: numbers between 0 and 1, without either."""
    value = number(float)(text)
    if value >= 1:
        raise argparse.ArgumentTypeError(f"must be below 1. Received: {text}")
    return value

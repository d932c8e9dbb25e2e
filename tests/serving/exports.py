"""Exports for tests that load and ask them: without the export's own comparison, which takes as long as all else."""

import contextlib

import pytest
import tensorflow as tf

import tfdsmcmc as ds
from tfdsmcmc.serving.saved_model import writing


def export(*arguments, **options):
    """As `serving.export`, unchecked and silent."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(writing, "round_trip", lambda *_: {})
        return ds.serving.export(*arguments, verbose=False, **options)


@contextlib.contextmanager
def as_written():
    """Without TensorFlow's rewriting of graphs, which takes most of the time of an export's own comparison."""
    before = tf.config.optimizer.get_experimental_options().get("disable_meta_optimizer", False)
    tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": True})
    try:
        yield
    finally:
        tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": before})

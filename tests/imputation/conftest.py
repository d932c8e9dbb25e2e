"""Programs of tiny networks run op by op: to trace them takes longer. Tests of the compiled ones turn that off."""

import pytest
import tensorflow as tf


@pytest.fixture(autouse=True)
def op_by_op():
    tf.config.run_functions_eagerly(True)
    yield
    tf.config.run_functions_eagerly(False)

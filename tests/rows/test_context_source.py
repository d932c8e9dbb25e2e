"""Sources of rows that are given a context keep it."""

import numpy as np

from tests.oracles import binary_states
from tfdsmcmc.rows import Context, ContextSource, Rows, source_of
from tfdsmcmc.supports import Binary

X = binary_states(4).astype(np.float32)
Y = np.arange(16) % 3


def test_sources_keep_it():
    source = source_of("x", Rows(X, context=Y), 4, Binary(), context=Context([3]))
    assert isinstance(source, ContextSource) and source.num_rows == 16
    np.testing.assert_array_equal(source.take(np.array([3, 1])).context, np.eye(3)[Y[[3, 1]]])
    np.testing.assert_array_equal(source.part(slice(2, 9)).all().context, np.eye(3)[Y[2:9]])
    other = source_of("x", Rows(X, context=(Y + 1) % 3), 4, Binary(), context=Context([3]))
    assert source.checksum != other.checksum
    again = source_of("x", source, 4, Binary(), context=Context([3]))
    np.testing.assert_array_equal(again.all().context, source.all().context)
    two = Context([3, 2]).values("context", np.array([[2, 0], [0, 1]]), 2)
    np.testing.assert_array_equal(two, [[0, 0, 1, 1, 0], [1, 0, 0, 0, 1]])

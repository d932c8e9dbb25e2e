"""The block function against its published vectors and a reference in Python integers."""

import numpy as np
import pytest
import tensorflow as tf

from tfdsmcmc._common import threefry

WORD = 2**32


def threefry_reference(key, counter):
    """Threefry-2x32-20 (Salmon et al. 2011) in Python integers."""
    keys = [*key, key[0] ^ key[1] ^ 0x1BD11BDA]
    x = [(c + k) % WORD for c, k in zip(counter, key)]
    for i in range(20):
        r = (13, 15, 26, 6, 17, 29, 16, 24)[i % 8]
        x[0] = (x[0] + x[1]) % WORD
        x[1] = (((x[1] << r) | (x[1] >> (32 - r))) % WORD) ^ x[0]
        if i % 4 == 3:
            group = i // 4 + 1
            x = [(x[0] + keys[group % 3]) % WORD, (x[1] + keys[(group + 1) % 3] + group) % WORD]
    return x


@pytest.mark.parametrize(
    ("key", "counter", "expected"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((WORD - 1, WORD - 1), (WORD - 1, WORD - 1), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
@pytest.mark.parametrize("jit_compile", [False, True])
def test_threefry_known_answers(key, counter, expected, jit_compile):
    block = tf.function(threefry.threefry_2x32, jit_compile=jit_compile)
    words = block(*([tf.constant(w, tf.uint32) for w in pair] for pair in (key, counter)))
    assert tuple(int(w) for w in words) == expected
    assert tuple(threefry_reference(key, counter)) == expected


@pytest.mark.parametrize("eagerly", [False, True])
def test_words_are_blocks_of_counters(eagerly, request):
    """With counters in the upper half of their range, which a signed seed and counter must not fold into the lower."""
    request.addfinalizer(lambda: tf.config.run_functions_eagerly(False))
    tf.config.run_functions_eagerly(eagerly)
    key, low, high = (0xDEADBEEF, 0x12345678), [0, 1, 2**31 + 5, WORD - 1], 0x80000001
    want = np.array([threefry_reference(key, (i, high)) for i in low], np.uint32)
    signed = [np.array(words, np.uint32).view(np.int32) for words in (key, low, high)]
    np.testing.assert_array_equal(np.stack(threefry.words(*signed), 1), want)
    pairs = [threefry.word_pair(signed[0], np.uint64(high << 32 | i).view(np.int64)) for i in low]
    np.testing.assert_array_equal(np.stack(pairs).view(np.uint32), want)

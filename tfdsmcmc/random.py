"""The one place for randomness: stateless seeds, and draws that are fast under XLA.

A seed is an int32 tensor of shape (2,). `as_seed` makes one from an integer, `split`, `fold` and `stream` make new
ones; a seed is used once. Everything comes from the block function of `threefry`, with the seed as its key:

    words     (y₀, y₁) = Threefry(seed, (i, 0)),  i = 0, 1, …
    split     Threefry(seed, (i, 1)),  i = 0, …, n − 1
    stream    Threefry(seed, (CRC-32 of the purpose, 2))
    fold      Threefry(seed, data + 2⁶³),  the data as 64 bits
    uniform   u = k / 2²³,  k = the top 23 bits                          (float64: 52 bits of both words)
    normal    x = √2 erf⁻¹(2u' − 1),  u' = (k + ½) / 2²³                  (so |x| < 5.3: float32 has no more)
    Bernoulli 1[(k + ½) / 2²³ < σ(logit)]                                (so a logit of −50 never gives a 1)
    gamma     d(1 + cx)³ where log u' < x²/2 + d − d(1 + cx)³ + 3d log(1 + cx), else again;  d = a − ⅓, c = 1/√(9d)

No counter serves two purposes while the data of `fold` are below 2⁶² in absolute value.

Source of the gamma draws: Marsaglia and Tsang, "A simple method for generating gamma variables", ACM Transactions on
Mathematical Software 26 (2000).
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import keras
import numpy as np
import tensorflow as tf

from tfdsmcmc._common import forks, loops, threefry

if TYPE_CHECKING:
    from tfdsmcmc._common.types import DType, Seed, Shape, TensorLike

_DRAWS, _SPLIT, _STREAM = 0, 1, 2  # the second words of counters
_FOLD = -(2**63)  # flips the highest bit


def as_seed(seed: Seed) -> tf.Tensor:
    """Returns `seed` as a stateless seed, an int32 tensor of shape (2,).

    Args:
      seed: an integer in [0, 2⁶⁴); an integer tensor or array of shape (2,); or a `keras.random.SeedGenerator`,
        which is advanced.

    Raises:
      ValueError: for anything else.
      RuntimeError: in a process that was forked from one that had drawn (see `forks`).
    """
    forks.check()
    if isinstance(seed, keras.random.SeedGenerator):
        return tf.cast(tf.convert_to_tensor(seed.next()), tf.int32)
    if isinstance(seed, (bool, np.bool_)):
        raise ValueError(f"A seed is an integer or an integer tensor of shape (2,). Received: seed={seed!r}")
    if isinstance(seed, (int, np.integer)):
        if not 0 <= int(seed) < 2**64:
            raise ValueError(f"An integer seed lies in [0, 2**64). Received: seed={seed!r}")
        words = np.array([int(seed) & 0xFFFFFFFF, int(seed) >> 32], np.uint32)
        return tf.constant(words.view(np.int32))
    try:
        tensor = tf.convert_to_tensor(seed)
    except (TypeError, ValueError):
        tensor = None
    if tensor is None or not tensor.dtype.is_integer or not tensor.shape.is_compatible_with([2]):
        raise ValueError(f"A seed is an integer or an integer tensor of shape (2,). Received: seed={seed!r}")
    return tf.cast(tensor, tf.int32)


def split(seed: Seed, n: int = 2) -> tf.Tensor:
    """Returns `n` new independent seeds, int32 of shape (n, 2). The old one is used up."""
    words = threefry.words(as_seed(seed), tf.range(n), _SPLIT)
    return tf.ensure_shape(tf.bitcast(tf.stack(words, 1), tf.int32), [n, 2])


def fold(seed: Seed, data: int | np.integer[Any] | np.ndarray | tf.Tensor | tf.Variable) -> tf.Tensor:
    """Returns the seed that belongs to `data`, an integer (a step, a layer's place), under `seed`."""
    number = data if tf.is_tensor(data) else np.asarray(data, np.int64)
    return threefry.word_pair(as_seed(seed), tf.cast(number, tf.int64) + _FOLD)


def stream(seed: Seed, purpose: str) -> tf.Tensor:
    """Returns the seed of a purpose, such as "row order", under `seed`: different purposes never share draws."""
    return threefry.word_pair(as_seed(seed), _STREAM << 32 | zlib.crc32(purpose.encode()))


def bits(shape: Shape, seed: Seed) -> tf.Tensor:
    """Independent uniform random words, uint32 of shape `shape`."""
    size, shape = _size(shape)
    x0, x1 = _words((size + 1) // 2, seed)
    return tf.reshape(tf.concat([x0, x1], 0)[:size], shape)


def uniform(shape: Shape, seed: Seed, dtype: DType = tf.float32) -> tf.Tensor:
    """Uniform draws from [0, 1), float32 (a grid of 2²³ points) or float64 (2⁵²)."""
    dtype = tf.as_dtype(dtype)
    if dtype == tf.float64:
        return tf.cast(_bits52(shape, seed), dtype) * 2.0**-52
    mantissa = _or(_right(bits(shape, seed), 9), np.uint32(0x3F800000))
    return tf.cast(tf.bitcast(mantissa, tf.float32) - 1.0, dtype)


def uniform_at(places: TensorLike, seed: Seed) -> tf.Tensor:
    """Uniform draws from [0, 1), float32, each of a place under the seed, whatever other places are asked for.

    Args:
      places: (n,), integers from 0 to 2³¹ − 1.
      seed: integer, or int32 tensor of shape (2,).
    """
    word, _ = threefry.words(as_seed(seed), tf.cast(places, tf.int32), _DRAWS)
    return tf.cast(_right(word, 9), tf.float32) * 2.0**-23


def open_uniform(shape: Shape, seed: Seed, dtype: DType = tf.float32) -> tf.Tensor:
    """Uniform draws from (0, 1), each from the middle of a cell of width 2⁻²³ (float64: 2⁻⁵²).

    For comparison with a probability: u = 0 would give a 1 at any logit, with a weight p/q that no estimator survives.
    """
    return uniform(shape, seed, dtype) + (2.0**-53 if tf.as_dtype(dtype) == tf.float64 else 2.0**-24)


def normal(shape: Shape, seed: Seed, dtype: DType = tf.float32) -> tf.Tensor:
    """Standard normal draws of shape `shape`."""
    dtype = tf.as_dtype(dtype)
    if dtype == tf.float64:
        centred = (tf.cast(_bits52(shape, seed), dtype) + 0.5) * 2.0**-51 - 1.0
    else:
        # 2u' − 1 from the middle of the cell: every step is exact in float32, so the compiler may reorder them,
        # and the result is symmetric and never ±1
        cell = tf.cast(tf.cast(_right(bits(shape, seed), 9), tf.int32), tf.float32)
        centred = (cell + 0.5) * 2.0**-22 - 1.0
    return tf.cast(math.sqrt(2.0) * tf.math.erfinv(centred), dtype)


def bernoulli(logits: TensorLike, seed: Seed, sample_shape: Shape = ()) -> tf.Tensor:
    """Draws from Bernoulli(σ(logits)): 0 or 1 in the type of `logits`, shape sample_shape + logits.shape."""
    logits = tf.convert_to_tensor(logits)
    shape = tf.concat([tf.cast(sample_shape, tf.int32), tf.shape(logits)], 0)
    return bernoulli_of(logits, open_uniform(shape, seed))


def open_uniforms(rows: int | tf.Tensor, widths: Sequence[int], seed: Seed) -> list[tf.Tensor]:
    """`open_uniform` for several layers of units at once, (rows, width) for each width.

    One draw: where each layer's words are drawn within the loop that uses them, XLA on a CPU makes that loop many
    times slower.
    """
    return tf.split(open_uniform([rows, sum(widths)], seed), widths, -1)


def bernoulli_of(logits: TensorLike, uniform: TensorLike) -> tf.Tensor:
    """1 where a number of `open_uniform` is below σ(logit), else 0, in the type of `logits`."""
    logits = tf.convert_to_tensor(logits)
    return tf.cast(uniform < tf.cast(_sigmoid(logits), tf.float32), logits.dtype)


def gamma(shape: Shape, concentration: TensorLike, seed: Seed, dtype: DType = tf.float32) -> tf.Tensor:
    """Draws from the gamma law of rate 1; no gradient passes through them.

    Args:
      shape: of the draws.
      concentration: a, above 0; a number, or a tensor that broadcasts to `shape`. An entry that is not above 0 gives
        NaN. Below about 0.2 the law reaches under the least float32, and draws of 0 occur.
      seed: an integer, or an int32 tensor of shape (2,).
      dtype: float32 or float64.

    Raises:
      ValueError: if `concentration` is a number and not above 0.
    """
    dtype = tf.as_dtype(dtype)
    known = float(concentration) if isinstance(concentration, (int, float, np.number)) else None
    if known is not None and not 0 < known < math.inf:
        raise ValueError(f"concentration must be finite and above 0. Received: concentration={concentration!r}")
    if known == 1.0:
        return -tf.math.log(open_uniform(shape, seed, dtype))
    a = tf.stop_gradient(tf.broadcast_to(tf.cast(concentration, dtype), shape))
    a = tf.where(a > 0, a, math.nan)
    rejection_seed, boost_seed = tf.unstack(split(seed))
    if known is not None and known > 1:
        return _gamma_by_rejection(a, rejection_seed)
    # g(a) = g(a + 1) u^(1/a)
    power = tf.math.log(open_uniform(shape, boost_seed, dtype)) / a
    return tf.where(a < 1, tf.exp(power), 1.0) * _gamma_by_rejection(tf.where(a < 1, a + 1, a), rejection_seed)


def integers(shape: Shape, maxval: int | tf.Tensor, seed: Seed) -> tf.Tensor:
    """Uniform draws from {0, …, maxval − 1}, int32; the bias of a value is at most maxval / 2³²."""
    product = tf.cast(bits(shape, seed), tf.uint64) * tf.cast(maxval, tf.uint64)
    return tf.cast(_right(product, 32), tf.int32)


def permutation(n: int, seed: Seed) -> tf.Tensor:
    """A uniformly random order of 0, …, n − 1, int32 of shape (n,)."""
    return tf.argsort(_bits52([n], seed), stable=True)


def host_permutation(n: int, seed: Seed, block: int = 1 << 19) -> np.ndarray:
    """`permutation` as a NumPy array, drawn outside of any program, in some fourteen bytes an entry.

    Words of the first bits of a key and the place that it belongs to are sorted, which is many times faster than an
    `argsort`; the few places whose keys agree so far are put in order by their whole keys.

    Args:
      n: number of entries.
      seed: an integer, or an int32 tensor of shape (2,).
      block: entries whose keys are drawn at a time.
    """
    place = max(n - 1, 0).bit_length()  # bits of a place; what is left of 63 is for the key
    dropped = max(0, 52 - (63 - place))
    words = np.empty(n, np.int64)
    for first in range(0, n, block):
        places = np.arange(first, min(first + block, n))
        words[first : first + block] = (_host_keys(places, seed) >> dropped << place) | places
    words.sort()
    order = np.empty(n, np.int32)
    np.bitwise_and(words, (1 << place) - 1, out=order, casting="unsafe")
    words >>= place
    equal = np.flatnonzero(words[1:] == words[:-1])
    if dropped and len(equal):
        open_ = np.union1d(equal, equal + 1)
        order[open_] = order[open_][np.lexsort((order[open_], _host_keys(order[open_], seed)))]
    return order


def _host_keys(places, seed):
    """The keys by which `permutation` sorts, int64, of some places."""
    words = threefry.words(as_seed(seed), places.astype(np.int32), _DRAWS)
    high, low = (word.numpy().astype(np.int64) >> 6 for word in words)
    return high << 26 | low


def _gamma_by_rejection(a, seed):
    """Draws for a ≥ 1, of which each round accepts 95 in a hundred or more; NaN where a is NaN."""
    d = a - 1 / 3
    c = tf.math.rsqrt(9 * d)

    def one_round(number, open_, draws):
        normal_seed, uniform_seed = tf.unstack(split(fold(seed, number)))
        x = normal(tf.shape(a), normal_seed, a.dtype)
        inside = c * x > -1
        t = tf.where(inside, c * x, 0.0)
        # 1 − (1 + t)³ + 3 log(1 + t), without the loss of digits that a large d would multiply
        bound = tf.square(x) / 2 + d * (3 * (tf.math.log1p(t) - t) - tf.square(t) * (3 + t))
        accepted = inside & (tf.math.log(open_uniform(tf.shape(a), uniform_seed, a.dtype)) < bound)
        draws = tf.where(open_ & accepted, d * (1 + t) ** 3, draws)
        return number + 1, open_ & ~accepted, draws

    # the bound on the rounds is for NaN alone: a number stays open with probability 0.05¹⁰⁰
    start = (tf.constant(0), tf.fill(tf.shape(a), True), tf.fill(tf.shape(a), tf.constant(math.nan, a.dtype)))
    shapes = (tf.TensorShape([]), a.shape, a.shape)
    return loops.while_loop(lambda i, open_, _: tf.reduce_any(open_) & (i < 100), one_round, start, shapes)[-1]


def _words(pairs, seed):
    return threefry.words(as_seed(seed), tf.range(pairs), _DRAWS)


def _bits52(shape, seed):
    size, shape = _size(shape)
    x0, x1 = _words(size, seed)
    high, low = (tf.cast(_right(word, 6), tf.int64) for word in (x0, x1))
    return tf.reshape(_or(_left(high, 26), low), shape)


def _size(shape):
    """The number of elements, as an integer where it is known, and the shape."""
    shape = tf.cast(shape, tf.int32)
    static = tf.get_static_value(shape)
    if static is None:
        return tf.reduce_prod(shape), shape
    return int(np.prod(static)), static


# the operators << and >> do not work on tensors in a graph
_or = tf.bitwise.bitwise_or


def _left(x, distance: int):
    return tf.bitwise.left_shift(x, tf.constant(distance, x.dtype))


def _right(x, distance: int):
    return tf.bitwise.right_shift(x, tf.constant(distance, x.dtype))


def _sigmoid(logits):
    # one exponential that cannot overflow to a nan; on a CPU faster than XLA's own
    return 1.0 / (1.0 + tf.exp(-logits))

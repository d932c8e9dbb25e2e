"""NADE by its definition, unit by unit in NumPy and float64, and its gradients by a derivation that holds all hidden
layers at once."""

import functools

import numpy as np

import tfdsmcmc as ds
from tests.distributions import support
from tests.distributions.support import summed_to

NADE = ds.distributions.NADE
ORDER = [3, 0, 5, 1, 4, 2]
SHAPES = [  # of x, b and c, for six units and five hidden units
    ((6,), (6,), (5,)),
    ((4, 6), (6,), (5,)),
    ((4, 6), (4, 6), (4, 5)),
    ((4, 6), (3, 4, 6), (3, 4, 5)),
    ((3, 4, 6), (4, 6), (4, 5)),
    ((3, 4, 6), (6,), (4, 5)),
    ((6, 1, 6), (3, 6), (3, 5)),
    ((6,), (2, 6), (3, 1, 5)),
    ((4, 6), (1, 6), (4, 5)),
    ((0, 6), (6,), (5,)),
]


def sigmoid(logits):
    """That of complex numbers too."""
    return 1 / (1 + np.exp(-logits))


def random_operands(x_shape=(4, 6), b_shape=(6,), c_shape=(5,), scale=0.8):
    """(x, b, c, W, V), float64, asymmetric; the last two of the scale times a standard normal."""
    rng = np.random.default_rng(0)
    units, hidden = x_shape[-1], c_shape[-1]
    x = rng.integers(0, 2, x_shape).astype(np.float64)
    b, c = rng.normal(0.3, 0.8, b_shape), rng.normal(-0.2, 0.8, c_shape)
    return [x, b, c, *rng.normal(0.1, scale, (2, units, hidden))]


def exact(x, b, c, w, v, ordering=None):
    """log p(x) and the logits of the units, by definition."""
    order = range(x.shape[-1]) if ordering is None else ordering
    total, hidden, logits = 0.0, c, {}
    for i in order:
        logits[i] = b[..., i] + sigmoid(hidden) @ v[i]
        total = total + x[..., i] * logits[i] - np.log(1 + np.exp(logits[i]))
        hidden = hidden + x[..., i, None] * w[i]
    return total, np.stack(np.broadcast_arrays(*(logits[i] for i in sorted(order))), -1)


def exact_gradients(x, b, c, w, v, upstream, ordering=None):
    """Gradients of Σ upstream · log p(x) in x, b, c, W and V, from all a_i side by side."""
    shapes = [part.shape for part in (x, b, c)]
    order = np.arange(x.shape[-1]) if ordering is None else np.array(ordering)
    x, b = (np.broadcast_to(part, (*upstream.shape, len(order)))[..., order] for part in (x, b))
    w, v, upstream = w[order], v[order], upstream[..., None]
    terms = x[..., None] * w
    hidden = sigmoid(c[..., None, :] + np.cumsum(terms, -2) - terms)
    logits = b + (hidden * v).sum(-1)
    residual = (upstream * (x - sigmoid(logits)))[..., None]
    below = residual * v * hidden * (1 - hidden)  # of the a_i one by one
    later = np.cumsum(below[..., ::-1, :], -2)[..., ::-1, :] - below
    in_x = upstream * logits + (later * w).sum(-1)
    rows = tuple(range(x.ndim - 1))
    in_w, in_v = (x[..., None] * later).sum(rows), (residual * hidden).sum(rows)
    place = np.argsort(order)
    in_x, in_b = in_x[..., place], residual[..., place, 0]
    leading = [summed_to(part, shape) for part, shape in zip((in_x, in_b, below.sum(-2)), shapes)]
    return [*leading, in_w[place], in_v[place]]


def value_and_gradients(operands, upstream, ordering=None):
    """What the package has to say, from operands that are tensors."""
    return support.value_and_gradients(functools.partial(NADE, ordering=ordering), operands, upstream)

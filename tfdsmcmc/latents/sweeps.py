"""One sweep of Gibbs sampling over the units of a latent layer.

Of a layer with values z, parents `above` and child `below`, unit j is drawn given everything else, one unit after the
other. Its log-odds are

    log p(z_j = 1, z_rest given above) − log p(z_j = 0, z_rest given above)
      + log p(below given z_j = 1, z_rest) − log p(below given z_j = 0, z_rest)

`sweep_any` evaluates this as it stands, for layers of any kind: two log-probabilities of the whole layer and of its
child for each unit. Where layer and child are of the kinds SBN and DARN their logits are linear in z_j, and
`sweep_logistic` keeps them up to date. With A_j the row of weights from unit j (to the child, and, in a DARN, to the
later units of its own layer), λ the logits of those targets at z_j = 0, and t their values, the log-odds are

    l_j + t · A_j − Σ_d log (1 + exp(λ_d + A_jd)) / (1 + exp λ_d)

where l_j is the unit's own logit. A term of the sum is max(A, 0), which goes to t · A, and a logarithm that needs one
exponential and cannot overflow: with e = exp(−|λ|) and q = exp(−|A|), made once a sweep, it is log (1 + e q)/(1 + e)
where λ and A have the same sign and log (e + q)/(1 + e) where they have not. Only where |λ| and |A| both pass 87, where
e and q vanish in float32, it saturates.
"""

from __future__ import annotations

import tensorflow as tf

from tfdsmcmc import random
from tfdsmcmc.distributions.sum_log import sum_log
from tfdsmcmc.layers import DARN, SBN


def sweep_layer(layer, child, z, above, below, seed):
    """One sweep over a latent layer.

    Args:
      layer: the layer.
      child: the layer below it.
      z: (n, H), values of the layer.
      above: (n, parents) or (0,), values of its parents.
      below: (n, D), values of the child.
      seed: int32 of shape (2,).

    Returns:
      (n, H), the new values.
    """
    logistic = {type(layer), type(child)} <= {SBN, DARN}  # a subclass may have logits of its own
    return (sweep_logistic if logistic else sweep_any)(layer, child, z, above, below, seed)


def sweep_any(layer, child, z, above, below, seed):
    """`sweep_layer` for binary layers of any kind."""
    units = layer.units
    uniform = random.open_uniform([units, tf.shape(z)[0]], seed)

    def draw_unit(j, z):
        here = tf.one_hot(j, units)
        both = tf.stack([z * (1.0 - here), z * (1.0 - here) + here])
        log_joint = layer.log_prob(both, above) + child.log_prob(below, both)
        one = _draw(uniform[j], log_joint[1] - log_joint[0])
        return j + 1, tf.where(one[:, tf.newaxis] > 0, both[1], both[0])

    return tf.while_loop(lambda j, _: j < units, draw_unit, (0, z), maximum_iterations=units)[1]


def sweep_logistic(layer, child, z, above, below, seed):
    """`sweep_layer` for layers of the kinds SBN and DARN."""
    units = layer.units
    uniform = random.open_uniform([units, tf.shape(z)[0]], seed)
    # what does not change: the unit's own logit and t · A_j
    weights, logits = child.kernel.value, child.logits(z)
    if isinstance(child, DARN):
        logits += tf.matmul(below, child.lateral_kernel())
    linear = layer.logits(above) + tf.matmul(below, weights, transpose_b=True)
    within = None
    if isinstance(layer, DARN):
        lateral = layer.lateral_kernel()
        own = layer.logits(above) + tf.matmul(z, lateral)
        weights, logits = tf.concat([weights, lateral], 1), tf.concat([logits, own], 1)
        within = lateral + tf.transpose(lateral)
        linear += tf.matmul(z, within)
    linear -= tf.reduce_sum(tf.nn.relu(weights), 1)
    positive, q = weights >= 0, tf.exp(-tf.abs(weights))
    old = tf.transpose(z)

    def draw_unit(j, logits, linear, draws):
        at_zero = logits - old[j][:, tf.newaxis] * weights[j]
        e = tf.exp(-tf.abs(at_zero))
        factors = tf.where((at_zero >= 0) == positive[j], 1.0 + e * q[j], e + q[j]) / (1.0 + e)
        new = _draw(uniform[j], linear[:, j] - sum_log(factors))
        if within is not None:
            linear += (new - old[j])[:, tf.newaxis] * within[j]
        return j + 1, at_zero + new[:, tf.newaxis] * weights[j], linear, draws.write(j, new)

    start = (0, logits, linear + tf.zeros_like(z), tf.TensorArray(z.dtype, units))
    draws = tf.while_loop(lambda j, *_: j < units, draw_unit, start, maximum_iterations=units)[-1]
    return tf.transpose(draws.stack())


def _draw(uniform, log_odds):
    return tf.cast(uniform < tf.sigmoid(log_odds), log_odds.dtype)

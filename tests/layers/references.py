"""The laws of the layers in NumPy, from their lists of weight arrays, written as the papers write them."""

from __future__ import annotations

import numpy as np
import scipy.stats

from tests.oracles import log_bernoulli, sigmoid


def sbn(weights, value, parents):
    kernel, bias = weights
    return log_bernoulli(value, parents @ kernel + bias)


def darn(ordering=None):
    def log_prob(weights, value, parents):
        kernel, bias, lateral = weights
        value, base = np.broadcast_arrays(value, parents @ kernel + bias)
        total, before = 0.0, []
        for unit in range(value.shape[-1]) if ordering is None else ordering:
            logit = base[..., unit] + sum(value[..., other] * lateral[other, unit] for other in before)
            total = total + log_bernoulli(value[..., unit, None], logit[..., None])
            before.append(unit)
        return total

    return log_prob


def nade(ordering=None):
    def log_prob(weights, value, parents):
        encoder, decoder, bias, hidden_bias, kernel, *rest = weights
        value, logits = np.broadcast_arrays(value, parents @ kernel + bias)
        hidden = hidden_bias + (parents @ rest[0] if rest else np.zeros((*logits.shape[:-1], 1)))
        total = 0.0
        for unit in range(value.shape[-1]) if ordering is None else ordering:
            logit = logits[..., unit] + sigmoid(hidden) @ decoder[unit]
            total = total + log_bernoulli(value[..., unit, None], logit[..., None])
            hidden = hidden + value[..., unit, None] * encoder[unit]
        return total

    return log_prob


def mlp_bernoulli(weights, value, parents):
    *inner, kernel, bias = weights
    return log_bernoulli(value, _inner(inner, parents) @ kernel + bias)


def mlp_gaussian(weights, value, parents):
    if not weights:
        return scipy.stats.norm.logpdf(value).sum(-1)
    *inner, kernel, bias, log_scale_kernel, log_scale_bias = weights
    hidden = _inner(inner, parents)
    scale = np.exp(hidden @ log_scale_kernel + log_scale_bias)
    return scipy.stats.norm.logpdf(value, hidden @ kernel + bias, scale).sum(-1)


def _inner(weights, parents):
    for kernel, bias in zip(weights[::2], weights[1::2]):
        parents = np.tanh(parents @ kernel + bias)
    return parents

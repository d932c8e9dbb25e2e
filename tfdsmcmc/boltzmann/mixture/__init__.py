"""Mixtures of products of Bernoulli distributions."""

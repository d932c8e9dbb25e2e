"""Gibbs sweeps over the units of products of layers' distributions."""

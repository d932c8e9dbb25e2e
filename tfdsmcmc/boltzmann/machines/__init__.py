"""Restricted Boltzmann machines: weights, transitions, learning."""

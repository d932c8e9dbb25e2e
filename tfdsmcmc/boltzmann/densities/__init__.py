"""Densities of undirected models and mixtures at weights of their own or at others, see `contract.Density`."""

"""How a model learns: one doubly stochastic step, the compiled loop over many, and the rows that feed it."""

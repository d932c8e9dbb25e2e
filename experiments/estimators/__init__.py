"""How good estimates are: against the number of samples, and from both sides."""

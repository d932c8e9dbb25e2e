"""log Z of a machine: exact, and by annealing from both sides."""

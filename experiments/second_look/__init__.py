"""What looks at validation rows say of a climb, and what annealing says."""

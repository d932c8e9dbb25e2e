"""Deep belief networks."""

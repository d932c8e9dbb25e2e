"""Models that have learnt already: made, measured, packed, and described by cards."""

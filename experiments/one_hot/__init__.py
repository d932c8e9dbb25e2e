"""One-hot codes of categories, learnt as bits and as groups."""

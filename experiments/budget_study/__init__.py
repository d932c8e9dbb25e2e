"""Samplers beside `rws` in equal processor time, and the averages over their samples: the study."""

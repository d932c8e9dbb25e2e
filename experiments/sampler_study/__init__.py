"""Samplers beside optimizers in equal updates or time: the appendix of the study."""

"""Keras' compile, fit and save around a run."""

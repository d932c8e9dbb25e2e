"""Rows as minibatches."""

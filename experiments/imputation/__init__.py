"""Imputation beside other packages: public tables, simulated ones whose truth is known, and binary held-out rows."""

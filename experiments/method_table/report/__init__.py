"""Pages and figures of rows on record (`python -m experiments.method_table.report`)."""

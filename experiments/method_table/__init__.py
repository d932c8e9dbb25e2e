"""Tables of test log-likelihoods: methods, architectures, one budget (`python -m experiments.method_table`)."""

"""Features that are learnt under several priors."""

"""What every room uses and no user names: checks, files, types, sums of weights."""

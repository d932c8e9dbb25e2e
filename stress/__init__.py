"""What is to survive kills and load, run by hand: `python -m stress.kills`, `python -m stress.load`."""

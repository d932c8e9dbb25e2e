"""The pages of all records in a folder (`python -m experiments.report`): the one room that reads what others leave."""

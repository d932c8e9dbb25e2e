"""What is timed, against what. Nothing here is a test: tables are printed for people to read."""

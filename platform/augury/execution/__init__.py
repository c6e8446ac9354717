"""The graph of what an experiment makes, what of it is there, and its executor."""

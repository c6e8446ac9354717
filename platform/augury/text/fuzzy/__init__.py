"""Exact search for similar sentences by token edit distance."""

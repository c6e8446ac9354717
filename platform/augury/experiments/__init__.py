"""Experiments and their runs: preparation, preflight, training, evaluation and records."""

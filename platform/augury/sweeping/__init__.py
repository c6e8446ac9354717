"""Sweeps: points of a search space, each trained with several seeds, run on Ray Tune and decided by groups of seeds."""

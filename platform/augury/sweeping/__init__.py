"""Sweeps: train the points of a search space with several seeds on Ray Tune and decide by groups
of seeds."""

"""Operators: they make views, records or draws from training text."""

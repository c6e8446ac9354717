"""Operators that make training text; one file per operator, found by its name."""

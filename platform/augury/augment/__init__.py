"""Operators: they make views, records or draws from training text."""

from augury.augment import mixins as mixins  # an operator's class is checked against them

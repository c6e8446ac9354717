"""Synthetic noise, and the rates at which a text shows it."""

"""Splitting of text into words, and checks of text that has none."""

"""Corpora: reading, cleaning, filtering, storing text; built-in and known public corpora."""

"""Corpora: reading, cleaning, filtering and storing text; built-in corpora; known public data sets."""

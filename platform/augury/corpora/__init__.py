"""Corpora: reading, cleaning, filtering and storing text; built-in corpora.

Known public data sets.
"""

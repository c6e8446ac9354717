"""The results of a sweep, while it runs and at its end: a page, a board and a table for the
terminal, JSON."""

"""Analyses as tables, charts, pages and JSON."""

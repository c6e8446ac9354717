"""Runs as they are stored and tracked: records, what refers to them, and what nothing needs."""

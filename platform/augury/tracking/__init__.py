"""Tracking: what run folders say is exported to MLflow, one way.

`export` says what MLflow should have of a run, a sweep and an experiment, `client` sends what it
lacks, and `tracker` does so while a command runs. Nothing is read back: exporting again changes
nothing, and what an outage has kept from MLflow is sent by `augury track`.
"""

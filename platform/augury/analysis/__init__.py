"""Analyses of finished runs and of corpora: what models make of their views, beyond scores."""

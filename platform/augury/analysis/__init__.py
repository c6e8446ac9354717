"""Analyses of finished runs and of corpora, beyond scores: outputs, encoder states and subwords
of views."""

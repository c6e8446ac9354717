"""Corpus metrics with confidence intervals and significance tests."""

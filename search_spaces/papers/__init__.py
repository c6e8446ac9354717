"""The tables of papers: one package a paper, one module a table."""

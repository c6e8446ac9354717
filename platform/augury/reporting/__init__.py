"""The results of an experiment: scores, comparisons, tables, figures and pages for people."""

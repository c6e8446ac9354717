"""What came out of an experiment: results, comparison tables and a page for people."""

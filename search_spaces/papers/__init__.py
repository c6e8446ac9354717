"""The tables of papers, one module a paper, with its rows in YAML and its values in TSV."""

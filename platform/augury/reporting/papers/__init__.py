"""A paper's table with printed and measured values: the numbers, their text, LaTeX, CSV and
JSON, and a page."""

"""A table of a paper beside what was measured: the numbers, their text, LaTeX, CSV and JSON, and a page."""

"""What runs say: answers, tables and charts, on pages, in terminals and in papers.

One path leads from stored runs to every format:

- `results` reads the runs of systems, `resampling` their scores on resampled sentences;
- `comparison` compares systems on a test set (`differences` tests, `power`, `comparison_notes` and
  `untrained` say what to think of it), and `mean` on several sets; `answer` says it in a sentence,
  `score_tables` in a table, `pareto` and `curves` in charts;
- `experiment`, `sweeps`, `papers` and `analyses` put these together as a `report`: a value of
  sections, tables (`system_tables` beside the scores), figures and notes;
- `rendering` makes a page, text, Markdown, LaTeX or CSV of a report.

Beside it, `find` finds what a word names in a storage, and `exporting` gives a model away.
"""

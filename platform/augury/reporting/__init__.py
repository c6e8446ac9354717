"""What runs say: answers, tables and charts, on pages, in terminals and in papers.

One path leads from stored runs to every format:

- `results` reads the runs of systems, with their scores on resampled sentences;
- `comparison` compares systems on a test set and on the mean of several (`power` and `notes` say
  what to think of it), and `answer` says it in a sentence;
- `score_tables` makes its records, a row a system and metric, of which all ways out are views: the
  cells of `tables` in the formats of `numbers`, `score_charts`, JSON, and the data frames of CSV,
  `frames` and MLflow; `curves` are drawn from the history of runs;
- `experiment`, `sweeps` and `papers` put these together as a `report`: a value of sections,
  tables, figures and notes;
- `rendering` makes a page, text, Markdown, LaTeX or CSV of a report.

Beside it, `find` finds what a word names in a storage, and `exporting` gives a model away.
"""

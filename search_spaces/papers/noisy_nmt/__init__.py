"""Li and Specia (2019): its tables, a module each.

They share `table.py`, the systems of `systems.py` and the corpora of `corpora.py`. Printed values
are in `published.tsv`, what is not as in the paper in `deviations.tsv`.

The paper trains a transformer on clean text (WMT15 French-English) and tunes it on little noisy
text (MTNT, comments of Reddit), with fuzzy matches (FM), forward and back translation (FT, BT) and
transcripts of speech (ASR).

toy: the built-in synthetic corpus, whose noisy part spells otherwise, a minute or two a row on one
core; small: news and Tatoeba as clean text and the development set of MTNT as noisy text, twenty to
thirty minutes for the baseline on one core and some minutes for every stage; paper: the paper's
corpora and settings, for GPUs; released_code: the same with the tuning of the first author's thesis
repository. Files of all scales but toy are in the directory that AUGURY_DATA names.
"""

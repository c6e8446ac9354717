"""Kambhatla, Born and Sarkar (2022): its tables and figures, a module each.

They share `table.py`, the systems of `systems.py` and the corpora of `corpora.py`. Printed values
are in `published.tsv`, what is not as in the paper in `deviations.tsv`.

The paper trains a transformer on IWSLT14, IWSLT17, TED and WMT14 with ROT-k enciphered sources
(CipherDAug), and compares it with augmentations of words (WordDrop, SwitchOut, RAML), with
BPE-dropout and with data diversification.

toy: 1,000 pairs of two toy languages, about half a minute a row on one core; small: the first 5,000
or 10,000 pairs of Multi30k, half an hour to some hours a row; paper: the paper's corpora and
settings, for GPUs; released_code: IWSLT14 with the settings of the released script, in the tables
and figures that are not about sizes of embeddings and vocabularies.
"""

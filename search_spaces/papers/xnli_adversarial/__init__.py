"""Dong et al. (2021): its tables and figures, a module each.

They share `table.py`, the systems of `systems.py` and the corpora of `corpora.py`. Printed values
are in `published.tsv`, what is not as in the paper in `deviations.tsv`.

The paper fine-tunes XLM-R on 20,000 English examples of MultiNLI and tests it on XNLI in 15
languages. EA, RA and SA are its augmentations (EDA, reordering, generated hypotheses), PGD and FGM
its adversarial training.

toy: the built-in synthetic corpus in two languages of different word order, minutes a row on two
cores; small: English text of the same kind as MultiNLI and the development set of XNLI; paper: the
paper's corpora and models, for GPUs.
"""

"""Figure 2: the number of keys, and the weight of the agreement."""

from __future__ import annotations

from augury.sweeping.declarations import Rows
from search_spaces.papers.cipherdaug.corpora import is_paper
from search_spaces.papers.cipherdaug.systems import agreement, cipher, cipherdaug, row
from search_spaces.papers.cipherdaug.table import Table, read


def rows(scale: str) -> Rows:
    """Keys under the usual weight, and weights with two keys: the paper's, and at other scales a
    fifth of it."""
    weight = 1 if is_paper(scale) else 0.2
    systems = {"baseline": row()}
    for keys in (1, 2, 3, 4, 5):
        systems[f"{keys} key{'s' * (keys > 1)}, β 5"] = cipherdaug(scale, keys)
    for beta in (0, 1, 2, 10):
        regime = agreement(scale, beta=beta * weight)
        systems[f"2 keys, β {beta}"] = row(cipher(2), regime=regime)
    return systems


TABLE = Table(
    where="Figure 2",
    question="How many keys are best, and how strongly should views agree?",
    rows=rows,
    published=read("figure2", mean="BLEU"),
)

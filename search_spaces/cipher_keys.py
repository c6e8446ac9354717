"""Sweep the number and choice of cipher keys."""

from augury.sweeping.declarations import SearchSpace
from search_spaces.scales import CIPHERDAUG, at_scales

SPACE = SearchSpace(
    question="How many cipher keys help, and does it matter which?",
    base=CIPHERDAUG,
    scales=at_scales(),
    keys={"augment.0.keys": [[1], [2], [5], [1, 2], [1, 2, 3], [1, 2, 3, 4, 5]]},
    metric="valid/bleu",
    seeds=(1, 2, 3),
    scheduler="race",
)

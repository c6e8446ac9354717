"""Sweep the agreement of CipherDAug: weight, temperature and warm-up."""

from __future__ import annotations

from augury.sweeping.declarations import SearchSpace
from search_spaces.scales import CIPHERDAUG, at_scales

SPACE = SearchSpace(
    question="How strongly should the agreement between a source and its cipher be weighted?",
    base=CIPHERDAUG,
    scales=at_scales(),
    keys={"regime.beta": [0, 1, 2, 5, 10], "regime.tau": [1, 2]},
    metric="valid/bleu",
    seeds=(1, 2, 3),
    scheduler="race",
)

"""Sweep the vocabulary of plain and enciphered text: joint or separate, and its size."""

from augury.sweeping.declarations import SearchSpace
from search_spaces.scales import CIPHERDAUG, at_scales

SPACE = SearchSpace(
    question="Should plain and enciphered text share a vocabulary, and of what size?",
    base=CIPHERDAUG,
    scales=at_scales(
        toy={"vocabulary.separate_size_per_key": 400},
        small={"vocabulary.separate_size_per_key": 1500},
    ),
    keys={
        "vocabulary.mode": ["joint", "separate"],
        "vocabulary.size_per_key": ["auto", 200, 400, 1000],
    },
    metric="valid/bleu",
    seeds=(1, 2, 3),
    scheduler="race",
)

"""Sweep CipherDAug: keys, weight of agreement and temperature."""

from augury.sweeping.declarations import SearchSpace
from search_spaces.scales import CIPHERDAUG, at_scales

SPACE = SearchSpace(
    question="With which keys, weight and temperature does CipherDAug help, and by how much?",
    base=CIPHERDAUG,
    scales=at_scales(),
    keys={"augment.0.keys": [[1], [1, 2]], "regime.beta": [1, 5], "regime.tau": [1, 2]},
    metric="valid/bleu",
    seeds=(1, 2, 3),
    scheduler="race",
)

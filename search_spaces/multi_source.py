"""Sweep enciphered sources as additional data, without agreement."""

from augury.sweeping.declarations import SearchSpace
from search_spaces.scales import CIPHERDAUG, TRANSLATION

SPACE = SearchSpace(
    question=(
        "Do enciphered sources help as additional data only, and does reconstructing the source "
        "from them help?"
    ),
    base=CIPHERDAUG | {"regime": {"name": "multi_source"}},
    scales=TRANSLATION,
    keys={"regime.equation": [1, 2], "augment.0.keys": [[1], [1, 2]]},
    metric="valid/bleu",
    seeds=(1, 2, 3),
)

"""Table 6: sizes of embeddings and vocabularies, without and with ciphers."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import cipherdaug as common

QUESTION = "Does CipherDAug win by its larger vocabulary and its further parameters?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "Transformer-512, 12k"

ENTRIES: dict[str, tuple[int, int]] = {
    "toy": (600, 1000),
    "small": (4000, 6600),
    "paper": (12_000, 20_000),
}
"""Of the plain bitext, and as many as with two keys."""
HALF: dict[str, int] = {"toy": 48, "small": 96, "paper": 256}
"""Half of the hidden size."""


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """Embeddings of 512 have the hidden size of the scale.

    Those of 256 have half of it, and are projected.
    """
    name = scale.partition("/")[0]
    usual, large = ENTRIES[name]
    half: dict[str, Any] = {"model.embeddings": {"name": "table", "size": HALF[name]}}
    return {
        "Transformer-256, 12k": common.row() | half | {"vocabulary.size": usual},
        "Transformer-512, 12k": common.row() | {"vocabulary.size": usual},
        "Transformer-256, 20k": common.row() | half | {"vocabulary.size": large},
        "Transformer-512, 20k": common.row() | {"vocabulary.size": large},
        "CipherDAug-1key, 256": common.cipherdaug(scale, 1) | half,
        "CipherDAug-1key, 512": common.cipherdaug(scale, 1),
        "CipherDAug-2keys, 256": common.cipherdaug(scale, 2) | half,
        "CipherDAug-2keys, 512": common.cipherdaug(scale, 2),
    }


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 6", common.published("table6", "BLEU")
_NAMES = "256 and 512 in names stand for half and all of the model's hidden size, 12k and 20k for {} and {} entries"
deviations = common.deviations()
deviations = {
    scale: (*lines, _NAMES.format(*ENTRIES[scale])) if scale in ("toy", "small") else lines
    for scale, lines in deviations.items()
}

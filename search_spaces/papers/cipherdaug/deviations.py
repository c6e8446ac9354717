"""What is not as in the paper, by scale."""

from __future__ import annotations

from search_spaces.papers.cipherdaug.corpora import SCALES, WMT14
from search_spaces.papers.cipherdaug.systems import DIVERSE

_LITTLE = (
    "agreement: β = 1 from pass 10 on, not β = 5 from update 2,000 on, with which a model of so "
    "little text does not learn to translate"
)
_EPOCHS = (
    "training: at most {} passes; the last model of data diversification, whose passes are up to "
    "seven times as long, {}"
)
_STATED = (
    "word changes, not stated: τ as the inverse of a temperature and replacements from the joint "
    "vocabulary (the released code), for all languages but French those of German",
    "the paper prints the median of three runs; measured are means over seeds",
)
"""What the paper does not state, and its medians."""
_PRECISION_AND_DECAY = (
    "precision: bf16, which the paper does not state; the released script trains in fp16",
    "weight decay and clipping: none, as the paper states none; the released script has 1e-4 and 0.1",
)
COMMON: dict[str, tuple[str, ...]] = {
    "toy": (
        "corpus: 1,000 pairs of two toy languages, not IWSLT14",
        "model: one layer of 96; vocabulary of 600 entries, and for enciphered text as many more "
        "as leave plain text in as many pieces",
        _LITTLE,
        _EPOCHS.format(SCALES["toy"]["training"]["max_passes"], DIVERSE["toy"]["max_passes"]),
    ),
    "small": (
        "corpus: the first 5,000 or 10,000 pairs of Multi30k, not IWSLT14",
        "model: 2 + 2 layers of 192; vocabulary of 4,000 entries, and for enciphered text as many "
        "more as leave plain text in as many pieces",
        _LITTLE,
        _EPOCHS.format(SCALES["small"]["training"]["max_passes"], DIVERSE["small"]["max_passes"]),
    ),
    "paper": (
        "batches: 2 workers × 2 accumulated × 5,000 tokens; the paper states its 2 GPUs and no "
        "batch, the released script reads 20,000 tokens an update on 1 GPU (with fewer GPUs: "
        "--set training.workers=1 --set training.accumulation=4)",
        *_PRECISION_AND_DECAY,
        "embeddings: the source has a matrix of its own, the target's is the output layer's, as "
        "released; the printed sizes agree (python -m search_spaces.papers.cipherdaug.sizes)",
        *_STATED,
    ),
    WMT14: (
        "batches: 8 workers × 4,096 tokens; the paper states its 8 GPUs and no batch (with fewer "
        "GPUs: --set training.workers=1 --set training.accumulation=8)",
        *_PRECISION_AND_DECAY,
        "embeddings: one matrix for source, target and output, with which the system of one key "
        "has the printed 68M; the paper does not state it",
        *_STATED,
    ),
}
"""Those of every table."""


def deviations(**further: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    """Return the deviations of a table that has further ones at some scales."""
    return {scale: (*lines, *further.get(scale, ())) for scale, lines in COMMON.items()}

"""What is not as in the paper, by scale."""

from __future__ import annotations

_UNSTATED = (
    "not stated in the paper, and chosen here: AdamW with linear decay, 6 % warm-up and weight "
    "decay 0.01; a patience of three passes; the direction and symmetrisation of the word "
    "alignments; the attack starts from no perturbation; SA's examples are counted before labels "
    "are rectified"
)
_SIZES = "20k and 80k in names stand for once and four times the training examples of the scale"
_SYNONYMS = "EA: synonyms of Open English WordNet; the paper does not say which WordNet"
_PROJECTION = "with the paper's K·α = ε the projection of PGD never acts, so that ε is not tested"
COMMON: dict[str, tuple[str, ...]] = {
    "toy": (
        "corpus: built-in synthetic NLI in two toy languages of different word order, not "
        "MultiNLI and XNLI",
        "models: tiny and trained from scratch, not XLM-R base, T5-base and RoBERTa-large",
        "attacks: ε = 0.02 for the small embeddings of tiny models, not 3, with the clean loss "
        "added, and after 450 updates without attack: a model that starts from nothing learns "
        "little under it",
        "RA: word order is learnt from the built-in parallel corpus of the toy languages, not "
        "from JW300",
        "EA: the toy languages have no synonyms, so that copies by replacement and insertion, "
        "half of all, stay as they are",
        _UNSTATED,
        _PROJECTION,
        _SIZES,
    ),
    "small": (
        "training: 10,000 examples of Linguist in the Loop (premises of MultiNLI), not 20,000 of "
        "MultiNLI",
        "tests: the development set of XNLI, not its test set",
        "models: small and trained from scratch, not XLM-R base, T5-base and RoBERTa-large",
        "RA: JW300 was withdrawn; word order is learnt from Multi30k",
        _SYNONYMS,
        _UNSTATED,
        _PROJECTION,
        _SIZES,
    ),
    "paper": (
        "RA: JW300 was withdrawn; word order is learnt from 200,000 pairs of WMT14 English-German",
        "the 20,000 training examples are drawn in the proportions of their labels; the paper's "
        "are not known",
        "precision: bf16; the paper does not say",
        _SYNONYMS,
        _UNSTATED,
        _PROJECTION,
    ),
}
"""Those of every table."""


def deviations(*lines: str) -> dict[str, tuple[str, ...]]:
    """Return the deviations of a table that has further ones, at all scales."""
    return {scale: (*of_all, *lines) for scale, of_all in COMMON.items()}

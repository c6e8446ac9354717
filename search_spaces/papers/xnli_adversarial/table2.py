"""Table 2: augmentations with and without adversarial training, zero-shot on XNLI."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import xnli_adversarial as common

QUESTION = "Which augmentations help zero-shot cross-lingual NLI, alone and with adversarial training?"

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, common.SEEDS
reference = "XLM-R"


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The rows of zero-shot transfer."""
    ea, ra, sa, pgd = common.ea(), common.ra(scale), common.sa(scale), common.pgd(scale)
    return {
        "XLM-R": common.row(),
        "+PGD": common.row(regime=pgd),
        "+EA(80k)": common.row(ea),
        "+RA(20k)": common.row(ra),
        "+SA(80k)": common.row(sa),
        "+EA+PGD": common.row(ea, regime=pgd),
        "+RA+PGD": common.row(ra, regime=pgd),
        "+SA+PGD": common.row(sa, regime=pgd),
        "+EA+SA+PGD": common.row(ea, sa, regime=pgd),
        "+RA+SA+PGD": common.row(ra, sa, regime=pgd),
    }


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 2", common.published("table2")
IN_LANGUAGE = "trains a model for each language on MultiNLI translated into it: 15 experiments, not one"
unavailable = {
    "RoBERTa (in-language)": "another pretrained model, which is tested on English alone",
    "mBERT (in-language)": IN_LANGUAGE,
    "XLM-R (in-language)": IN_LANGUAGE,
}
deviations = common.deviations()

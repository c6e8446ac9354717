"""Table 4: English to French, with transcripts of speech and mixed training."""

from __future__ import annotations

from typing import Any

from search_spaces.papers import noisy_nmt as common

QUESTION = "What helps on noisy English besides tuning on it: transcripts of speech, one training with tags?"

base, scales = common.BASE, common.scales("en", "fr")
metric, mode, seeds, reference = common.METRIC, common.MODE, common.SEEDS, common.REFERENCE
NAMES = {"Tune-S": "MTNT(Tune-S)", "Tune-B": "MTNT(Tune-B)"}


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """Every system that the paper trains; it has no row for BT here."""
    direction = common.Direction(scale, "en", "fr")
    shared = {
        NAMES.get(name, name): changes
        for name, changes in direction.rows().items()
        if name != "+BT"
    }
    return {
        **shared,
        "ASR (λ = 1.5)": direction.asr(1.5),
        "ASR (λ = 1.2)": direction.asr(1.2),
        "MuST-C": {"stages": {"speech": direction.stage(direction.texts.spoken)}},
        "Mixed training": direction.mixed(),
    }


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Table 4", common.published("table4")
_FIXED = {"Tune-S +fix punctuation": "MTNT(Tune-S)", "double tune +fix punctuation": "+double tune"}


def rescored(scale: str) -> dict[str, tuple[str, str]]:
    """The rows whose outputs are those of another, scored after their punctuation is fixed."""
    return {
        row: (of, common.BLEU + common.FIXED)
        for row, of in _FIXED.items()
        if common.fixed(scale, "fr")
    }


def unavailable(scale: str) -> dict[str, str]:
    """The same rows where outputs are not French."""
    return dict.fromkeys(
        _FIXED.keys() - rescored(scale).keys(),
        "at this scale outputs are English, and French is fixed",
    )


deviations = common.deviations()

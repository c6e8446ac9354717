"""Table 4: English to French, with transcripts of speech and mixed training."""

from __future__ import annotations

from augury.sweeping.declarations import Rows
from search_spaces.papers.noisy_nmt.settings import BLEU, FIXED, at_scales, fixed
from search_spaces.papers.noisy_nmt.systems import Direction
from search_spaces.papers.noisy_nmt.table import Table, read

NAMES = {"Tune-S": "MTNT(Tune-S)", "Tune-B": "MTNT(Tune-B)"}
_FIXED = {"Tune-S +fix punctuation": "MTNT(Tune-S)", "double tune +fix punctuation": "+double tune"}


def rows(scale: str) -> Rows:
    """Every system that the paper trains; it has no row for BT here."""
    direction = Direction(scale, "en", "fr")
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


def rescored(scale: str) -> dict[str, tuple[str, str]]:
    """The rows whose outputs are those of another, scored after their punctuation is fixed."""
    return {row: (of, BLEU + FIXED) for row, of in _FIXED.items() if fixed(scale, "fr")}


def unavailable(scale: str) -> dict[str, str]:
    """The same rows where outputs are not French."""
    reason = "at this scale outputs are English, and French is fixed"
    return {row: reason for row in _FIXED if row not in rescored(scale)}


TABLE = Table(
    where="Table 4",
    question=(
        "What helps on noisy English besides tuning on it: transcripts of speech, one training "
        "with tags?"
    ),
    scales=at_scales("en", "fr"),
    rows=rows,
    published=read("table4"),
    rescored=rescored,
    unavailable=unavailable,
)

"""Figure 7: how often training has seen the rarest subword of an example, plain and enciphered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from augury.analysis.rare_subwords import pieces_by_view, rarest, rarest_piece
from augury.analysis.system import System
from augury.corpora.languages import base_language
from augury.decoding.settings import PLAIN
from augury.sweeping import printed
from augury.sweeping.printed import PrintedTable
from search_spaces.papers import cipherdaug as common
from trainables.nmt.config import Config

SENTENCE = "hey, warum nicht?"
QUESTION = (
    f"Is the rarest subword of '{SENTENCE}' more frequent in enciphered text than in plain text?"
)

base, scales = common.BASE, common.SCALES
metric, mode, seeds = common.METRIC, common.MODE, (1,)


def rows(scale: str) -> dict[str, dict[str, Any]]:
    """The run of CipherDAug with two keys that the other tables have too: its subwords are what
    is counted."""
    return {"CipherDAug-2 keys": common.cipherdaug(scale, 2)}


def measure(system: System) -> Mapping[str, float]:
    """Return the count by view; `augury analyze --which rare_subwords --texts` shows the
    subwords too."""
    return rarest_counts(system, SENTENCE, 0)


def rarest_counts(system: System, german: str, place: int) -> dict[str, float]:
    """Return view -> the training count of the rarest subword of a German sentence.

    For another language, the sentence is the one of the test set at `place` in the order of how
    often training has seen the rarest plain subword, sentences with unseen ones last.
    """
    text = german
    if base_language(cast(Config, system.run.experiment).corpus.source_language) != "de":
        counts = rarest(system.counts(PLAIN), system.ids(PLAIN))
        text = system.sources[np.lexsort((counts, counts == 0))[place]]
    return {
        view: rarest_piece(pieces).count for view, pieces in pieces_by_view(system, text).items()
    }


VIEWS = ("plain", "rot-1", "rot-2")
OTHER_TEXT = "a sentence of the test set with a rare subword, not the paper's German one"


def printed_counts(name: str) -> PrintedTable:
    """Return the printed counts by view."""
    return printed.read(common.PUBLISHED, name, {view: view for view in VIEWS})


paper, tolerance = common.PAPER, common.TOLERANCE
where, published = "Figure 7", printed_counts("figure7")
deviations = common.deviations()
deviations["toy"] += (OTHER_TEXT,)

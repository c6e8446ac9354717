"""Figure 7: how often training has seen the rarest subword of an example, plain and enciphered."""

from __future__ import annotations

from typing import cast

import numpy as np

from augury.analysis.rare_subwords import pieces_by_view, rarest, rarest_piece
from augury.analysis.system import System
from augury.corpora.languages import base_language
from augury.decoding.settings import PLAIN
from search_spaces.papers.cipherdaug.systems import two_keys
from search_spaces.papers.cipherdaug.table import Table, read
from trainables.nmt.config import Config


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


def example(where: str, name: str, german: str, place: int) -> Table:
    """Return the figure of one example; `augury analyze --which rare_subwords --texts` shows the
    subwords too."""
    return Table(
        where=where,
        question=(
            f"Is the rarest subword of '{german}' more frequent in enciphered text than in plain "
            "text?"
        ),
        rows=two_keys,
        seeds=(1,),
        published=read(name, "plain", "rot-1", "rot-2"),
        measure=lambda system: rarest_counts(system, german, place),
    )


TABLE = example("Figure 7", "figure7", "hey, warum nicht?", 0)

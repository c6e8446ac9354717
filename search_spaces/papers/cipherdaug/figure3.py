"""Figure 3: how often training has seen the rarest subword of a sentence, plain and enciphered."""

from __future__ import annotations

from collections.abc import Mapping

from augury.analysis.rare_subwords import RareSubwordAnalysis
from augury.analysis.system import System
from search_spaces.papers.cipherdaug.systems import two_keys
from search_spaces.papers.cipherdaug.table import Table, read


def measure(system: System) -> Mapping[str, float]:
    """Return the mean over test sentences, by view; `augury analyze` tests the differences."""
    (result,) = RareSubwordAnalysis().compute([system])
    return {view.view: view.mean.value for view in result.views}


TABLE = Table(
    where="Figure 3",
    question=(
        "Is the rarest subword of a sentence more frequent in enciphered text than in plain text?"
    ),
    rows=two_keys,
    published=read("figure3"),
    measure=measure,
)

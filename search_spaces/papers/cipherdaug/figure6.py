"""Figure 6: the scores of CipherDAug's translations from plain and from enciphered sources."""

from __future__ import annotations

from collections.abc import Mapping

from augury.analysis.outputs import outputs
from augury.analysis.system import System
from search_spaces.papers.cipherdaug.systems import baseline_and_two_keys
from search_spaces.papers.cipherdaug.table import Table, read


def measure(system: System) -> Mapping[str, float]:
    """Return the first metric of the experiment by view; `augury analyze` tests the differences."""
    scored_by = system.run.experiment.scoring.metrics[0]
    (result,) = outputs([system], scored_by)
    return {view.view: view.value for view in result.views}


TABLE = Table(
    where="Figure 6",
    question="Does CipherDAug translate enciphered sources as well as plain ones?",
    rows=baseline_and_two_keys,
    published=read("figure6", "plain", "rot-1", "rot-2"),
    measure=measure,
)

"""Table 8: test sentences that a frequent subword before them makes a system hallucinate on."""

from __future__ import annotations

from collections.abc import Mapping

from augury.analysis.hallucinations import HallucinationAnalysis
from augury.analysis.system import System
from search_spaces.papers.cipherdaug.systems import baseline_and_two_keys
from search_spaces.papers.cipherdaug.table import Table, read


def measure(system: System) -> Mapping[str, float]:
    """Return the number of sentences (Algorithm 2 of Raunak et al. 2021, with 50 subwords)."""
    (result,) = HallucinationAnalysis().compute([system])
    return {"Hallucinations": len(result.hallucinated)}


TABLE = Table(
    where="Table 8",
    question="Does CipherDAug hallucinate on fewer sentences when the source is perturbed?",
    rows=baseline_and_two_keys,
    published=read("table8", "Hallucinations"),
    measure=measure,
    sentences={"toy": 200},
)

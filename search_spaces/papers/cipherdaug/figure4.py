"""Figure 4 (a): F-measure of words by their frequency in training."""

from __future__ import annotations

from collections.abc import Mapping

from augury.analysis.buckets import BucketAnalysis
from augury.analysis.system import System
from search_spaces.papers.cipherdaug.systems import baseline_and_two_keys
from search_spaces.papers.cipherdaug.table import Table, read


def measure(system: System) -> Mapping[str, float]:
    """Return F-measure in per cent by how often training has seen a word."""
    (result,) = BucketAnalysis().compute([system])
    return {bucket.bucket: 100 * bucket.value for bucket in result.frequency}


TABLE = Table(
    where="Figure 4 (a)",
    question="Does CipherDAug translate rare words better?",
    rows=baseline_and_two_keys,
    published=read("figure4"),
    measure=measure,
)

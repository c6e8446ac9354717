"""Figure 4 (b): BLEU of sentences by their length."""

from __future__ import annotations

from collections.abc import Mapping

from augury.analysis.buckets import BucketAnalysis
from augury.analysis.system import System
from search_spaces.papers.cipherdaug.systems import baseline_and_two_keys
from search_spaces.papers.cipherdaug.table import Table, read


def measure(system: System) -> Mapping[str, float]:
    """Return BLEU of the sentences by the number of words of the reference; `augury analyze`
    tests the differences."""
    (result,) = BucketAnalysis().compute([system])
    return {bucket.bucket: bucket.value for bucket in result.length}


TABLE = Table(
    where="Figure 4 (b)",
    question="Does CipherDAug translate short and long sentences better?",
    rows=baseline_and_two_keys,
    published=read("figure4b"),
    measure=measure,
)

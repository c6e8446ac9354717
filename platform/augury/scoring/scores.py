"""Scores of a corpus: value, confidence interval and signature of each metric.

Sentence statistics are stored with a run, so that systems can be compared without their outputs.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from augury.core.errors import UserError
from augury.core.store import Folder
from augury.scoring.bootstrap import SAMPLES, SEED, resample
from augury.scoring.metrics import metric
from augury.scoring.signature import with_resampling
from augury.scoring.significance import interval

STATISTICS = "statistics"


@dataclass(frozen=True)
class Score:
    """The value of a metric on a corpus, with its 95 % bootstrap interval over sentences."""

    name: str
    value: float
    low: float
    high: float
    signature: str
    """Signature of the metric, with the number of bootstrap samples and their seed."""
    n: int
    """Number of sentences."""
    statistics: NDArray[Any] = field(compare=False, repr=False)
    """Sentence statistics, shape (sentences, statistics)."""

    def to_dict(self) -> dict[str, Any]:
        """Return the fields, except the statistics, as JSON-like values."""
        return {name: content for name, content in asdict(self).items() if name != "statistics"}


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    sources: Sequence[str] | None = None,
    language: str | None = None,
    metrics: Sequence[str] = ("bleu", "chrf"),
    samples: int = SAMPLES,
    seed: int = SEED,
) -> list[Score]:
    """Score detokenised `hypotheses` by each metric, in the order of `metrics`.

    Raises UserError if a metric is unknown, if there are no lines, if the numbers of lines differ,
    or if a metric needs the `language` of the text or the `sources` and they are not given.
    """
    chosen = [metric(name, language) for name in metrics]
    if len(hypotheses) != len(references):
        raise UserError(
            f"{len(hypotheses)} hypotheses but {len(references)} references: "
            "give one hypothesis per reference, an empty line if there is no translation"
        )
    if sources is not None and len(sources) != len(references):
        raise UserError(
            f"{len(sources)} sources but {len(references)} references: give one source per "
            "reference"
        )
    if not hypotheses:
        raise UserError("nothing to score: give at least one hypothesis and its reference")
    scores = []
    for scorer in chosen:
        statistics = scorer.statistics(hypotheses, references, sources)
        resampled = resample([statistics], scorer.value, samples=samples, seed=seed)
        bounds = interval(resampled)
        signature = with_resampling(scorer.signature, samples, seed)
        scores.append(
            Score(
                scorer.name,
                resampled.value,
                bounds.low,
                bounds.high,
                signature,
                len(statistics),
                statistics,
            )
        )
    return scores


def write_statistics(run: Folder, test: str, scores: Sequence[Score]) -> None:
    """Store sentence statistics in a run: `statistics/<test>.npz`, an array for each metric."""
    content = io.BytesIO()
    arrays: dict[str, Any] = {result.name: result.statistics for result in scores}
    np.savez_compressed(content, **arrays)
    run.sub(STATISTICS).write(f"{test}.npz", content.getvalue())


def read_statistics(run: Folder, test: str) -> dict[str, NDArray[Any]]:
    """Return the stored sentence statistics by metric; empty if there are none."""
    if not run.sub(STATISTICS).exists(f"{test}.npz"):
        return {}
    with np.load(io.BytesIO(run.sub(STATISTICS).read(f"{test}.npz"))) as arrays:
        return dict(arrays)

"""Scores of a translated corpus: value, interval and signature of every metric asked for, and what they come from.

The counts of every sentence are kept beside a run, so that systems can be compared without their text.
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
    """The value of one metric on one corpus, with its 95 % interval over sentences."""

    name: str
    value: float
    low: float
    high: float
    signature: str
    """Of the metric, with the number of bootstrap samples and their seed."""
    n: int
    """Sentences scored."""
    statistics: NDArray[Any] = field(compare=False, repr=False)
    """The statistics of every sentence, shape (sentences, statistics)."""

    def plain(self) -> dict[str, Any]:
        """The fields as JSON-like values, without the statistics."""
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
    """Return scores of detokenised `hypotheses`, one per metric and in their order.

    UserError for an unknown metric, for no lines, for different numbers of lines, where a metric depends on the
    language and `language`, that of both sides, is not given, and where it reads `sources` and there are none.
    """
    chosen = [metric(name, language) for name in metrics]
    if len(hypotheses) != len(references):
        raise UserError(
            f"{len(hypotheses)} hypotheses but {len(references)} references: "
            "give one hypothesis per reference, an empty line where there is no translation"
        )
    if sources is not None and len(sources) != len(references):
        raise UserError(f"{len(sources)} sources but {len(references)} references: give one source per reference")
    if not hypotheses:
        raise UserError("nothing to score: give at least one hypothesis and its reference")
    scores = []
    for measure in chosen:
        statistics = measure.statistics(hypotheses, references, sources)
        drawn = resample([statistics], measure.value, samples=samples, seed=seed)
        between = interval(drawn)
        signature = with_resampling(measure.signature, samples, seed)
        scores.append(
            Score(measure.name, drawn.value, between.low, between.high, signature, len(statistics), statistics)
        )
    return scores


def write_statistics(run: Folder, test: str, scores: Sequence[Score]) -> None:
    """Keep the counts of every sentence in a run's folder: `statistics/<test>.npz`, an array for every metric."""
    content = io.BytesIO()
    arrays: dict[str, Any] = {result.name: result.statistics for result in scores}
    np.savez_compressed(content, **arrays)
    run.sub(STATISTICS).write(f"{test}.npz", content.getvalue())


def read_statistics(run: Folder, test: str) -> dict[str, NDArray[Any]]:
    """The counts of every sentence by metric; nothing where none were kept."""
    if not run.sub(STATISTICS).exists(f"{test}.npz"):
        return {}
    with np.load(io.BytesIO(run.sub(STATISTICS).read(f"{test}.npz"))) as arrays:
        return dict(arrays)

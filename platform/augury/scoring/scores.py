"""Score a corpus by several metrics: value, confidence interval and signature of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy.typing as npt

from augury.core.errors import UserError
from augury.core.naming import counted
from augury.scoring.bootstrap import SAMPLES, SEED, resample
from augury.scoring.metric import Metric
from augury.scoring.registry import metric
from augury.scoring.signature import with_references, with_resampling
from augury.scoring.significance import interval
from augury.scoring.stored import Measured


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    sources: Sequence[str] | None = None,
    language: str | None = None,
    metrics: Sequence[str] = ("bleu", "chrf"),
    samples: int = SAMPLES,
    seed: int = SEED,
    more_references: Sequence[Sequence[str]] = (),
) -> list[Measured]:
    """Score detokenised `hypotheses` by each metric, in the order of `metrics`.

    `more_references` are further references of all segments, set by set.

    Raises UserError if a metric is unknown, if there are no lines, if the numbers of lines differ,
    or if a metric needs the `language` of the text or the `sources` and they are not given.
    """
    chosen = [metric(name, language) for name in metrics]
    if len(hypotheses) != len(references):
        raise UserError(
            f"{counted(len(hypotheses), 'hypothesis', 'hypotheses')} but "
            f"{counted(len(references), 'reference')}: give one hypothesis per reference, an "
            "empty line if there is no translation"
        )
    for number, further in enumerate(more_references, start=2):
        if len(further) != len(references):
            raise UserError(
                f"{counted(len(further), 'reference')} in set {number}, and {len(references)} in "
                "the first: each set needs one for every hypothesis"
            )
    if sources is not None and len(sources) != len(references):
        raise UserError(
            f"{counted(len(sources), 'source')} but {counted(len(references), 'reference')}: give "
            "one source per reference"
        )
    if not hypotheses:
        raise UserError("nothing to score: give at least one hypothesis and its reference")
    scores = []
    for scorer in chosen:
        sets = [references, *more_references]
        statistics = statistics_of(scorer, hypotheses, sets, sources)
        labels = scorer.measures == "labels"
        resampled = resample([statistics], scorer.value, samples=samples, seed=seed, labels=labels)
        bounds = interval(resampled)
        signature = with_resampling(with_references(scorer.signature, len(sets)), samples, seed)
        scores.append(
            Measured(
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


def statistics_of(
    scorer: Metric,
    hypotheses: Sequence[str],
    references: Sequence[Sequence[str]],
    sources: Sequence[str] | None = None,
) -> npt.NDArray[Any]:
    """Return the statistics of each segment, given one set of references or several."""
    if len(references) == 1:
        return scorer.statistics(hypotheses, references[0], sources)
    return scorer.multiple_statistics(hypotheses, references, sources)

"""Score a corpus by several metrics: value, confidence interval and signature of each."""

from __future__ import annotations

from collections.abc import Sequence

from augury.core.errors import UserError
from augury.scoring.bootstrap import SAMPLES, SEED, resample
from augury.scoring.registry import metric
from augury.scoring.signature import with_resampling
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
) -> list[Measured]:
    """Score detokenised `hypotheses` by each metric, in the order of `metrics`.

    Raises UserError if a metric is unknown, if there are no lines, if the numbers of lines differ,
    or if a metric needs the `language` of the text or the `sources` and they are not given.
    """
    chosen = [metric(name, language) for name in metrics]
    if len(hypotheses) != len(references):
        raise UserError(
            f"{len(hypotheses)} hypotheses but {len(references)} references: give one hypothesis "
            "per reference, an empty line if there is no translation"
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

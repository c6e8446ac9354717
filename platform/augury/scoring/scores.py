"""Scores of a translated corpus: value, interval and signature of every metric asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pydantic import Field, field_validator

from augury.config import Section
from augury.errors import UserError
from augury.scoring import bootstrap
from augury.scoring.metrics import check, metric


class Scoring(Section):
    """What a translation is scored by."""

    metrics: tuple[str, ...] = Field(("bleu", "chrf"), min_length=1)
    """Names of metrics: bleu, chrf, multi_bleu, multi_bleu_detok, compound_bleu; `:lower` ignores case."""
    bootstrap_samples: int = Field(1000, ge=1)
    """Resampled test sets behind every interval."""

    @field_validator("metrics")
    @classmethod
    def _known(cls, metrics: tuple[str, ...]) -> tuple[str, ...]:
        for name in metrics:
            check(name)
        return metrics


@dataclass(frozen=True)
class Score:
    """The value of one metric on one corpus, with its 95 % interval over sentences."""

    name: str
    value: float
    low: float
    high: float
    signature: str
    n: int
    """Sentences scored."""

    def plain(self) -> dict[str, Any]:
        """The fields as JSON-like values."""
        return asdict(self)


def score(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    language: str,
    metrics: Sequence[str] = ("bleu", "chrf"),
    samples: int = 1000,
    seed: int = 12345,
) -> list[Score]:
    """Scores of detokenised `hypotheses` in `language`, one per metric and in their order.

    UserError for an unknown metric, for no lines and for different numbers of lines.
    """
    chosen = [metric(name, language) for name in metrics]
    if len(hypotheses) != len(references):
        raise UserError(
            f"{len(hypotheses)} hypotheses but {len(references)} references: "
            "give one hypothesis per reference, an empty line where there is no translation"
        )
    if not hypotheses:
        raise UserError("nothing to score: give at least one hypothesis and its reference")
    scores = []
    for one in chosen:
        statistics = one.statistics(hypotheses, references)
        interval = bootstrap.interval(statistics, one.value, samples=samples, seed=seed)
        value = one.value(statistics.sum(0).tolist())
        scores.append(Score(one.name, value, interval.low, interval.high, one.signature, len(statistics)))
    return scores

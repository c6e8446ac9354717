"""What outputs are scored by."""

from __future__ import annotations

from pydantic import Field, field_validator

from augury.config import Section
from augury.scoring.bootstrap import SAMPLES
from augury.scoring.metrics import check


class AnyScoring(Section):
    """What outputs are scored by; the first metric decides."""

    metrics: tuple[str, ...]
    bootstrap_samples: int = Field(SAMPLES, ge=1)
    """Resampled test sets behind every interval."""


class Scoring(AnyScoring):
    """What texts are scored by."""

    metrics: tuple[str, ...] = Field(("bleu", "chrf"), min_length=1)
    """Names of metrics: bleu, chrf, multi_bleu, multi_bleu_detok, compound_bleu; `:lower` ignores case."""

    @field_validator("metrics")
    @classmethod
    def _known(cls, metrics: tuple[str, ...]) -> tuple[str, ...]:
        for name in metrics:
            check(name)
        return metrics

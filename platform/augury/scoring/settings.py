"""The section `scoring` of an experiment file."""

from __future__ import annotations

from pydantic import Field, field_validator

from augury.core.config import Section
from augury.core.errors import unknown
from augury.scoring.bootstrap import SAMPLES
from augury.scoring.metrics import names


class AnyScoring(Section):
    """What outputs are scored by; the first metric decides."""

    metrics: tuple[str, ...]
    bootstrap_samples: int = Field(SAMPLES, ge=1)
    """Resampled test sets behind every interval."""


class Scoring(AnyScoring):
    """What texts are scored by."""

    metrics: tuple[str, ...] = Field(("bleu", "chrf"), min_length=1)
    """Names of metrics: bleu, chrf, chrf++, ter, multi_bleu, multi_bleu_detok, compound_bleu; `:lower` ignores case,
    which ter does unless it is called `ter:cased`."""

    @field_validator("metrics")
    @classmethod
    def _known(cls, metrics: tuple[str, ...]) -> tuple[str, ...]:
        for name in metrics:
            if name not in names("text"):
                raise unknown("metric", name, names("text"))
        return metrics

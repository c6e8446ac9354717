"""The section `scoring` of an experiment file."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import Field, field_validator

from augury.core.config import Section
from augury.core.errors import UserError
from augury.scoring.bootstrap import SAMPLES
from augury.scoring.metrics import entry, names, reference


class Scoring(Section):
    """What outputs are scored by; the first metric decides."""

    MEASURES: ClassVar[Literal["text", "labels"]]
    """What the metrics read."""

    metrics: tuple[str, ...] = Field(min_length=1)
    bootstrap_samples: int = Field(SAMPLES, ge=1)
    """Resampled test sets behind every interval."""

    @field_validator("metrics")
    @classmethod
    def _known(cls, metrics: tuple[str, ...]) -> tuple[str, ...]:
        for name in metrics:
            if entry(name).measures != cls.MEASURES:
                allowed = ", ".join(names(cls.MEASURES))
                raise UserError(f"metric '{name}' is one of {entry(name).measures}, not of {cls.MEASURES}: {allowed}")
        return tuple(map(reference, metrics))


class TextScoring(Scoring):
    """What texts are scored by."""

    MEASURES = "text"

    metrics: tuple[str, ...] = Field(("bleu", "chrf"), min_length=1)
    """Names of metrics, or paths of files with one: bleu, chrf, chrf++, ter, multi_bleu, multi_bleu_detok,
    compound_bleu, comet; `:lower` ignores case, which ter does unless it is called `ter:cased`. With `-fixed` behind it
    (bleu-fixed, bleu:lower-fixed) a metric reads French hypotheses with typographic quotes and apostrophes, with
    `-fixed-nbsp` or `-fixed-narrow` with spaces inside quotes."""


class LabelScoring(Scoring):
    """What a classifier is scored by."""

    MEASURES = "labels"

    metrics: tuple[str, ...] = Field(("accuracy",), min_length=1)
    """Names of metrics of labels, or paths of files with one: accuracy, the share of labels that are right."""

"""The section `scoring` of an experiment file."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from pydantic import Field, field_validator

from augury.core.config import Section
from augury.core.errors import UserError
from augury.scoring import registry


class Scoring(Section):
    """Metrics for outputs; the first one is the main metric."""

    MEASURES: ClassVar[Literal["text", "labels"]]
    """Type of output that the metrics score."""

    metrics: tuple[str, ...] = Field(min_length=1)

    @field_validator("metrics", mode="before")
    @classmethod
    def _located(cls, metrics: Any) -> Any:
        return list(map(registry.at_its_folder, metrics)) if isinstance(metrics, list) else metrics

    @field_validator("metrics")
    @classmethod
    def _known(cls, metrics: tuple[str, ...]) -> tuple[str, ...]:
        for name in metrics:
            if not registry.is_known(name):
                raise registry.REGISTRY.unknown(name, registry.names(cls.MEASURES))
            if (measures := registry.metric_class(name).measures) != cls.MEASURES:
                allowed = ", ".join(registry.names(cls.MEASURES))
                raise UserError(
                    f"metric '{name}' scores {measures}, not {cls.MEASURES}; allowed: {allowed}"
                )
        called = [*map(registry.record_name, metrics)]
        for name in called:
            if called.count(name) > 1:
                raise UserError(f"several metrics are called {name}: leave one out, or rename it")
        return tuple(map(registry.reference, metrics))


class TextScoring(Scoring):
    """Metrics for generated text."""

    MEASURES = "text"

    metrics: tuple[str, ...] = Field(("bleu", "chrf"), min_length=1)
    """Names of metrics, or paths of files that define one: bleu, chrf, chrf++, ter, multi_bleu,
    multi_bleu_detok, compound_bleu, comet. The option `:lower` ignores case; ter ignores it by
    default, `ter:cased` does not; `compound_bleu:t2t` replaces typographic punctuation first.
    `bleu:fixed`, `bleu:lower-fixed` and the same of multi_bleu_detok replace quotes and apostrophes
    of French hypotheses by typographic ones."""


class LabelScoring(Scoring):
    """Metrics for predicted labels."""

    MEASURES = "labels"

    metrics: tuple[str, ...] = Field(("accuracy",), min_length=1)
    """Names of metrics for labels, or paths of files that define one: accuracy, macro_f1."""

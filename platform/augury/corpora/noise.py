"""Settings of synthetic noise."""

from __future__ import annotations

from pydantic import Field

from augury.core.config import Section


class NoiseRates(Section):
    """Rates of each kind of noise, per word unless stated otherwise; applied in this order."""

    asr: float = Field(0.0, ge=0, le=1)
    """Words replaced by a similar-sounding word of the training text, as in speech transcripts (en,
    de, fr). Words that sound like no other are never replaced, and the others more often, so that
    the rate is that of all words."""
    spelling: float = Field(0.0, ge=0, le=1)
    """Words with a letter inserted, deleted, replaced or swapped with the next one."""
    keyboard: float = Field(0.0, ge=0, le=1)
    """Words with a letter replaced by that of an adjacent key: on qwertz for de, azerty for fr and
    qwerty for all others."""
    casing: float = Field(0.0, ge=0, le=1)
    """Words in lower case, in upper case, or with the case of the first letter inverted."""
    punctuation: float = Field(0.0, ge=0, le=1)
    """Punctuation marks that are deleted or doubled."""
    fillers: float = Field(0.0, ge=0, le=1)
    """Words preceded by a filler such as "um", "äh" or "euh" (en, de, fr)."""
    emoji: float = Field(0.0, ge=0, le=1)
    """Words followed by an emoji."""

    @property
    def rates(self) -> dict[str, float]:
        """The rates above 0 by kind, in order of application."""
        return {kind: rate for kind in KINDS if (rate := getattr(self, kind))}


KINDS = tuple(name for name, field in NoiseRates.model_fields.items() if field.annotation is float)
"""Kinds of noise, in order of application."""


class SourceNoise(NoiseRates):
    """Noise in the inputs of a test set; references are not changed."""

    seed: int = 1

"""Settings of synthetic noise: how often a text has each kind of it."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from augury.core.config import Section

Layout = Literal["auto", "qwerty", "qwertz", "azerty"]


class NoiseRates(Section):
    """How often each kind of noise occurs, by words unless something else is said; kinds apply in this order."""

    asr: float = Field(0.0, ge=0, le=1)
    """Words replaced by a word of the training text that sounds alike, as in transcripts of speech (en, de, fr)."""
    spelling: float = Field(0.0, ge=0, le=1)
    """Words in which a letter is inserted, deleted, replaced or changes places with the next one."""
    keyboard: float = Field(0.0, ge=0, le=1)
    """Words in which a letter becomes one whose key is beside its own."""
    casing: float = Field(0.0, ge=0, le=1)
    """Words in lower case, in capitals, or with the first letter in the other case."""
    punctuation: float = Field(0.0, ge=0, le=1)
    """Punctuation marks that are left out or doubled."""
    fillers: float = Field(0.0, ge=0, le=1)
    """Words before which a speaker hesitates: "um", "äh", "euh" (en, de, fr)."""
    emoji: float = Field(0.0, ge=0, le=1)
    """Words after which an emoji stands."""
    layout: Layout = "auto"
    """The keyboard; auto: that of the text's language, qwertz for de, azerty for fr and qwerty for others."""

    @property
    def rates(self) -> dict[str, float]:
        """The rates above 0, by kind, in the order in which kinds apply."""
        return {kind: rate for kind in KINDS if (rate := getattr(self, kind))}


KINDS = tuple(name for name, field in NoiseRates.model_fields.items() if field.annotation is float)
"""The kinds of noise, in the order in which they apply."""


class SourceNoise(NoiseRates):
    """Noise in what is read of a test set, never in what is expected."""

    seed: int = 1

"""Settings of decoding: beam search, or sampling."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import Field

from augury.core.config import Section

PLAIN = "plain"
"""The view of a text as it is."""
FAMILIES = ("marian", "m2m_100", "mbart", "bart", "pegasus", "t5", "mt5")
"""The encoder-decoders of `transformers` that are trained and searched here; NLLB is an M2M-100."""


class Decoding(Section):
    """Parameters of the search."""

    beam: int = Field(5, ge=1, le=1000)
    """Hypotheses kept at every step; 1 is greedy search."""
    length_penalty: float = Field(1.0, ge=0)
    """Exponent of the length by which the log-probability of a hypothesis is divided."""
    max_length: int = Field(200, ge=1, le=1_000_000)
    """Maximum length of a hypothesis in subwords, end of sentence included, where it is cut."""


class Sampling(Section):
    """Parameters of sampling; the defaults are those of Dong et al. (2021): one sample, no beam."""

    temperature: float = Field(1.0, ge=0)
    """Divisor of the logits; 0 takes the likeliest subword at every step (greedy search)."""
    top_k: int | None = Field(50, ge=1)
    """Sample only from this many of the likeliest subwords; null: from all."""
    top_p: float = Field(1.0, gt=0, le=1)
    """Of these, only from the fewest that together have this probability."""
    max_length: int = Field(150, ge=1, le=1_000_000)
    """Maximum length of an output in subwords, end of sentence included, where it is cut."""


Sampler = Callable[[Sequence[str], Sequence[int], Sampling], list[str | None]]
"""A function from texts as the model reads them, a key for each and settings to an output for each;
None for a text that is longer than the model reads."""

Translator = Callable[[Sequence[str], str, Decoding], list[str | None]]
"""A function from texts, the view to read them in (`plain`, `rot-1`) and settings of the search to
the best translations; None for a text that is longer than the model reads."""

"""Settings of decoding: a beam search for the best output, or samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import Field

from augury.core.config import Section


class Decoding(Section):
    """Parameters of the search."""

    beam: int = Field(5, ge=1)
    """Hypotheses kept at every step; 1 is greedy search."""
    length_penalty: float = Field(1.0, ge=0)
    """Exponent of the length by which the log-probability of a hypothesis is divided."""
    max_length: int = Field(200, ge=1)
    """Longest hypothesis in pieces, the end of sentence included; one that would be longer is cut there."""
    batch_tokens: int = Field(2048, ge=1)
    """Source tokens decoded together, padding included; changes speed and memory alone."""


class Sampling(Section):
    """Parameters of drawing outputs; the defaults are those of Dong et al. (2021): one sample, no beam."""

    temperature: float = Field(1.0, ge=0)
    """Divides the logits; 0 takes the likeliest piece at every step (greedy search)."""
    top_k: int | None = Field(50, ge=1)
    """Only so many of the likeliest pieces can be drawn; none: all."""
    top_p: float = Field(1.0, gt=0, le=1)
    """Of these, only the fewest that together have this probability."""
    max_length: int = Field(150, ge=1)
    """Longest output in pieces, the end of sentence included; one that would be longer is cut there."""


GREEDY = Sampling(temperature=0.0)

Sampler = Callable[[Sequence[str], Sequence[int], Sampling], list[str]]
"""A model with its tokenizer: from texts as the model reads them, a key for each and settings to an output for each."""

Translator = Callable[[Sequence[str], str, Decoding], list[str | None]]
"""A model with its tokenizer: from texts, the view to read them as (`plain`, `rot-1`) and settings of the search to the
best translations; None where a text is longer than the model reads."""

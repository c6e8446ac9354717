"""Settings of decoding: beam search, or sampling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from augury.core.config import Section
from augury.core.errors import UserError

PLAIN = "plain"
"""The view of a text as it is."""
Combination = Literal["average", "mbr"]


class Decoding(Section):
    """Parameters of the search."""

    beam: int = Field(5, ge=1, le=1000)
    """Hypotheses kept at every step; 1 is greedy search."""
    length_penalty: float = Field(1.0, ge=0)
    """Exponent of the length by which the log-probability of a hypothesis is divided."""
    max_length: int = Field(200, ge=1, le=1_000_000)
    """Maximum length of a hypothesis in subwords, end of sentence included, where it is cut."""
    batch_tokens: int = Field(2048, ge=1, le=10_000_000)
    """Source tokens decoded together, padding included; changes speed and memory alone."""


class ViewDecoding(Decoding):
    """A beam search over the source in one or several views."""

    views: tuple[str, ...] = ()
    """Views of the source: plain, and those of the run's operators, such as rot-1. Default: plain.

    Default: plain.
    """
    combine: Combination | None = None
    """How several views become one translation. average: one beam over the mean of the
    log-probabilities of each subword given the views, by transformers; mbr: a search per view, and
    of all hypotheses the one that agrees most with the others by chrF (minimum Bayes risk)."""

    @model_validator(mode="after")
    def _goes_together(self) -> ViewDecoding:
        if self.combine and not self.views:
            raise UserError(
                f"combine {self.combine} needs the views to combine, such as plain and rot-1: "
                "give views"
            )
        if len(self.views) > 1 and not self.combine:
            raise UserError(
                f"views {', '.join(self.views)} become one translation by average or mbr: say "
                "which by combine, as a flag --combine average"
            )
        if twice := [view for view in self.views if self.views.count(view) > 1]:
            raise UserError(f"view {twice[0]} is given twice: name every view once")
        return self

    @model_serializer(mode="wrap")
    def _where_used(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Settings without effect are in no address.
        unused = () if self.views else ("views", "combine")
        return {name: value for name, value in handler(self).items() if name not in unused}


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


GREEDY = Sampling(temperature=0.0)

Sampler = Callable[[Sequence[str], Sequence[int], Sampling], list[str | None]]
"""A function from texts as the model reads them, a key for each and settings to an output for each;
None for a text that is longer than the model reads and must not be cut."""

Translator = Callable[[Sequence[str], str, Decoding], list[str | None]]
"""A function from texts, the view to read them in (`plain`, `rot-1`) and settings of the search to
the best translations; None for a text that is longer than the model reads."""

"""Settings of decoding: a beam search for the best output, or samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

from pydantic import Field, SerializerFunctionWrapHandler, model_serializer, model_validator

from augury.core.config import Section
from augury.core.errors import UserError

PLAIN = "plain"
"""The view of a text as it is."""
Combination = Literal["average", "mbr"]
Utility = Literal["chrf", "bleu"]


class Decoding(Section):
    """Parameters of the search."""

    beam: int = Field(5, ge=1)
    """Hypotheses kept at every step; 1 is greedy search."""
    length_penalty: float = Field(1.0, ge=0)
    """Exponent of the length by which the log-probability of a hypothesis is divided."""
    max_length: int = Field(200, ge=1)
    """Longest hypothesis in pieces, the end of sentence included.

    One that would be longer is cut there.
    """
    batch_tokens: int = Field(2048, ge=1)
    """Source tokens decoded together, padding included; changes speed and memory alone."""


class ViewDecoding(Decoding):
    """A search that may read a source in other views than the plain one, and in several of them."""

    views: tuple[str, ...] = ()
    """The renderings of a source to read: plain, and views by the run's operators, such as rot-1.

    Default: plain.
    """
    combine: Combination | None = None
    """How several views become one translation. average: one beam over the mean of the
    log-probabilities that they give a piece, by transformers; mbr: each is searched alone, and of
    all hypotheses the one is taken that agrees most with the others (minimum Bayes risk)."""
    n_best: int | None = Field(None, ge=1)
    """Of mbr: the hypotheses of every view that it chooses from; none: as many as the beam."""
    utility: Utility = "chrf"
    """Of mbr: what agreement is, chrF or BLEU of one hypothesis against another."""

    @property
    def candidates(self) -> int:
        """The hypotheses of every view that mbr chooses from."""
        return self.n_best or self.beam

    @model_validator(mode="after")
    def _goes_together(self) -> ViewDecoding:
        if self.combine and not self.views:
            raise UserError(
                f"combine {self.combine} needs the views to combine, such as plain and rot-1: "
                "give views"
            )
        if len(self.views) > 1 and not self.combine:
            raise UserError(
                f"views {', '.join(self.views)} become one translation by average or mbr: give "
                "combine"
            )
        if twice := [view for view in self.views if self.views.count(view) > 1]:
            raise UserError(f"view {twice[0]} is given twice: name every view once")
        if self.combine == "mbr" and self.candidates > self.beam:
            raise UserError(
                f"n_best={self.n_best} hypotheses need a beam as wide, not beam={self.beam}"
            )
        return self

    @model_serializer(mode="wrap")
    def _where_used(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        # Settings without effect are in no address.
        without = {"n_best", "utility"} if self.combine != "mbr" else set[str]()
        without |= set() if self.views else {"views", "combine"}
        return {name: value for name, value in handler(self).items() if name not in without}


class Sampling(Section):
    """Parameters of drawing outputs.

    The defaults are those of Dong et al. (2021): one sample, no beam.
    """

    temperature: float = Field(1.0, ge=0)
    """Divides the logits; 0 takes the likeliest piece at every step (greedy search)."""
    top_k: int | None = Field(50, ge=1)
    """Only so many of the likeliest pieces can be drawn; none: all."""
    top_p: float = Field(1.0, gt=0, le=1)
    """Of these, only the fewest that together have this probability."""
    max_length: int = Field(150, ge=1)
    """Longest output in pieces, the end of sentence included.

    One that would be longer is cut there.
    """


GREEDY = Sampling(temperature=0.0)

Sampler = Callable[[Sequence[str], Sequence[int], Sampling], list[str | None]]
"""A model with its tokenizer: from texts as the model reads them, a key for each and settings to an
output for each; None where a text is longer than the model reads and is not to be cut."""

Translator = Callable[[Sequence[str], str, Decoding], list[str | None]]
"""A model with its tokenizer: from texts, the view to read them as (`plain`, `rot-1`) and settings
of the search to the best translations; None where a text is longer than the model reads."""

"""Punctuation fixing: typographic quotes and apostrophes in place of ASCII ones, as a step before any metric.

Li and Specia (2019) post-process their French for MTNT 2019 like that. `bleu-fixed` is BLEU of fixed hypotheses, a
metric of its own beside `bleu`, and its signature says so; references stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import cycle
from typing import TYPE_CHECKING, Any

from augury.core.errors import UserError
from augury.scoring.metric import Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIXED = "-fixed"
"""Behind the name of a metric and its option."""
SPACES = {"": "", "-nbsp": "\u00a0", "-narrow": "\u202f"}
"""What may follow: the space inside quotes, none in the released code."""
QUOTES = {"fr": ("«", "»")}
"""By language; a quote that opens, and one that closes."""
APOSTROPHE = "\u2019"


def fix(line: str, language: str = "fr", quote_space: str = "") -> str:
    """Return a line with ASCII apostrophes and double quotes made those of a language; fixing it again changes nothing.

    Quotes open and close in turn, from the beginning of the line on: the last of an odd number is an opening one.
    """
    opening, closing = QUOTES[language]
    marks = cycle((f"{opening}{quote_space}", f"{quote_space}{closing}"))
    return "".join([next(marks) if character == '"' else character for character in line.replace("'", APOSTROPHE)])


def parted(name: str) -> tuple[str, str | None]:
    """Return the name of a metric without the step, and which space it puts inside quotes; None without the step."""
    for suffix, space in SPACES.items():
        if name.endswith(FIXED + suffix):
            return name.removesuffix(FIXED + suffix), space
    return name, None


@cache
def fixed(kind: type[Metric], quote_space: str) -> type[Metric]:
    """Return a metric with the step before it."""

    class Fixed(kind):  # type: ignore[misc, valid-type]
        """A metric of hypotheses whose punctuation is fixed."""

        def __init__(self, name: str, language: str):
            if language not in QUOTES:
                shown = f"'{language}'" if language else "a text whose language is not given (--language)"
                raise UserError(f"metric '{name}' fixes the punctuation of {', '.join(QUOTES)}, not of {shown}")
            super().__init__(parted(name)[0], language)
            self.name = name
            plain: str = self.signature  # type: ignore[has-type]
            (space,) = (suffix for suffix, space in SPACES.items() if space == quote_space)
            self.signature = f"{plain}|punctuation:{language}{space}"

        def statistics(
            self, hypotheses: Sequence[str], references: Sequence[str], sources: Sequence[str] | None = None
        ) -> NDArray[Any]:
            lines = [fix(line, self.language, quote_space) for line in hypotheses]
            return super().statistics(lines, references, sources)

    return Fixed


def title(quote_space: str | None) -> str:
    """Return what is said of the step behind the title of a metric."""
    if quote_space is None:
        return ""
    return ", punctuation fixed" + {"": "", "\u00a0": " (spaces)", "\u202f": " (narrow spaces)"}[quote_space]

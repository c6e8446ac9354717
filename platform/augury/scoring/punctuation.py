"""Punctuation fixing before scoring: ASCII quotes and apostrophes become typographic ones.

Li and Specia (2019) post-process their French outputs for MTNT 2019 in this way. A metric with the
suffix `-fixed`, such as `bleu-fixed`, reads fixed hypotheses and unchanged references; its
signature differs from that of `bleu`.
"""

from __future__ import annotations

from functools import cache
from itertools import cycle
from typing import TYPE_CHECKING, Any

from augury.core.errors import UserError
from augury.scoring.metric import Lines, Metric

if TYPE_CHECKING:
    from numpy.typing import NDArray

FIXED = "-fixed"
"""Suffix of the name of a metric, after its option."""
QUOTES = {"fr": ("«", "»")}
"""Opening and closing quote by language; no spaces inside, as in the released code."""
APOSTROPHE = "\u2019"


def fix(line: str, language: str = "fr") -> str:
    """Replace the ASCII apostrophes and double quotes of a line by those of a language; idempotent.

    Opening and closing quotes alternate from the beginning of the line.
    """
    marks = cycle(QUOTES[language])
    plain = line.replace("'", APOSTROPHE)
    return "".join([next(marks) if character == '"' else character for character in plain])


@cache
def fixed(base: type[Metric]) -> type[Metric]:
    """Return a subclass of a metric that fixes the punctuation of hypotheses."""

    class Fixed(base):  # type: ignore[misc, valid-type]
        """A metric that fixes the punctuation of hypotheses."""

        def __init__(self, name: str, language: str):
            if language not in QUOTES:
                shown = (
                    f"'{language}'" if language else "text of unknown language (give --language)"
                )
                raise UserError(
                    f"metric '{name}' fixes the punctuation of {', '.join(QUOTES)}, not of {shown}"
                )
            super().__init__(name.removesuffix(FIXED), language)
            self.name = name
            plain: str = self.signature  # type: ignore[has-type]
            self.signature = f"{plain}|punctuation:{language}"

        def statistics(
            self, hypotheses: Lines, *references: Lines, sources: Lines | None = None
        ) -> NDArray[Any]:
            lines = [fix(line, self.language) for line in hypotheses]
            return super().statistics(lines, *references, sources=sources)

    return Fixed

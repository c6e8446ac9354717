"""Forward translation: monolingual source text with its translations (Li and Specia 2019, FT)."""

from __future__ import annotations

from typing import ClassVar, Literal

from augury.augment.translation import FORWARD, Direction, TranslatedText


class ForwardTranslation(TranslatedText):
    """Pairs of a monolingual source sentence and its translation by a trained model."""

    operator: Literal["forward_translation"] = "forward_translation"

    DIRECTION: ClassVar[Direction] = FORWARD


OPERATOR = ForwardTranslation

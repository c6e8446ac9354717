"""Back-translation: monolingual target text with translations as sources (Li and Specia 2019)."""

from __future__ import annotations

from typing import ClassVar, Literal

from augury.augment.translation import BACKWARD, Direction, TranslatedText


class BackTranslation(TranslatedText):
    """Pairs of a monolingual target sentence and, as source, its translation by a reverse model."""

    operator: Literal["back_translation"] = "back_translation"

    DIRECTION: ClassVar[Direction] = BACKWARD


OPERATOR = BackTranslation

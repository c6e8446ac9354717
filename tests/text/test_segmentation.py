"""Text without words is refused in scripts that write no spaces, and only there."""

from __future__ import annotations

import pytest

from augury.core.errors import UserError
from augury.text.segmentation import require_words


def test_segmented_text_is_the_way_out() -> None:
    plain, segmented = "两只狗在公园里跑,孩子们看着。", "两 只 狗 在 公园 里 跑 , 孩子 们 看着 。"
    require_words([segmented, ""], "zh", "here")
    with pytest.raises(UserError, match="here: 'zh' is written without spaces.*run a segmenter"):
        require_words([plain, "", plain], "zh", "here")


def test_single_words_of_other_languages_are_words() -> None:
    for language in ("de", "vi", "und", "qaa"):
        require_words(["Donaudampfschifffahrt"], language, "here")
    require_words([], "zh", "here")

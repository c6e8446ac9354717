from __future__ import annotations

import pytest

from augury.core.errors import UserError
from augury.corpora.languages import check_language, languages, require_words


@pytest.mark.parametrize("name", ["german", "Deutsch"])
def test_what_is_no_code_names_the_nearest(name: str) -> None:
    with pytest.raises(UserError, match="did you mean 'de'"):
        check_language(name)


@pytest.mark.parametrize("name", ["", "xx", "zzz", "quz1"])
def test_what_is_no_code_is_refused(name: str) -> None:
    with pytest.raises(UserError, match="is not a language code"):
        check_language(name)


def test_the_table_is_that_of_the_standard() -> None:
    table = languages()
    # ISO 639-1 has 183 codes and the deprecated sh; ISO 639-3 names each of them by three letters
    # too.
    assert len(table.names) == 184 and len(table.three_letter) > 7_700
    assert not table.three_letter & table.codes.keys()


def test_segmented_text_is_the_way_out() -> None:
    plain, segmented = "两只狗在公园里跑,孩子们看着。", "两 只 狗 在 公园 里 跑 , 孩子 们 看着 。"
    require_words([segmented, ""], "zh", "here")
    for language in ("zh", "und"):
        with pytest.raises(UserError, match=f"here: .*'{language}'.*run a segmenter"):
            require_words([plain, "", plain], language, "here")


def test_single_words_of_other_languages_are_words() -> None:
    for language in ("de", "vi", "und", "qaa"):
        require_words(["Donaudampfschifffahrt"], language, "here")
    require_words([], "zh", "here")

"""Cleaning and rejection of rows, repeated ones, and characters that are not seen."""

from __future__ import annotations

import re
import unicodedata
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from augury.corpora.corpus import PARALLEL
from augury.corpora.filters import (
    REASONS,
    Cleaning,
    Duplicates,
    clean,
    rejections,
    row_hashes,
    word_counts,
)


def limits(**changed: Any) -> Cleaning:
    return Cleaning.model_validate({**PARALLEL.limits, **changed})


ASSIGNED = st.characters(codec="utf-8", exclude_categories=["Cn", "Cs", "Co"])


def cleaned(text: str, replace: dict[str, str] | None = None, **options: bool) -> str:
    return str(clean(pa.array([text]), replace or {}, Cleaning.model_validate(options))[0].as_py())


def reasons(source: str, target: str, filter: Cleaning | None) -> str:
    return REASONS[
        rejections([pa.array([source]), pa.array([target])], filter, ("source", "target"))[0]
    ]


@settings(max_examples=300, deadline=None)
@given(st.lists(st.text(ASSIGNED, max_size=8), min_size=1, max_size=5))
@example(["a\u0328\u0301", "e\u0301", "\u0344", "が", "\ufeffa\ufeff"])
def test_clean_is_nfc_and_trim_and_nothing_else(texts: list[str]) -> None:
    result = clean(pa.array(texts, pa.string()), {}, Cleaning()).to_pylist()
    composed = [unicodedata.normalize("NFC", text.replace("\ufeff", "")) for text in texts]
    trimmed = [text.strip(" \t\n\r\x0b\x0c") for text in composed]
    assert result == [re.sub(r"[\t\n\r]", " ", text) for text in trimmed]


def test_case_entities_and_replacements() -> None:
    assert cleaned("ÄRGER und Straße ẞ ΣΑΣ", lowercase=True) == "ärger und straße ß σασ"
    assert cleaned("ÄRGER") == "ÄRGER"
    assert cleaned("&quot;Ja&quot; &amp;amp; &#10;nein&lt", unescape=True) == '"Ja" &amp;  nein<'
    assert cleaned("&quot;Ja&quot;") == "&quot;Ja&quot;"
    assert cleaned("I’m", {"’": "'"}) == "I'm"
    assert cleaned("&rsquo;S", {"’": "'"}, unescape=True, lowercase=True) == "'s"


def test_every_white_space_separates_words() -> None:
    spaces = [chr(code) for code in range(0x110000) if chr(code).isspace()]
    assert word_counts(pa.array([f"a{space}b" for space in spaces])).tolist() == [2] * len(spaces)
    assert word_counts(pa.array(["", "a", "a b", "a  b", "\u00a0"])).tolist() == [0, 1, 2, 2, 0]


@pytest.mark.parametrize(
    ("source", "target", "reason"),
    [
        *((3, 2, ""), (2, 3, ""), (18, 2, ""), (175, 175, "")),
        *((19, 2, "ratio"), (2, 19, "ratio")),
        *((0, 3, "empty source"), (3, 0, "empty target"), (0, 0, "empty source")),
        *((176, 175, "too long"), (175, 176, "too long"), (176, 1, "too long")),
    ],
)
def test_limits_of_clean_corpus_n(source: int, target: int, reason: str) -> None:
    assert reasons(" ".join("a" * source), " ".join("b" * target), limits()) == reason


def test_limits_can_be_changed_or_left_out() -> None:
    for source, target, filter, reason in (
        ("a b c d e", "a", limits(max_ratio=None), ""),
        ("a " * 200, "b " * 200, limits(max_length=None), ""),
        ("a", "\u00a0", None, "empty target"),
        ("医生今天看见新鲜的绿茶和面包。", "The doctor sees green tea today", limits(), ""),
        ("医生", "The doctor sees fresh green tea today", limits(), "ratio"),
    ):
        assert reasons(source.strip(" "), target, filter) == reason


ROW = st.tuples(st.text("ab ", max_size=3), st.text("ab ", max_size=3))


@given(st.lists(st.lists(ROW, max_size=30), max_size=12))
def test_duplicates_are_those_of_a_set_of_rows_whatever_the_blocks(
    blocks: list[list[tuple[str, str]]],
) -> None:
    seen: set[tuple[str, str]] = set()
    duplicates = Duplicates()
    for rows in blocks:
        expected = []
        for row in rows:
            expected.append(row in seen)
            seen.add(row)
        sides = [pa.array([row[side] for row in rows], pa.string()) for side in (0, 1)]
        assert duplicates.repeated(row_hashes(*sides)).tolist() == expected

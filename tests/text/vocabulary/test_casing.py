"""Inline casing: markers of case, without loss for any text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from augury.text.vocabulary import casing

PARTS = [
    *casing.SYMBOLS,
    "<Title>",
    " ",
    "a",
    "B",
    "Ba",
    "BA",
    "bA",
    "<",
    ">",
    "title",
    "İ",
    "ẞ",
    "ß",
    "ﬁ",
    "1",
    "ǅ",
]
texts = st.one_of(st.text(), st.lists(st.sampled_from(PARTS)).map("".join))


@given(texts)
def test_what_is_written_reads_as_it_was(text: str) -> None:
    assert casing.decode(casing.encode(text)) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Hello, I SAY hello", "<title> hello,<title> i<upper> say hello"),
        (" Hello", "<title>  hello"),
        ("an iPhone (New)", "an iPhone (<title>new)"),
        ("a <title>", "a <literal><title>"),
    ],
)
def test_words_are_in_lower_case_behind_markers(text: str, written: str) -> None:
    assert casing.encode(text) == written


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("<title> 3 men", "3 men"),
        ("a<upper>", "a"),
        ("a<title><upper> b", "a B"),
        ("<literal>x", "x"),
    ],
)
def test_markers_that_a_model_misplaces_are_left_out(output: str, text: str) -> None:
    assert casing.decode(output) == text

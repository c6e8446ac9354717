from __future__ import annotations

import json
import sys
import unicodedata
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.text.ciphers import alphabet as module
from augury.text.ciphers.alphabet import Alphabet, build_alphabet, count_letters, explicit_alphabet

MIXED = "Zürich Ärzte straße ÜBER"
rows = st.lists(st.none() | st.text(max_size=30), max_size=12)


def letters_of(lines: list[str | None]) -> Counter[str]:
    return Counter(character for line in lines for character in line or "" if character.isalpha())


@settings(max_examples=60, deadline=None)
@given(rows, st.integers(0, 4), st.sampled_from([pa.string(), pa.large_string()]))
def test_count_letters_equals_a_counter(
    lines: list[str | None], start: int, kind: pa.DataType
) -> None:
    column = pa.array(lines, kind)
    counts = count_letters(column.slice(start))
    assert counts == letters_of(lines[start:])
    assert list(counts) == sorted(counts)
    assert count_letters(pa.chunked_array([column, column.slice(start)])) == letters_of(
        lines + lines[start:]
    )


def test_count_letters_cuts_pieces_inside_a_character(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["aß\u0416", "漢字", "\U00010400😀é", None, "", "x"]
    for piece in range(1, 8):
        monkeypatch.setattr(module, "_PIECE", piece)
        assert count_letters(pa.array(lines)) == letters_of(lines)


def test_counts_of_blocks_add_up() -> None:
    lines = ["Über 20% der Straßen!", None, "ñandú", "日本"]
    whole = count_letters(pa.array(lines))
    parts = [Counter(count_letters(pa.array([line], pa.string()))) for line in lines]
    assert sum(parts, Counter()) == whole


def test_count_letters_counts_only_the_bytes_of_rows() -> None:
    offsets = pa.array([2, 3, 5, 6], pa.int32()).buffers()[1]
    data = [pa.py_buffer(b"\x03"), offsets, pa.py_buffer("xxaßzy".encode())]
    column = pa.Array.from_buffers(pa.string(), 3, data)
    assert column.to_pylist() == ["a", "ß", None]
    assert count_letters(column) == {"a": 1, "ß": 1}


def test_count_letters_rejects_other_types() -> None:
    with pytest.raises(UserError, match="the column has type int64"):
        count_letters(pa.array([1, 2]))


def test_alphabet_is_in_code_point_order_and_holds_letters_only() -> None:
    assert build_alphabet(Counter("ab ccz, 7½ Ⅷ 😀 \u0301")) == Alphabet(("abcz",))
    assert build_alphabet(Counter("öäüßzaZÄªµº")) == Alphabet(("Zazªµº" + "Äßäöü",))


def test_min_count_drops_rare_letters_and_extra_adds_letters() -> None:
    counts = {"a": 5, "b": 2, "é": 1, ".": 9}
    assert build_alphabet(counts, min_count=2) == Alphabet(("ab",))
    assert build_alphabet(counts, min_count=3) == Alphabet(("a",))
    assert build_alphabet(counts, min_count=2, extra="ßz") == Alphabet(("abzß",))
    assert build_alphabet(counts, min_count=2, extra="éa") == Alphabet(("abé",))
    with pytest.raises(UserError, match="extra letters contain '7', '!': give letters only"):
        build_alphabet(counts, extra="z7!")


def test_cased_has_a_cycle_per_case_and_leaves_caseless_letters_out() -> None:
    counts = Counter("abßAÄ漢字ǅ")
    assert build_alphabet(counts, "cased") == Alphabet(("abß", "AÄ"))
    assert build_alphabet(counts, "lower") == Alphabet(("abß",))
    assert build_alphabet(Counter("漢字"), "cased") == Alphabet(())
    assert build_alphabet(Counter("abc"), "cased") == Alphabet(("abc",))


@pytest.mark.parametrize("text", ["αβγω", "абвгдея", "ابجد", "漢字水", "ひらがな", "カタカナ"])
def test_scripts_without_ascii_form_one_cycle(text: str) -> None:
    assert build_alphabet(Counter(text)) == Alphabet(("".join(sorted(set(text))),))
    assert build_alphabet(Counter(text), "block") == build_alphabet(Counter(text))


def test_block_mode_has_a_cycle_per_unicode_block() -> None:
    counts = Counter("zaZß漢字ひらカナ㐀\U00020000ж")
    assert build_alphabet(counts, "block") == Alphabet(
        ("Zaz", "ß", "ж", "ひら", "カナ", "㐀", "字漢", "\U00020000")
    )


@pytest.mark.parametrize(
    "pair", ["\u4e00\u9ffc", "\u3041\u3096", "\u30a1\u30ff", "\uac00\ud7a3", "\U00010400\U0001044f"]
)
def test_first_and_last_letter_of_a_block(pair: str) -> None:
    assert build_alphabet(Counter(pair), "block") == Alphabet((pair,))


@pytest.mark.parametrize(
    "pair", ["zª", "ÿĀ", "\u024f\u0250", "\u02af\u02b0", "\u3096\u30a1", "\u4dbf\u4e00"]
)
def test_letters_on_two_sides_of_a_block_boundary(pair: str) -> None:
    assert build_alphabet(Counter(pair), "block") == Alphabet((pair[0], pair[1]))


@pytest.mark.parametrize(
    ("letter", "script"),
    [
        ("漢", "CJK"),
        ("ひ", "HIRAGANA"),
        ("カ", "KATAKANA"),
        ("한", "HANGUL"),
        ("א", "HEBREW"),
        ("ก", "THAI"),
    ],
)
def test_all_letters_of_a_block_have_the_name_of_its_script(letter: str, script: str) -> None:
    letters = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isalpha()]
    cycles = build_alphabet(dict.fromkeys(letters, 1), "block").cycles
    assert "".join(cycles) == "".join(letters)
    (cycle,) = (cycle for cycle in cycles if letter in cycle)
    assert {unicodedata.name(member).split()[0].split("-")[0] for member in cycle} == {script}


def test_unknown_mode_names_the_nearest() -> None:
    with pytest.raises(UserError, match="unknown alphabet mode 'cases': did you mean 'cased'"):
        build_alphabet({"a": 1}, "cases")  # type: ignore[arg-type]


def test_explicit_alphabet_keeps_the_order_given() -> None:
    assert explicit_alphabet("zab") == Alphabet(("zab",))


@pytest.mark.parametrize(
    ("letters", "message"),
    [
        ("", "the alphabet is empty"),
        ("abca", "the alphabet repeats 'a'"),
        ("ab c", "the alphabet contains ' ': remove white space"),
        ("ab\u2028", r"the alphabet contains '\\u2028': remove white space"),
        ("ab\ud800", "surrogates"),
        ("oa\u0308", r"is not in NFC: write it as 'o\\xe4'"),
    ],
)
def test_explicit_alphabet_rejects(letters: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        explicit_alphabet(letters)


def test_cycles_share_no_letter() -> None:
    with pytest.raises(UserError, match="the alphabet repeats 'b'"):
        Alphabet(("ab", "bc"))


def test_rotation_is_a_bijection_on_every_cycle() -> None:
    alphabet = build_alphabet(Counter(MIXED), "cased")
    for key in (-7, 0, 1, 2, 100):
        for cycle in alphabet.cycles:
            assert sorted(alphabet.rotation(key)[letter] for letter in cycle) == sorted(cycle)
    assert alphabet.rotation(1)["ü"] == "a"
    assert Alphabet(()).rotation(3) == {}


@pytest.mark.parametrize("mode", ["alpha", "cased", "lower", "block"])
def test_json_round_trip(mode: module.Mode) -> None:
    alphabet = build_alphabet(Counter(MIXED + "漢\U00010400"), mode)
    assert Alphabet.from_json(json.loads(json.dumps(alphabet.to_json()))) == alphabet


@pytest.mark.parametrize(
    "data", [None, [], {}, {"cycles": "abc"}, {"cycles": [1]}, {"cycles": ["ab", ""]}]
)
def test_from_json_rejects_what_is_not_an_alphabet(data: object) -> None:
    with pytest.raises(UserError, match="not an alphabet"):
        Alphabet.from_json(data)

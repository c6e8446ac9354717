from __future__ import annotations

import pickle
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.text.ciphers import alphabet as alphabet_module
from augury.text.ciphers.alphabet import Alphabet, build_alphabet, explicit_alphabet
from augury.text.ciphers.rot import Rot

GERMAN = explicit_alphabet("abcdefghijklmnopqrstuvwxyzßäöü")
LATIN = "abcdefghijklmnopqrstuvwxyz"
MIXED = LATIN.upper() + LATIN + "ÄÖÜßäöü"

# Letters of one, two, three and four bytes: all changes of length occur.
WIDE = explicit_alphabet("ayzßäж漢字\uffdc\U00010400\U00020000")
OTHERS = " .7-\t\n\u0301\u00a0\u2028q\U0001f600\U0001f1e9"
characters = st.sampled_from(WIDE.cycles[0] + OTHERS) | st.characters(exclude_categories=["Cs"])
rows = st.lists(st.none() | st.text(characters, max_size=20), max_size=12)


@pytest.mark.parametrize(
    ("plain", "by_1", "by_2"),
    [
        ("es ist diese pyramide.", "ft jtu ejftf qzsbnjef.", "gu kuv fkgug rßtcokfg."),
        ("hey, warum nicht?", "ifz, xbsvn ojdiu?", "jgß, yctwo pkejv?"),
        ("wir alle lieben baseball?", "xjs bmmf mjfcfo cbtfcbmm?", "ykt cnng nkgdgp dcugdcnn?"),
        ("baseball, oder?", "cbtfcbmm, pefs?", "dcugdcnn, qfgt?"),
        ("zwölf große übungen", "ßxümg hspäf acvohfo", "äyanh itqög bdwpigp"),
        ("über 20% der straßen!", "acfs 20% efs tusbäfo!", "bdgt 20% fgt uvtcögp!"),
        ("xyzßäöü", "yzßäöüa", "zßäöüab"),
    ],
)
def test_german(plain: str, by_1: str, by_2: str) -> None:
    assert Rot(GERMAN, 1).text(plain) == by_1
    assert Rot(GERMAN, 2).text(plain) == by_2
    assert Rot(GERMAN, 32).text(plain) == by_2
    assert Rot(GERMAN, 1).column(pa.array([plain])).to_pylist() == [by_1]
    assert Rot(GERMAN, 2).column(pa.array([plain])).to_pylist() == [by_2]


def test_the_wrap_is_at_the_last_letter_of_the_alphabet() -> None:
    assert Rot(explicit_alphabet(LATIN), 2).text("hey") == "jga"
    assert Rot(build_alphabet(Counter("ab c" + "cz")), 1).text("abcz q") == "bcza q"


def test_mixed_case() -> None:
    text = "Zürich Ärzte straße ÜBER"
    assert len(MIXED) == 59
    assert Rot(build_alphabet(Counter(MIXED)), 1).text(text) == "aAsjdi ÖsÄuf tusbäf ßCFS"
    assert Rot(build_alphabet(Counter(MIXED), "cased"), 1).text(text) == "Äasjdi Ösßuf tusbäf ACFS"
    assert Rot(build_alphabet(Counter(MIXED), "lower"), 1).text(text) == "Zasjdi Äsßuf tusbäf ÜBER"


def test_block_mode_keeps_the_script() -> None:
    cipher = Rot(build_alphabet(Counter("漢字水 がなひら カタナ abc"), "block"), 1)
    # In code-point order: 字水漢, がなひら, カタナ.
    assert cipher.text("漢字水 がなひら カタナ abc Zß") == "字水漢 なひらが タナカ bca Zß"


@pytest.mark.parametrize("letters", ["αβγδω", "абвя", "ابج", "漢字水火", "ひらがな"])
def test_scripts_without_case(letters: str) -> None:
    cycle = "".join(sorted(set(letters)))
    cipher = Rot(build_alphabet(Counter(letters)), 1)
    assert cipher.text(cycle) == cycle[1:] + cycle[0]
    assert cipher.column(pa.array([cycle])).to_pylist() == [cycle[1:] + cycle[0]]


@pytest.mark.parametrize("key", [0, 30, -30, 900])
def test_a_key_that_is_a_multiple_of_the_size_is_an_error(key: int) -> None:
    with pytest.raises(UserError) as error:
        Rot(GERMAN, key)
    assert str(error.value) == (
        f"key {key} leaves the text unchanged: the alphabet has 30 letters; "
        "use a key from 1 to 29, or another that is not a multiple of 30"
    )


@pytest.mark.parametrize(
    ("key", "unchanged"), [(29, "29 letters"), (-30, "30 letters"), (870, "the text")]
)
def test_a_key_that_leaves_the_small_or_the_capital_letters_in_place_is_an_error(
    key: int, unchanged: str
) -> None:
    alphabet = Alphabet((GERMAN.cycles[0], LATIN.upper() + "ÄÖÜ"))
    with pytest.raises(UserError) as error:
        Rot(alphabet, key)
    assert str(error.value) == (
        f"key {key} leaves {unchanged} unchanged: the alphabet has 30 + 29 letters; "
        "use a key from 1 to 28, or another that is not a multiple of 29 or 30"
    )
    assert Rot(alphabet, 28).text("cC") == "aB" and Rot(alphabet, 31).text("aA") == "bC"


def test_a_key_may_leave_stray_letters_in_place() -> None:
    alphabet = Alphabet(("abcd", "αβ", "字"))
    assert Rot(alphabet, 2).text("abcd αβ 字") == "cdab αβ 字"
    with pytest.raises(
        UserError, match=r"4 \+ 2 \+ 1 letters; use a key from 1 to 3, or another .* multiple of 4$"
    ):
        Rot(alphabet, 8)


@pytest.mark.parametrize("cycles", [(), ("a",), ("a", "B")])
def test_an_alphabet_that_cannot_move_is_an_error(cycles: tuple[str, ...]) -> None:
    with pytest.raises(
        UserError, match=f"the alphabet has {len(cycles)} letters and no cycle with two"
    ):
        Rot(Alphabet(cycles), 1)


@settings(max_examples=60, deadline=None)
@given(st.text(characters), st.integers(-40, 40).filter(lambda key: key % 11))
def test_a_cipher_is_undone_by_its_inverse_and_moves_letters_only(text: str, key: int) -> None:
    cipher = Rot(WIDE, key)
    enciphered = cipher.text(text)
    assert cipher.inverse.text(enciphered) == text
    assert len(enciphered) == len(text)
    letters = set(WIDE.cycles[0])
    for before, after in zip(text, enciphered, strict=True):
        assert (after in letters and after != before) if before in letters else after == before


@settings(max_examples=80, deadline=None)
@given(
    rows,
    st.integers(1, 10),
    st.sampled_from([WIDE, GERMAN, explicit_alphabet(LATIN)]),
    st.sampled_from([pa.string(), pa.large_string()]),
    st.integers(0, 9),
    st.integers(0, 9),
)
def test_column_equals_text_on_every_row(
    lines: list[str | None],
    key: int,
    alphabet: Alphabet,
    kind: pa.DataType,
    start: int,
    length: int,
) -> None:
    cipher = Rot(alphabet, key)
    column = pa.array(lines, kind).slice(start, length)
    expected = [
        None if line is None else cipher.text(line) for line in lines[start : start + length]
    ]
    enciphered = cipher.column(column)
    enciphered.validate(full=True)
    assert enciphered.equals(pa.array(expected, kind))
    assert cipher.inverse.column(enciphered).equals(column)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_pieces_do_not_show(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pieces end inside characters and inside rows."""
    lines = ["", "zyß", None, "", "漢字 ä", "\U00010400😀", "", "a" * 20, "", None]
    monkeypatch.setattr(alphabet_module, "_PIECE", size)
    for key in (1, 3, 5):
        cipher = Rot(WIDE, key)
        expected = [None if line is None else cipher.text(line) for line in lines]
        assert cipher.column(pa.array(lines)).to_pylist() == expected


def test_column_of_many_pieces() -> None:
    lines = [
        f"Zeile {number}: über die Straße, 漢字 {'ß' * (number % 5)}" for number in range(20_000)
    ]
    lines[9_000] += "😀"
    cipher = Rot(build_alphabet(Counter("".join(lines[:10]))), 2)
    assert cipher.column(pa.array(lines)).to_pylist() == [cipher.text(line) for line in lines]


def test_chunks_and_their_boundaries_are_kept() -> None:
    cipher = Rot(GERMAN, 1)
    column = pa.chunked_array([["hey"], [], [None, "zü"]], pa.string())
    enciphered = cipher.column(column)
    assert [chunk.to_pylist() for chunk in enciphered.chunks] == [["ifz"], [], [None, "ßa"]]
    assert cipher.column(pa.chunked_array([], pa.string())).equals(
        pa.chunked_array([], pa.string())
    )


def test_rows_that_are_null_may_own_bytes() -> None:
    """Arrow leaves open what lies under a null."""
    buffers = pa.array(["ay", "zß", "ä"]).buffers()
    column = pa.Array.from_buffers(pa.string(), 3, [pa.py_buffer(b"\x05"), *buffers[1:]])
    assert column.to_pylist() == ["ay", None, "ä"]
    assert Rot(GERMAN, 1).column(column).to_pylist() == ["bz", None, "ö"]


def test_offsets_need_not_start_at_zero() -> None:
    offsets = pa.array([2, 3, 5], pa.int32()).buffers()[1]
    column = pa.Array.from_buffers(pa.string(), 2, [None, offsets, pa.py_buffer("xxaß".encode())])
    assert column.to_pylist() == ["a", "ß"]
    assert Rot(GERMAN, 1).column(column).to_pylist() == ["b", "ä"]


def test_column_rejects_other_types() -> None:
    with pytest.raises(UserError, match="the column has type list"):
        Rot(GERMAN, 1).column(pa.array([["a"]]))


def test_pickle_holds_the_alphabet_and_not_the_tables() -> None:
    cipher = Rot(GERMAN, 1)
    cipher.column(pa.array(["hey"]))
    pickled = pickle.dumps(cipher)
    assert len(pickled) < 1000
    assert pickle.loads(pickled) == cipher

"""ROT-k: the paper's examples, alphabets, and what a cipher keeps."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from augury.text.cipher import Rot, build_alphabet, explicit_alphabet

GERMAN = explicit_alphabet("abcdefghijklmnopqrstuvwxyzßäöü")
LATIN = "abcdefghijklmnopqrstuvwxyz"
MIXED = LATIN.upper() + LATIN + "ÄÖÜßäöü"
# Letters of one, two, three and four bytes.
WIDE = explicit_alphabet("ayzßäж漢字\uffdc\U00010400\U00020000")
OTHERS = " .7-\t\n\u0301\u00a0\u2028q\U0001f600\U0001f1e9"
characters = st.sampled_from(WIDE[0] + OTHERS) | st.characters(exclude_categories=["Cs"])
texts = st.lists(st.text(characters, max_size=20), max_size=12)


def test_german() -> None:
    for plain, *enciphered in (
        ("es ist diese pyramide.", "ft jtu ejftf qzsbnjef.", "gu kuv fkgug rßtcokfg."),
        ("zwölf große übungen", "ßxümg hspäf acvohfo", "äyanh itqög bdwpigp"),
        ("über 20% der straßen!", "acfs 20% efs tusbäfo!", "bdgt 20% fgt uvtcögp!"),
    ):
        assert [Rot(GERMAN, key).texts([plain])[0] for key in (1, 2)] == enciphered
        assert Rot(GERMAN, 32).texts([plain, ""]) == [enciphered[1], ""]


def test_mixed_case() -> None:
    text = "Zürich Ärzte straße ÜBER"
    assert len(MIXED) == 59
    assert Rot(build_alphabet(Counter(MIXED)), 1).texts([text]) == ["aAsjdi ÖsÄuf tusbäf ßCFS"]
    assert Rot(build_alphabet(Counter(MIXED), "cased"), 1).texts([text]) == [
        "Äasjdi Ösßuf tusbäf ACFS"
    ]


@settings(max_examples=80, deadline=None)
@given(texts, st.integers(-40, 40).filter(lambda key: key % 11))
def test_a_cipher_is_undone_by_its_inverse_and_moves_letters_only(
    lines: list[str], key: int
) -> None:
    cipher, letters = Rot(WIDE, key), set(WIDE[0])
    enciphered = cipher.texts(lines)
    table = str.maketrans(cipher.images)
    assert enciphered == [line.translate(table) for line in lines]
    assert Rot(WIDE, -key).texts(enciphered) == lines
    for line, other in zip(lines, enciphered, strict=True):
        for before, after in zip(line, other, strict=True):
            assert (after in letters and after != before) if before in letters else after == before


def test_an_alphabet_is_in_code_point_order_and_holds_letters_only() -> None:
    assert build_alphabet(Counter("ab ccz, 7½ Ⅷ 😀 \u0301")) == ("abcz",)
    assert build_alphabet(Counter("öäüßzaZÄªµº")) == ("Zazªµº" + "Äßäöü",)
    assert build_alphabet(Counter("abßAÄ漢字ǅ"), "cased") == ("abß", "AÄ")
    assert build_alphabet(Counter("漢字"), "cased") == ()

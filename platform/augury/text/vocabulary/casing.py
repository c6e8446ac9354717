"""Inline casing: lossless encoding of case by markers before lower-cased words.

`Hello, I SAY hello` becomes `<title> hello,<title> i<upper> say hello`, so that the subwords of a
word do not depend on its case. Markers precede the space before a word; at the beginning of a text,
a space is inserted after the marker.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

CASES: Mapping[str, Callable[[str], str]] = {
    "<title>": lambda word: word[:1].upper() + word[1:],
    "<upper>": str.upper,
}
"""Functions that restore the case of a lower-cased word, by marker."""
LITERAL = "<literal>"
"""Escapes markers that occur in a text."""
SYMBOLS = (*CASES, LITERAL)

_SYMBOL, _MARKER, _WORD = "|".join(SYMBOLS), "|".join(CASES), r"[^\W\d_]+"
_cased = re.compile(rf"(?P<symbol>{_SYMBOL})|(?P<space> ?)(?P<word>{_WORD})")
_marked = re.compile(
    rf"{LITERAL}(?P<symbol>{_SYMBOL})?|(?P<marker>{_MARKER})(?P<space> *)(?P<word>{_WORD})?"
)


def encode(text: str) -> str:
    """Replace case by markers; words in mixed case, such as `iPhone`, are unchanged."""
    return _cased.sub(_encode_word, text)


def decode(text: str) -> str:
    """Invert `encode`; markers without a following word, which a model can generate, are
    removed."""
    return _marked.sub(_decode_word, text)


def _encode_word(match: re.Match[str]) -> str:
    if match["symbol"]:
        return LITERAL + match["symbol"]
    space, word, lower = match["space"], match["word"], match["word"].lower()
    if word == lower or not re.fullmatch(_WORD, lower):
        return space + word
    markers = [marker for marker, cased in CASES.items() if cased(lower) == word]
    if not markers:
        return space + word
    return markers[0] + " " * (match.start() == 0) + space + lower


def _decode_word(match: re.Match[str]) -> str:
    if not match["marker"]:
        return match["symbol"] or ""
    space = match["space"].removeprefix(" ") if match.start() == 0 else match["space"]
    return space + CASES[match["marker"]](match["word"] or "")

"""Inline casing: words in lower case, and before each that was not a marker that says so. Nothing is lost.

`Hello, I SAY hello` is written `<title> hello,<title> i<upper> say hello`: the subwords of a word are the same in every
case. Its marker stands before the space that precedes it, and at the beginning of a text one space follows for that.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

CASES: Mapping[str, Callable[[str], str]] = {
    "<title>": lambda word: word[:1].upper() + word[1:],
    "<upper>": str.upper,
}
"""By marker, what it makes of a word in lower case."""
LITERAL = "<literal>"
"""Before a symbol of these that is written out in a text."""
SYMBOLS = (*CASES, LITERAL)

_SYMBOL, _MARKER, _WORD = "|".join(SYMBOLS), "|".join(CASES), r"[^\W\d_]+"
_cased = re.compile(rf"(?P<symbol>{_SYMBOL})|(?P<space> ?)(?P<word>{_WORD})")
_marked = re.compile(rf"{LITERAL}(?P<symbol>{_SYMBOL})?|(?P<marker>{_MARKER})(?P<space> *)(?P<word>{_WORD})?")


def written(text: str) -> str:
    """Return a text with its case as markers; words in no case that there is a marker for, as `iPhone`, stay."""
    return _cased.sub(_with_marker, text)


def read(text: str) -> str:
    """Return the text that `written` was given; markers before no word, as a model may write them, are left out."""
    return _marked.sub(_without_marker, text)


def _with_marker(match: re.Match[str]) -> str:
    if match["symbol"]:
        return LITERAL + match["symbol"]
    space, word, lower = match["space"], match["word"], match["word"].lower()
    if word == lower or not re.fullmatch(_WORD, lower):
        return space + word
    markers = [marker for marker, cased in CASES.items() if cased(lower) == word]
    if not markers:
        return space + word
    return markers[0] + " " * (match.start() == 0) + space + lower


def _without_marker(match: re.Match[str]) -> str:
    if not match["marker"]:
        return match["symbol"] or ""
    space = match["space"].removeprefix(" ") if match.start() == 0 else match["space"]
    return space + CASES[match["marker"]](match["word"] or "")

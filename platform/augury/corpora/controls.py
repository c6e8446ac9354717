"""Find characters that are invisible and change what tools read: NUL, and the controls of
bidirectional text."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

CONTROLS = "\0\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_CLASS = "[" + "".join(f"\\x{{{ord(control):x}}}" for control in CONTROLS) + "]"


def count_controls(texts: Sequence[pa.Array]) -> Counter[str]:
    """Return the number of texts that have a character, by its code and name: `U+202E
    RIGHT-TO-LEFT OVERRIDE`."""
    counts = Counter[str]()
    for column in texts:
        for text in column.filter(pc.match_substring_regex(column, _CLASS)).to_pylist():
            counts.update(_name(control) for control in CONTROLS if control in text)
    return counts


def _name(control: str) -> str:
    return f"U+{ord(control):04X} {unicodedata.name(control, 'NUL')}"

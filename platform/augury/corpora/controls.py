"""Find what does not belong to text: characters that are invisible and change what tools read (NUL,
the controls of bidirectional text), and the marks of tokenisers and of markup."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from augury.corpora.corpus import KINDS, Corpus

CONTROLS = "\0\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
_CLASS = "[" + "".join(f"\\x{{{ord(control):x}}}" for control in CONTROLS) + "]"

ROWS = 1_000
"""How many rows of a text are searched for marks."""
MARKS = (
    (
        r"&(quot|apos|amp|lt|gt|nbsp|#[0-9]+|#x[0-9a-fA-F]+);",
        0.01,
        "has escaped characters (&quot;): replace them, corpus.filter.unescape: true",
    ),
    (
        r" [.,\x{3002}\x{FF0C}]( |$)|@-@| 's |[A-Za-z] n't ",
        0.1,
        "looks tokenised (' .', ' ,', '@-@'): give it as it was written, since metrics and models "
        "tokenise it themselves",
    ),
)
"""A pattern, the share of sentences from which it is said, and what."""


def marks_of_tools(name: str, corpus: Corpus) -> list[str]:
    """Return cautions on the sides of a text whose sentences have the marks of tokenisers or of
    markup."""
    cautions = []
    for side in KINDS[corpus.kind].sentences if corpus.shards else ():
        texts = corpus.shard(corpus.shards[0], [side]).column(side).slice(0, ROWS)
        for pattern, share, what in MARKS:
            count = pc.sum(pc.match_substring_regex(texts, pattern)).as_py() or 0
            if count >= max(1, share * len(texts)):
                cautions.append(f"{name}: its {side} {what}")
    return cautions


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

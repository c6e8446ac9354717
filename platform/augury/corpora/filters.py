"""Cleaning and filtering of sentences."""

from __future__ import annotations

import html
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from unicodedata import normalize

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import xxhash
from pydantic import Field, PositiveInt

from augury.core.config import Section
from augury.core.words import UNSPACED

REASONS = (
    "",
    "not selected",
    "no gold label",
    "empty source",
    "empty target",
    "empty premise",
    "empty hypothesis",
    "empty text",
    "too long",
    "ratio",
    "duplicate",
    "held out",
    "not in the subset",
)
"""Reasons why a row is not in a corpus; `rejections` returns indices into them, 0 for rows that
are kept."""
NOT_SELECTED = REASONS.index("not selected")
NO_LABEL = REASONS.index("no gold label")
DUPLICATE = REASONS.index("duplicate")
HELD_OUT = REASONS.index("held out")
SUBSET = REASONS.index("not in the subset")
MOST_RUNS = 16
"""Runs of hashes in which each is looked up: with more, they are joined."""
FAULTS = REASONS[NO_LABEL + 1 : DUPLICATE]
"""Reasons that indicate unusable text if they apply to most rows."""

REASON_SETTINGS = {
    "not selected": "{split}.where",
    "no gold label": "{split}.labels",
    "too long": "filter.max_length",
    "ratio": "filter.max_ratio",
    "duplicate": "filter.deduplicate",
    "held out": "every",
    "not in the subset": "{split}.subset",
}
"""Corpus setting behind each reason; there is none to allow empty sides."""


class Cleaning(Section):
    """Preparation of a corpus.

    All text is normalised to NFC and stripped of ASCII white space. Case and entities are changed
    in every split. Lengths, ratio and duplicates filter training rows only: validation and test
    sets are never filtered, and empty sentences in them are errors, but for those that are portions
    of a text. Lengths are in words.
    """

    lowercase: bool = False
    """Lower-case every sentence."""
    unescape: bool = False
    """Replace HTML entities such as `&quot;` by their characters."""
    deduplicate: bool = False
    """Remove repeated rows."""
    max_length: PositiveInt | None = None
    """Maximum number of words of a sentence; null for no limit."""
    max_ratio: float | None = Field(default=None, ge=1)
    """Maximum ratio of the longer to the shorter sentence of a row, in characters where one is in a
    script without spaces (Chinese, Thai); null for no limit."""


def clean(text: pa.Array, replace: Mapping[str, str], filter: Cleaning) -> pa.Array:
    """Return text in NFC without byte order marks and surrounding ASCII white space, inner tabs and
    line ends replaced by spaces.

    Entities, `replace` and case are applied first, if enabled; case is mapped character by
    character.
    """
    text = pc.replace_substring(text, "\ufeff", "")  # byte order marks, as of files put together
    if filter.unescape:
        text = _map_where(text, pc.match_substring(text, "&"), html.unescape)
    for old, new in replace.items():
        text = pc.replace_substring(text, old, new)
    if filter.lowercase:
        text = pc.utf8_lower(text)
    return pc.replace_substring_regex(pc.ascii_trim_whitespace(composed(text)), r"[\t\n\r]", " ")


def composed(text: pa.Array) -> pa.Array:
    """Return text in NFC."""
    text = text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text
    # Not Arrow's utf8_normalize, which always decomposes (apache/arrow#51225).
    return _map_where(text, pc.invert(pc.string_is_ascii(text)), partial(normalize, "NFC"))


def clean_lines(lines: Sequence[str], filter: Cleaning) -> list[str]:
    """Clean lines as `clean` does."""
    texts: list[str] = clean(pa.array(lines, pa.string()), {}, filter).to_pylist()
    return texts


def word_counts(text: pa.Array) -> np.ndarray:
    """Count the words of texts, which Unicode white space separates."""
    trimmed = pc.utf8_trim_whitespace(text)
    counts = pc.list_value_length(pc.utf8_split_whitespace(trimmed)).to_numpy()
    return np.where(pc.binary_length(trimmed).to_numpy() > 0, counts, 0)


def rejections(
    texts: Sequence[pa.Array], filter: Cleaning | None, sides: Sequence[str]
) -> np.ndarray:
    """Return the index in REASONS of the first reason to reject each row; without a filter, empty
    sides.

    As in Moses' clean-corpus-n, limits are inclusive and the ratio is that of the longer to the
    shorter side, in words, or in characters where words of one have no spaces between them.
    """
    counts = [word_counts(text) for text in texts]
    longer, shorter = np.maximum.reduce(counts), np.minimum.reduce(counts)
    limits = filter or Cleaning()
    rejected = {f"empty {side}": count == 0 for side, count in zip(sides, counts, strict=True)}
    if limits.max_length is not None:
        rejected["too long"] = longer > limits.max_length
    if limits.max_ratio is not None:
        characters = [np.from_dlpack(pc.utf8_length(text)) for text in texts]
        matches = [pc.match_substring_regex(text, f"[{UNSPACED}]") for text in texts]
        unspaced = reduce(pc.or_, matches).to_numpy(zero_copy_only=False)
        longer = np.where(unspaced, np.maximum.reduce(characters), longer)
        shorter = np.where(unspaced, np.minimum.reduce(characters), shorter)
        rejected["ratio"] = longer / np.maximum(shorter, 1) > limits.max_ratio
    # Empty sides of kinds from outside are `empty text`.
    known = (reason if reason in REASONS else "empty text" for reason in rejected)
    return np.select(list(rejected.values()), [*map(REASONS.index, known)], default=0)


def join_sides(*sides: pa.Array) -> pa.Array:
    """Return one string per row of cleaned sides; distinct rows have distinct strings."""
    return pc.binary_join_element_wise(*sides, pa.scalar("\t", sides[0].type))


def _map_where(text: pa.Array, where: pa.Array, function: Callable[[str], str]) -> pa.Array:
    """Apply a function to the sentences for which `where` is true."""
    changed = [function(sentence) for sentence in pc.filter(text, where).to_pylist()]
    return pc.replace_with_mask(text, where, pa.array(changed, text.type)) if changed else text


class Duplicates:
    """Detects repeated rows by their 64-bit hashes (XXH3).

    Of n distinct rows, one is taken for a repetition with a probability of about n^2 / 2^65: 3e-8
    for a million, 3e-4 for 100 million.
    """

    def __init__(self) -> None:
        self._runs: list[np.ndarray] = []
        """Hashes seen, sorted in each run."""

    def repeated(self, hashes: np.ndarray) -> np.ndarray:
        """Return a mask of the rows, given their `row_hashes`, that equal an earlier one, in this
        call or a previous one."""
        unique, first = np.unique(hashes, return_index=True)
        new = np.ones(len(unique), bool)
        for run in self._runs:
            new &= run[np.searchsorted(run[:-1], unique)] != unique
        repeated = np.ones(len(hashes), bool)
        repeated[first[new]] = False
        if new.any():
            self._runs.append(unique[new])
        if len(self._runs) > MOST_RUNS:
            self._runs = [np.sort(np.concatenate(self._runs))]
        return repeated


def row_hashes(*sides: pa.Array) -> np.ndarray:
    """Return the hash of every row of cleaned sides, (rows,) uint64."""
    rows = join_sides(*sides).cast(pa.binary()).to_pylist()
    return np.fromiter(map(xxhash.xxh3_64_intdigest, rows), np.uint64, len(rows))

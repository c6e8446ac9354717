"""Cleaning and filtering of sentences."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import reduce

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.core.words import UNSPACED
from augury.corpora.splits import Cleaning, Limits

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
    "too many characters",
    "too short",
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
MAX_CHARACTERS = 100_000
"""Of each side of a training row, however many words they are."""
FAULTS = REASONS[NO_LABEL + 1 : DUPLICATE]
"""Reasons that indicate unusable text if they apply to most rows."""

REASON_SETTINGS = {
    "not selected": "{split}.where",
    "no gold label": "{split}.labels",
    "too long": "filter.max_length",
    "too short": "filter.min_length",
    "ratio": "filter.max_ratio",
    "duplicate": "filter.deduplicate",
    "held out": "every",
    "not in the subset": "{split}.subset",
}
"""Corpus setting behind each reason; there is none to allow empty sides."""

# Starters that NFC never changes, whatever their neighbours: text of these characters needs no
# normalisation.
STABLE = (
    r"\x00-\x{2FF}\x{400}-\x{482}\x{48A}-\x{52F}\x{2010}-\x{2027}\x{2030}-\x{205E}\x{20A0}-\x{20BF}"
    r"\x{3001}-\x{3029}\x{3041}-\x{3096}\x{30A0}-\x{30FF}\x{4E00}-\x{9FFF}\x{AC00}-\x{D7A3}"
    r"\x{FF01}-\x{FF60}"
)
# White space other than single ASCII spaces.
IRREGULAR = (
    r"  |[\x09-\x0d\x1c-\x1f\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}"
    r"\x{3000}]"
)
ASCII_SPACE = " \t\n\r\v\f"
_SPACES = dict.fromkeys(map(ord, "\t\n\r"), " ")


def clean(
    text: pa.Array, replace: Mapping[str, str], filter: Cleaning
) -> tuple[pa.Array, np.ndarray]:
    """Return text in NFC without surrounding ASCII white space, and a mask of rows with inner tabs
    or line ends.

    The latter become spaces. Entities, `replace` and case are applied first, if enabled; case is
    mapped character by character.
    """
    cleaned, broken = _clean(text, replace, filter)
    return cleaned, broken.to_numpy(zero_copy_only=False)


def clean_lines(lines: Sequence[str], filter: Cleaning) -> list[str]:
    """Clean lines as `clean` does; of a sentence alone, to import Arrow would take longest."""
    if filter.lowercase:  # Arrow maps other characters than Python
        texts = pa.array(lines, pa.string())
        return list(_clean(texts, {}, filter)[0].to_pylist())
    return [_clean_line(line, filter) for line in lines]


def _clean_line(line: str, filter: Cleaning) -> str:
    normal = unicodedata.normalize("NFC", _unescape(line) if filter.unescape else line)
    return normal.strip(ASCII_SPACE).translate(_SPACES)


def _unescape(sentence: str) -> str:
    import html  # whose table of entities few texts need

    return html.unescape(sentence)


def _clean(
    text: pa.Array, replace: Mapping[str, str], filter: Cleaning
) -> tuple[pa.Array, pa.Array]:
    if filter.unescape:
        text = _map_where(text, pc.match_substring(text, "&"), _unescape)
    for old, new in replace.items():
        text = pc.replace_substring(text, old, new)
    if filter.lowercase:
        text = pc.utf8_lower(text)
    unstable = pc.match_substring_regex(text, f"[^{STABLE}]")
    # Not Arrow's utf8_normalize, which always decomposes (apache/arrow#51225).
    text = _map_where(text, unstable, lambda sentence: unicodedata.normalize("NFC", sentence))
    text = pc.ascii_trim_whitespace(text)
    broken = pc.match_substring_regex(text, r"[\t\n\r]")
    text = pc.replace_substring_regex(text, r"[\t\n\r]", " ") if pc.any(broken).as_py() else text
    return text, broken


def word_counts(text: pa.Array) -> np.ndarray:
    """Count the words, separated by Unicode white space, of texts without surrounding ASCII
    white space."""
    counts = np.from_dlpack(pc.count_substring(text, " ")) + (
        np.from_dlpack(pc.binary_length(text)) > 0
    )
    irregular = pc.indices_nonzero(pc.match_substring_regex(text, IRREGULAR))
    counts[np.from_dlpack(irregular)] = [
        len(sentence.split()) for sentence in pc.take(text, irregular).to_pylist()
    ]
    return counts


def rejections(
    texts: Sequence[pa.Array], filter: Cleaning | None, sides: Sequence[str] = ("source", "target")
) -> np.ndarray:
    """Return the index in REASONS of the first reason to reject each row; without a filter, empty
    sides.

    As in Moses' clean-corpus-n, limits are inclusive and the ratio is that of the longer to the
    shorter side, in words, or in characters where words of one have no spaces between them.
    """
    counts = [word_counts(text) for text in texts]
    longer, shorter = np.maximum.reduce(counts), np.minimum.reduce(counts)
    limits = filter.limits if filter else Limits()
    rejected = {f"empty {side}": count == 0 for side, count in zip(sides, counts, strict=True)}
    if limits.maximum is not None:
        rejected["too long"] = longer > limits.maximum
    characters = [np.from_dlpack(pc.utf8_length(text)) for text in texts]
    if filter:
        rejected["too many characters"] = np.maximum.reduce(characters) > MAX_CHARACTERS
    rejected["too short"] = shorter < limits.minimum
    if limits.ratio is not None:
        matches = [pc.match_substring_regex(text, f"[{UNSPACED}]") for text in texts]
        unspaced = reduce(pc.or_, matches).to_numpy(zero_copy_only=False)
        longer = np.where(unspaced, np.maximum.reduce(characters), longer)
        shorter = np.where(unspaced, np.minimum.reduce(characters), shorter)
        rejected["ratio"] = longer / np.maximum(shorter, 1) > limits.ratio
    return np.select(list(rejected.values()), [_code(reason) for reason in rejected], default=0)


def _code(reason: str) -> int:
    """Return the index of a reason; empty sides of kinds from outside are `empty text`."""
    return REASONS.index(reason if reason in REASONS else "empty text")


def join_sides(*sides: pa.Array) -> pa.Array:
    """Return one string per row of cleaned sides; distinct rows have distinct strings."""
    return pc.binary_join_element_wise(*sides, pa.scalar("\t", sides[0].type))


def _map_where(text: pa.Array, where: pa.Array, function: Callable[[str], str]) -> pa.Array:
    """Apply a function to the sentences for which `where` is true."""
    changed = [function(sentence) for sentence in pc.filter(text, where).to_pylist()]
    return pc.replace_with_mask(text, where, pa.array(changed, text.type)) if changed else text

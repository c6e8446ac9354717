"""Cleaning of sentences, and the reasons for which pairs are left out."""

from __future__ import annotations

import hashlib
import html
import unicodedata
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
    "too short",
    "ratio",
    "duplicate",
    "held out",
    "not in the subset",
)
"""Reasons why a pair is not in a corpus; `rejections` returns indices into them, 0 for a pair that is kept."""
NOT_SELECTED = REASONS.index("not selected")
NO_LABEL = REASONS.index("no gold label")
DUPLICATE = REASONS.index("duplicate")
HELD_OUT = REASONS.index("held out")
SUBSET = REASONS.index("not in the subset")
FAULTS = REASONS[NO_LABEL + 1 : DUPLICATE]
"""The reasons that make a text unusable when most rows have one."""

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
"""The setting of a corpus that decides over each reason; nothing lets an empty side in."""

# Characters of these ranges are starters that NFC leaves alone whatever their neighbours: text without any
# other needs no normalisation.
STABLE = (
    r"\x00-\x{2FF}\x{400}-\x{482}\x{48A}-\x{52F}\x{2010}-\x{2027}\x{2030}-\x{205E}\x{20A0}-\x{20BF}"
    r"\x{3001}-\x{3029}\x{3041}-\x{3096}\x{30A0}-\x{30FF}\x{4E00}-\x{9FFF}\x{AC00}-\x{D7A3}"
    r"\x{FF01}-\x{FF60}"
)
# White space other than a single space between words.
IRREGULAR = (
    r"  |[\x09-\x0d\x1c-\x1f\x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}"
    r"\x{3000}]"
)


def clean(text: pa.Array, replace: Mapping[str, str], filter: Cleaning) -> tuple[pa.Array, np.ndarray]:
    """Return text in NFC without ASCII white space at its ends, and whether tabs or line ends within became spaces.

    Entities, `replace` and case come first, where asked for. Case is mapped character by character.
    """
    cleaned, broken = _cleaned(text, replace, filter)
    return cleaned, broken.to_numpy(zero_copy_only=False)


def clean_lines(lines: Sequence[str], filter: Cleaning) -> list[str]:
    """Return free text as `clean` makes it. Unlike `pa.array` and `to_numpy`, this does not import pandas."""
    data = [line.encode() for line in lines]
    ends = np.cumsum([0, *map(len, data)], dtype=np.int64)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(data))]
    text = pa.Array.from_buffers(pa.large_string(), len(data), buffers)
    return list(_cleaned(text, {}, filter)[0].to_pylist())


def _cleaned(text: pa.Array, replace: Mapping[str, str], filter: Cleaning) -> tuple[pa.Array, pa.Array]:
    if filter.unescape:
        text = _change(text, pc.match_substring(text, "&"), html.unescape)
    for old, new in replace.items():
        text = pc.replace_substring(text, old, new)
    if filter.lowercase:
        text = pc.utf8_lower(text)
    unstable = pc.match_substring_regex(text, f"[^{STABLE}]")
    # Not Arrow's utf8_normalize, which decomposes whatever form it is asked for (apache/arrow#51225).
    text = _change(text, unstable, lambda sentence: unicodedata.normalize("NFC", sentence))
    text = pc.ascii_trim_whitespace(text)
    broken = pc.match_substring_regex(text, r"[\t\n\r]")
    text = pc.replace_substring_regex(text, r"[\t\n\r]", " ") if pc.any(broken).as_py() else text
    return text, broken


def words(text: pa.Array) -> np.ndarray:
    """Count the words between Unicode white space; the texts have no ASCII white space at their ends."""
    counts = pc.add(pc.count_substring(text, " "), pc.not_equal(text, "").cast(pa.int32()))
    irregular = pc.match_substring_regex(text, IRREGULAR)
    exact = [len(sentence.split()) for sentence in text.filter(irregular).to_pylist()]
    return pc.replace_with_mask(counts, irregular, pa.array(exact, pa.int32())).to_numpy()


def rejections(
    texts: Sequence[pa.Array], filter: Cleaning | None, sides: Sequence[str] = ("source", "target")
) -> np.ndarray:
    """Return for each row the first reason to reject it; without a filter only an empty side is one.

    As in Moses' clean-corpus-n the limits themselves are allowed and the ratio is taken both ways.
    """
    counts = [words(text) for text in texts]
    longer, shorter = np.maximum.reduce(counts), np.minimum.reduce(counts)
    limits = filter.limits if filter else Limits()
    rejected = {f"empty {side}": count == 0 for side, count in zip(sides, counts, strict=True)}
    if limits.most is not None:
        rejected["too long"] = longer > limits.most
    rejected["too short"] = shorter < limits.fewest
    if limits.ratio is not None:
        rejected["ratio"] = longer / np.maximum(shorter, 1) > limits.ratio
    return np.select(list(rejected.values()), [REASONS.index(reason) for reason in rejected], default=0)


class Duplicates:
    """Remembers pairs by a 64-bit digest."""

    def __init__(self) -> None:
        self._seen: set[int] = set()

    def repeated(self, *sides: pa.Array) -> np.ndarray:
        """Return a mask of the pairs that equal an earlier one, in this call or one before it."""
        result = np.zeros(len(sides[0]), bool)
        for index, pair in enumerate(joined(*sides).cast(pa.binary()).to_pylist()):
            key = int.from_bytes(hashlib.blake2b(pair, digest_size=8).digest(), "little")
            result[index] = key in self._seen
            self._seen.add(key)
        return result


def joined(*sides: pa.Array) -> pa.Array:
    """Return the sides of clean rows as one string each; different rows give different strings."""
    return pc.binary_join_element_wise(*sides, "\t")


def _change(text: pa.Array, where: pa.Array, change: Callable[[str], str]) -> pa.Array:
    """Return `text` with those sentences changed for which `where` is true."""
    changed = [change(sentence) for sentence in text.filter(where).to_pylist()]
    return pc.replace_with_mask(text, where, pa.array(changed, text.type)) if changed else text

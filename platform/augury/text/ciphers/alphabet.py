"""Alphabets of ciphers: the letters of the training text in code-point order, in one or more
cycles."""

from __future__ import annotations

import bisect
import codecs
import math
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pyarrow as pa

from augury.core.errors import UserError, unknown

Mode = Literal["alpha", "cased", "lower", "block"]

# Bytes of text to process at a time, so that a piece and its wider encodings fit in the L2 cache.
_PIECE = 1 << 17


@dataclass(frozen=True)
class Alphabet:
    """The letters that a cipher rotates; in each cycle, the first letter follows the last.

    Raises UserError for repeated letters, white space, and surrogates, which UTF-8 cannot encode.
    """

    cycles: tuple[str, ...]

    def __post_init__(self) -> None:
        letters = "".join(self.cycles)
        repeated = sorted(letter for letter, count in Counter(letters).items() if count > 1)
        if repeated:
            raise UserError(f"the alphabet repeats {_shown(repeated)}: give each letter once")
        invalid = [
            letter for letter in letters if letter.isspace() or "\ud800" <= letter <= "\udfff"
        ]
        if invalid:
            raise UserError(
                f"the alphabet contains {_shown(invalid)}: remove white space and surrogates"
            )

    @property
    def period(self) -> int:
        """The least common multiple of the cycle lengths: keys that are congruent modulo it are
        equivalent."""
        return math.lcm(*map(len, self.cycles))

    def rotation(self, key: int) -> dict[str, str]:
        """Map each letter to the `key`-th letter after it in its cycle."""
        images: dict[str, str] = {}
        for cycle in self.cycles:
            shift = key % len(cycle)
            images |= zip(cycle, cycle[shift:] + cycle[:shift], strict=True)
        return images

    def to_json(self) -> dict[str, Any]:
        """Return the alphabet as JSON-like data: `{"cycles": ["abc…", …]}`."""
        return {"cycles": list(self.cycles)}

    @classmethod
    def from_json(cls, data: Any) -> Alphabet:
        """Return the alphabet from the data of `to_json`; raise UserError for any other data."""
        cycles = data.get("cycles") if isinstance(data, dict) else None
        if not isinstance(cycles, list) or not all(
            isinstance(cycle, str) and cycle for cycle in cycles
        ):
            raise UserError(
                f'not an alphabet: {data!r:.80}; expected {{"cycles": ["abc…", …]}}, none empty'
            )
        return cls(tuple(cycles))


def count_letters(column: pa.Array | pa.ChunkedArray) -> dict[str, int]:
    """Count the letters (`str.isalpha`) in a column of strings, ignoring nulls.

    Keys are in code-point order.

    Raises UserError for columns of other types.
    """
    counts = np.zeros(0x110000, np.int64)
    for chunk in string_chunks(column):
        # Concatenation drops bytes outside a slice.
        data = pa.concat_arrays([chunk.drop_null()]).buffers()[2]
        for piece in pieces(memoryview(data or b"")):
            piece_counts = np.bincount(np.frombuffer(piece.encode("utf-32-le"), "<u4"))
            counts[: len(piece_counts)] += piece_counts
    return {chr(code): int(counts[code]) for code in np.flatnonzero(counts) if chr(code).isalpha()}


def build_alphabet(
    counts: Mapping[str, int], mode: Mode = "alpha", min_count: int = 1, extra: str | None = None
) -> Alphabet:
    """Return the alphabet of a text with given character counts (Kambhatla, Born and Sarkar 2022,
    Algorithm 1).

    It has the letters (`str.isalpha`) with at least `min_count` occurrences, which excludes stray
    foreign letters, and those in `extra`. `mode` determines the cycles:

    - `alpha`: all letters in one cycle, in which `Z` precedes `a`;
    - `cased`: a cycle of lower-case and one of upper-case letters. Letters without case and
      title-case digraphs are not
      rotated, as in the authors' code; scripts without case need another mode;
    - `lower`: lower-case letters only;
    - `block`: one cycle per Unicode block, so that Han maps to Han and Kana to Kana.

    Text and letters must be in NFC. Raises UserError for an unknown mode, and for characters in
    `extra` that are not letters.
    """
    if invalid := [character for character in extra or "" if not character.isalpha()]:
        raise UserError(f"extra letters contain {_shown(invalid)}: give letters only")
    seen = {
        character
        for character, count in counts.items()
        if count >= min_count and character.isalpha()
    }
    letters = sorted(seen.union(extra or ""))
    lower = "".join(filter(str.islower, letters))
    if mode == "alpha":
        cycles = ["".join(letters)]
    elif mode == "cased":
        cycles = [lower, "".join(filter(str.isupper, letters))]
    elif mode == "lower":
        cycles = [lower]
    elif mode == "block":
        cycles = _by_block(letters)
    else:
        raise unknown("alphabet mode", mode, get_args(Mode))
    return Alphabet(tuple(cycle for cycle in cycles if cycle))


def explicit_alphabet(letters: str) -> Alphabet:
    """Return an alphabet with a single cycle of the given letters.

    Raises UserError if there are no letters, if one is repeated, or if they are not in NFC.
    """
    if not letters:
        raise UserError(
            "the alphabet is empty: give its letters, such as abcdefghijklmnopqrstuvwxyzäöüß"
        )
    composed = unicodedata.normalize("NFC", letters)
    if composed != letters:
        raise UserError(f"the alphabet {letters!a} is not in NFC: write it as {composed!a}")
    return Alphabet((letters,))


def string_chunks(column: pa.Array | pa.ChunkedArray) -> list[pa.Array]:
    """Return the chunks of a column of strings; raise UserError for columns of other types."""
    if not (pa.types.is_string(column.type) or pa.types.is_large_string(column.type)):
        raise UserError(f"the column has type {column.type}: cast it to string or large_string")
    return column.chunks if isinstance(column, pa.ChunkedArray) else [column]


def pieces(data: memoryview) -> Iterator[str]:
    """Decode UTF-8 data in pieces of limited size, which can end within a row."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _PIECE):
        piece = decoder.decode(data[start : start + _PIECE], final=start + _PIECE >= len(data))
        if piece:  # empty if all bytes belong to an incomplete character
            yield piece


def _shown(characters: Iterable[str]) -> str:
    return ", ".join(
        ascii(character) if character.isspace() else repr(character) for character in characters
    )


def _by_block(letters: Iterable[str]) -> list[str]:
    blocks = defaultdict(list)
    for letter in letters:
        blocks[bisect.bisect(_BLOCK_STARTS, ord(letter))].append(letter)
    return ["".join(block) for block in blocks.values()]


# First code points of all blocks of the Unicode Character Database (Blocks.txt, version 18.0). Ends
# are not needed, since there are no letters between blocks.
_BLOCKS = """
0 80 100 180 250 2B0 300 370 400 500 530 590 600 700 750 780 7C0 800 840 860 870 8A0 900 980 A00 A80
B00 B80 C00 C80 D00 D80 E00 E80 F00 1000 10A0 1100 1200 1380 13A0 1400 1680 16A0 1700 1720 1740 1760
1780 1800 18B0 1900 1950 1980 19E0 1A00 1A20 1AB0 1B00 1B80 1BC0 1C00 1C50 1C80 1C90 1CC0 1CD0 1D00
1D80 1DC0 1E00 1F00 2000 2070 20A0 20D0 2100 2150 2190 2200 2300 2400 2440 2460 2500 2580 25A0 2600
2700 27C0 27F0 2800 2900 2980 2A00 2B00 2C00 2C60 2C80 2D00 2D30 2D80 2DE0 2E00 2E80 2F00 2FF0 3000
3040 30A0 3100 3130 3190 31A0 31C0 31F0 3200 3300 3400 4DC0 4E00 A000 A490 A4D0 A500 A640 A6A0 A700
A720 A800 A830 A840 A880 A8E0 A900 A930 A960 A980 A9E0 AA00 AA60 AA80 AAE0 AB00 AB30 AB70 ABC0 AC00
D7B0 D800 DB80 DC00 E000 F900 FB00 FB50 FE00 FE10 FE20 FE30 FE50 FE70 FF00 FFF0 10000 10080 10100
10140 10190 101D0 10280 102A0 102E0 10300 10330 10350 10380 103A0 10400 10450 10480 104B0 10500
10530 10570 105C0 10600 10780 10800 10840 10860 10880 108E0 10900 10920 10940 10980 109A0 10A00
10A60 10A80 10AC0 10B00 10B40 10B60 10B80 10C00 10C80 10D00 10D40 10E60 10E80 10EC0 10F00 10F30
10F70 10FB0 10FE0 11000 11080 110D0 11100 11150 11180 111E0 11200 11280 112B0 11300 11380 11400
11480 11580 11600 11660 11680 116D0 11700 11800 118A0 11900 119A0 11A00 11A50 11AB0 11AC0 11B00
11B60 11BC0 11C00 11C70 11D00 11D60 11DB0 11DF0 11EE0 11F00 11FB0 11FC0 12000 12400 12480 12550
12F90 13000 13430 13460 14400 16100 16800 16A40 16A70 16AD0 16B00 16D40 16E40 16EA0 16F00 16FE0
17000 18800 18B00 18D00 18D80 18E00 191A0 1AFF0 1B000 1B100 1B130 1B170 1BC00 1BCA0 1CC00 1CEC0
1CF00 1D000 1D100 1D200 1D250 1D2C0 1D2E0 1D300 1D360 1D400 1D800 1DB00 1DF00 1E000 1E030 1E100
1E290 1E2C0 1E4D0 1E5D0 1E6C0 1E7E0 1E800 1E900 1EC70 1ED00 1EE00 1F000 1F030 1F0A0 1F100 1F200
1F300 1F600 1F650 1F680 1F700 1F780 1F800 1F900 1FA00 1FA70 1FB00 20000 2A700 2B740 2B820 2CEB0
2EBF0 2F800 30000 31350 323B0 3D000 E0000 E0100 F0000 100000
"""
_BLOCK_STARTS = [int(start, 16) for start in _BLOCKS.split()]

"""ROT-k ciphers: each letter is replaced by the k-th letter after it (Kambhatla, Born and Sarkar
2022, §2.1).

Characters outside the alphabet are unchanged: white space, digits, punctuation, and letters that
are not in the training text. Text must be in NFC, so that accents rotate with their letters, and
must not be normalised afterwards, since a rotated letter could compose with a following combining
mark.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.core.errors import UserError
from augury.text.ciphers.alphabet import Alphabet, pieces, string_chunks


@dataclass(frozen=True)
class Rot:
    """The cipher that rotates each letter of `alphabet` by `key` positions within its cycle.

    Raises UserError if it would leave the text unchanged, or all letters of a cycle with more than
    half as many letters as the longest one, such as the capital letters.
    """

    alphabet: Alphabet
    key: int

    def __post_init__(self) -> None:
        sizes = [len(cycle) for cycle in self.alphabet.cycles]
        if max(sizes, default=0) < 2:
            raise UserError(
                f"the alphabet has {sum(sizes)} letters and no cycle with two, so that no key "
                "changes the text; fit it on text with letters, choose another mode, or give the "
                "letters"
            )
        large = sorted({size for size in sizes if 2 * size > max(sizes)})
        if any(self.key % size == 0 for size in large):
            shown = " + ".join(map(str, sizes))
            fixed = sum(size for size in sizes if self.key % size == 0)
            unchanged = "the text" if fixed == sum(sizes) else f"{fixed} letters"
            multiples = " or ".join(map(str, large))
            raise UserError(
                f"key {self.key} leaves {unchanged} unchanged: the alphabet has {shown} letters; "
                f"use a key from 1 to {large[0] - 1}, or another that is not a multiple of "
                f"{multiples}"
            )

    def __reduce__(self) -> tuple[type[Rot], tuple[Alphabet, int]]:
        # Pickles without the tables, which are a thousand times larger than the alphabet.
        return Rot, (self.alphabet, self.key)

    @property
    def inverse(self) -> Rot:
        """The cipher that deciphers text whose letters are all in the alphabet."""
        return Rot(self.alphabet, -self.key)

    def text(self, text: str) -> str:
        """Encipher a text, preserving its number of characters."""
        return text.translate(self._letters)

    def column(self, column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """Encipher a column of strings, preserving type, chunks and nulls.

        Raises UserError for columns of other types, and ArrowInvalid if the result exceeds 2 GiB,
        the limit of type `string` (but not of `large_string`).
        """
        chunks = [self._array(chunk) for chunk in string_chunks(column)]
        return (
            pa.chunked_array(chunks, column.type)
            if isinstance(column, pa.ChunkedArray)
            else chunks[0]
        )

    def _array(self, array: pa.Array) -> pa.Array:
        if len(array) == 0:
            return array
        if array.offset:
            # Copies the slice, so that its buffers start with its first row.
            array = pa.concat_arrays([array])
        validity, offsets, data = array.cast(pa.large_string()).buffers()
        # Without the validity bitmap, to count the characters of null rows too, which can have
        # bytes.
        rows = pa.Array.from_buffers(pa.large_string(), len(array), [None, offsets, data])
        # Offsets in characters.
        ends = np.concatenate(([0], np.cumsum(pc.utf8_length(rows).to_numpy())))
        before = np.frombuffer(offsets, np.int64, len(array) + 1)  # offsets in bytes
        after = before - before[0]

        enciphered, position, grown = [], 0, 0
        for piece in pieces(memoryview(data or b"")[before[0] : before[-1]]):
            encoded, growth = self._encipher(piece)
            enciphered.append(encoded)
            first, last = np.searchsorted(ends, [position, position + len(piece)], side="right")
            sums = np.cumsum(growth, dtype=np.int32)
            after[first:last] += sums[ends[first:last] - position - 1]
            after[first:last] += grown
            position += len(piece)
            grown += int(sums[-1])
        buffers = [validity, pa.py_buffer(after), pa.py_buffer(b"".join(enciphered))]
        return pa.Array.from_buffers(pa.large_string(), len(array), buffers).cast(array.type)

    def _encipher(self, text: str) -> tuple[bytes, np.ndarray]:
        """Return the enciphered text in UTF-8, and the number of bytes by which each character
        grew."""
        for codec, images in self._tables:
            plain = np.frombuffer(text.encode(codec), images.dtype)
            if len(plain) == len(text):
                break
        # All indices are in range; "clip" skips the check.
        rotated = images.take(plain, mode="clip")
        growth = np.zeros(len(text), np.int8)
        for start in (0x80, 0x800, 0x10000):  # code points from which UTF-8 needs another byte
            if start < len(images):
                growth += (rotated >= start).view(np.int8)
                growth -= (plain >= start).view(np.int8)
        return rotated.tobytes().decode(codec).encode(), growth

    @cached_property
    def _letters(self) -> dict[int, str]:
        return str.maketrans(self.alphabet.rotation(self.key))

    @cached_property
    def _tables(self) -> list[tuple[str, np.ndarray]]:
        """Codecs with the image of every code point; UTF-16 comes first, for text without
        surrogates."""
        images = np.arange(0x110000, dtype="<u4")
        images[list(self._letters)] = [ord(image) for image in self._letters.values()]
        tables = [("utf-32-le", images)]
        if max(self._letters) < 0x10000:
            tables.insert(0, ("utf-16-le", images[:0x10000].astype("<u2")))
        return tables

"""ROT-k: replace each letter by the k-th letter after it in its alphabet (Kambhatla, Born and Sarkar 2022, §2.1).

Characters outside the alphabet stay: white space, digits, punctuation, letters that the training text does
not have. Text must be in Unicode normalisation form C before, or accents would stay while their letters move,
and must not be normalised again after, since a rotated letter may compose with a mark that follows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from augury.core.errors import UserError
from augury.text.alphabet import Alphabet, pieces, string_chunks


@dataclass(frozen=True)
class Rot:
    """The cipher that moves every letter of `alphabet` by `key` positions, modulo the length of its cycle.

    Raises UserError if that leaves every letter unchanged, as every key does if the alphabet is empty: a view
    that equals its source would train a model on nothing new. So does a key that leaves one of several cycles
    unchanged, say the small or the capital letters, unless it is a stray of at most half the letters of the longest.
    """

    alphabet: Alphabet
    key: int

    def __post_init__(self) -> None:
        sizes = [len(cycle) for cycle in self.alphabet.cycles]
        if max(sizes, default=0) < 2:
            raise UserError(
                f"the alphabet has {sum(sizes)} letters and no two on one cycle, so no key changes the text; "
                "fit it on text with letters, choose another mode, or give the letters"
            )
        large = sorted({size for size in sizes if 2 * size > max(sizes)})
        if any(self.key % size == 0 for size in large):
            shown = " + ".join(map(str, sizes))
            staying = sum(size for size in sizes if self.key % size == 0)
            unchanged = "the text" if staying == sum(sizes) else f"{staying} letters"
            multiples = " or ".join(map(str, large))
            raise UserError(
                f"key {self.key} leaves {unchanged} unchanged: the alphabet has {shown} letters; "
                f"use a key from 1 to {large[0] - 1}, or another that is not a multiple of {multiples}"
            )

    def __reduce__(self) -> tuple[type[Rot], tuple[Alphabet, int]]:
        # Workers rebuild the tables, which are a thousand times the size of the alphabet.
        return Rot, (self.alphabet, self.key)

    @property
    def inverse(self) -> Rot:
        """The cipher that reverses this one on text whose letters are all in the alphabet."""
        return Rot(self.alphabet, -self.key)

    def text(self, text: str) -> str:
        """Encipher a text; it keeps its number of characters."""
        return text.translate(self._letters)

    def column(self, column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
        """Encipher every row of a column of strings; type, chunks and nulls are kept.

        Raises UserError for a column that is not of strings, and ArrowInvalid if the result outgrows 2 GiB,
        the bound of an array of type `string` (not of `large_string`).
        """
        chunks = [self._array(chunk) for chunk in string_chunks(column)]
        return pa.chunked_array(chunks, column.type) if isinstance(column, pa.ChunkedArray) else chunks[0]

    def _array(self, array: pa.Array) -> pa.Array:
        if len(array) == 0:
            return array
        if array.offset:
            # A copy without the rows before and after the slice, so that rows and buffers begin together.
            array = pa.concat_arrays([array])
        validity, offsets, data = array.cast(pa.large_string()).buffers()
        # Without validity, so that rows that are null count the bytes they may own.
        rows = pa.Array.from_buffers(pa.large_string(), len(array), [None, offsets, data])
        ends = np.concatenate(([0], np.cumsum(pc.utf8_length(rows).to_numpy())))  # of rows, in characters
        before = np.frombuffer(offsets, np.int64, len(array) + 1)  # the same in bytes
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
        """Return the enciphered text in UTF-8, and by how many bytes each of its characters grew."""
        for codec, images in self._tables:
            plain = np.frombuffer(text.encode(codec), images.dtype)
            if len(plain) == len(text):
                break
        rotated = images.take(plain, mode="clip")  # nothing to clip; it spares the check of every index
        growth = np.zeros(len(text), np.int8)
        for longer in (0x80, 0x800, 0x10000):  # from here on, UTF-8 needs one more byte
            if longer < len(images):
                growth += (rotated >= longer).view(np.int8)
                growth -= (plain >= longer).view(np.int8)
        return rotated.tobytes().decode(codec).encode(), growth

    @cached_property
    def _letters(self) -> dict[int, str]:
        return str.maketrans(self.alphabet.rotation(self.key))

    @cached_property
    def _tables(self) -> list[tuple[str, np.ndarray]]:
        """The codecs, each with the image of every character; UTF-16 first, for text where its width is fixed."""
        images = np.arange(0x110000, dtype="<u4")
        images[list(self._letters)] = [ord(image) for image in self._letters.values()]
        tables = [("utf-32-le", images)]
        if max(self._letters) < 0x10000:
            tables.insert(0, ("utf-16-le", images[:0x10000].astype("<u2")))
        return tables

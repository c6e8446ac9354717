"""Arrow arrays, made without `pa.array` and `pa.scalar`: these import pandas, which takes a third
of the time of `augury config`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


def strings(texts: Sequence[bytes]) -> pa.LargeStringArray:
    """Return an array of texts in UTF-8, which is checked."""
    ends = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    buffers = [None, pa.py_buffer(ends), pa.py_buffer(b"".join(texts))]
    binary = pa.Array.from_buffers(pa.large_binary(), len(texts), buffers)
    return pc.cast(binary, pa.large_string())


def numbers(values: npt.NDArray[np.int64]) -> pa.Int64Array:
    """Return an array of whole numbers."""
    return pa.Array.from_buffers(pa.int64(), len(values), [None, pa.py_buffer(values)])


def flags(values: npt.NDArray[np.bool_]) -> pa.BooleanArray:
    """Return an array of truth values."""
    bits = pa.py_buffer(np.packbits(values, bitorder="little"))
    return pa.Array.from_buffers(pa.bool_(), len(values), [None, bits])

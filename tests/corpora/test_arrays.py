"""Arrow arrays without pandas."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from augury.corpora import arrays


@pytest.mark.parametrize("texts", [[], ["", "ein Hund", "schläft\t", "", "𝄞"]])
def test_strings_are_those_of_pyarrow(texts: list[str]) -> None:
    made = arrays.strings([text.encode() for text in texts])
    assert made.equals(pa.array(texts, pa.large_string()))


def test_strings_are_utf8() -> None:
    with pytest.raises(pa.ArrowInvalid, match="UTF8"):
        arrays.strings([b"a", b"\xff"])


@pytest.mark.parametrize("count", [0, 1, 8, 13])
def test_flags_and_numbers_are_those_of_pyarrow(count: int) -> None:
    values = np.arange(count) % 3 == 0
    assert arrays.flags(values).equals(pa.array(values))
    assert arrays.numbers(np.arange(count)).equals(pa.array(np.arange(count)))

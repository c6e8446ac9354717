"""Searches with models that are not stored, and what two searches have found."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from operator import ne

from transformers import MarianMTModel

from augury.decoding.conversion import to_ctranslate2
from augury.decoding.ctranslate import CTranslateDecoder
from augury.decoding.search import Hypothesis
from augury.decoding.settings import Decoding


def assert_same(hypotheses: Sequence[Hypothesis], expected: Sequence[Hypothesis]) -> None:
    """The same hypotheses; where floats tie, one sentence in fifty may have another."""
    differing = sum(map(ne, hypotheses, expected))
    assert len(hypotheses) == len(expected)
    assert differing <= max(1, len(expected) // 50)


def translate(
    model: MarianMTModel,
    sources: Sequence[Sequence[int]],
    decoding: Decoding,
    never: Sequence[int] = (),
) -> list[Hypothesis]:
    """Return the best hypothesis of every source, by a copy of the weights of `model`."""
    with tempfile.TemporaryDirectory(prefix="augury-decoder-") as directory:
        to_ctranslate2(model, directory)
        decoder = CTranslateDecoder(directory, never)
    return decoder.search(sources, decoding)

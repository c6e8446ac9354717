"""Searches with models that are not stored, and what two searches have found."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence

import pytest
from transformers import MarianMTModel

from augury.decoding.conversion import to_ctranslate2
from augury.decoding.ctranslate import CTranslateDecoder
from augury.decoding.search import Hypothesis


def assert_same(hypotheses: Sequence[Hypothesis], expected: Sequence[Hypothesis]) -> None:
    """The same scores and the same hypotheses.

    Where floats tie, one sentence in fifty may have the other.
    """
    assert len(hypotheses) == len(expected)
    for hypothesis, other in zip(hypotheses, expected, strict=True):
        assert hypothesis.score == pytest.approx(other.score, abs=1e-4)
    differing = sum(
        hypothesis.ids != other.ids for hypothesis, other in zip(hypotheses, expected, strict=True)
    )
    assert differing <= max(1, len(expected) // 50)


def decoder_of(
    model: MarianMTModel, vocabulary: Sequence[str], *, unk: int, threads: int = 1
) -> CTranslateDecoder:
    """Return a decoder with a copy of the weights of `model`."""
    with tempfile.TemporaryDirectory(prefix="augury-decoder-") as directory:
        to_ctranslate2(model, directory, vocabulary, unk=unk)
        return CTranslateDecoder(directory, threads=threads)

"""Adjusted BLEU and what counts as a hallucination."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from augury.analysis.hallucinations import (
    HallucinationAnalysis,
    adjusted_bleu,
    frequent_subwords,
)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "score"),
    [
        ("the cat sat", "the cat sat down", 0.716531),
        ("the dog sat on mat", "the cat sat on the mat", 0.216064),
        ("b a", "a b", 0.0),
        ("word", "word", 0.0),
        ("", "a b", 0.0),
        ("แมวกินปลา", "แมวกินปลา", 1.0),
    ],
)
def test_adjusted_bleu_is_that_of_the_specification(
    hypothesis: str, reference: str, score: float
) -> None:
    assert adjusted_bleu(hypothesis, reference) == pytest.approx(score, abs=1e-6)


class Parrot(SimpleNamespace):
    """A system that says its source, but `ruin` makes it say something else."""

    def outputs(self) -> list[str]:
        return self.translate(self.ids(), "")

    def ids(self) -> list[list[int]]:
        return [[self.pieces.index(word) for word in text.split()] for text in self.sources]

    def counts(self) -> np.ndarray:
        return np.array([9, 9, 9, *range(1, len(self.pieces) - 2)])

    def translate(self, sources: list[list[int]], label: str) -> list[str]:
        words = [[self.pieces[piece] for piece in source] for source in sources]
        return ["what is that" if self.ruin in line else " ".join(line) for line in words]


def parrot(name: str, ruin: str) -> Any:
    pieces = ["<pad>", "<unk>", "</s>", "a", "b", "c", "d"]
    texts = {"sources": ["a b c", "b c d", "d d d"]}
    # What the second says when it is ruined is in its reference, which is not asked then.
    texts["references"] = ["a b c", "b c d what is that", "a a a"]
    return Parrot(name=name, ruin=ruin, pieces=pieces, special={0, 1, 2}, **texts)


def test_sentences_count_once_and_only_if_they_are_translated() -> None:
    analysis = HallucinationAnalysis(subwords=3)
    results = analysis.compute([parrot("calm", "nothing"), parrot("mad", "a")])
    # "a b c" holds the word that ruins it and so is not translated at all: it is no candidate.
    assert results["candidates"].tolist() == [2, 1]
    assert results["lost"].tolist() == [0, 0] and results["pairs"][0] == 0


def test_hallucinations_are_counted_by_subword() -> None:
    systems = [parrot("one", "z"), parrot("two", "a")]
    results = HallucinationAnalysis(subwords=4).compute(systems)
    second = results.iloc[1]
    assert second["subwords"] == ["d", "c", "b", "a"] and second["by_subword"] == [0, 0, 0, 1]
    assert second["hallucinated"] == [1] and second["pairs"] == 1
    assert second["examples"] == [{"sentence": 1, "subword": "a", "output": "what is that"}]
    assert results["value"].tolist() == [0, pytest.approx(1 / 3)] and second["more"] == 1
    assert frequent_subwords(systems[0], 50) == [6, 5, 4, 3]  # no special symbol

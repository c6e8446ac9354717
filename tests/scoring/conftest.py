"""A test set of 200 sentences and two systems that differ from its reference by known rates."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from augury.core.rng import generator

VOCABULARY = (
    "the a of to Mr. House rain didn't well-known said it's , , . . was U.S. 3,5 10-year “quoted” "
    "(aside) Größe café & <b> green old running 1998 50% why? and/or x|y [1] über"
)
WORDS = VOCABULARY.split()


@dataclass(frozen=True)
class Corpus:
    references: list[str]
    better: list[str]
    worse: list[str]


def noisy(sentence: str, rate: float, *key: str | int) -> str:
    random = generator(*key)
    return " ".join(
        random.choice(WORDS) if random.random() < rate else word for word in sentence.split()
    )


@pytest.fixture(scope="session")
def corpus() -> Corpus:
    random = generator("references")
    references = [" ".join(random.choice(WORDS, size=random.integers(3, 25))) for _ in range(200)]
    return Corpus(
        references,
        [noisy(line, 0.30, "better", index) for index, line in enumerate(references)],
        [noisy(line, 0.32, "worse", index) for index, line in enumerate(references)],
    )

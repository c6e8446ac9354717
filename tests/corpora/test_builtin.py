import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.corpora.builtin import SPLITS, Pair, Split, generate


@pytest.fixture(scope="module")
def train() -> list[Pair]:
    return list(generate("train", 5_000))


@pytest.fixture(scope="module")
def held_out() -> list[Pair]:
    return list(generate("test", 1_000))


def test_golden_text() -> None:
    lines = "".join(
        f"{pair.id}\t{pair.source}\t{pair.target}\n" for pair in generate("train", 1_000)
    )
    digest = hashlib.sha256(lines.encode()).hexdigest()
    assert digest == "eadfee3eef020b7e5141f6fb6a08a46e1a0cd522cfeca7513bdefdf2151ba1e7"


@settings(max_examples=15, deadline=None)
@given(
    split=st.sampled_from(SPLITS),
    seed=st.integers(0, 2**40),
    small=st.integers(1, 30),
    more=st.integers(0, 30),
)
def test_a_smaller_corpus_is_the_beginning_of_a_larger_one(
    split: Split, seed: int, small: int, more: int
) -> None:
    larger = list(generate(split, small + more, seed=seed))
    assert list(generate(split, small, seed=seed)) == larger[:small]
    assert [pair.id for pair in larger] == [
        f"builtin-{split}-{index:08}" for index in range(small + more)
    ]


def test_splits_share_no_sentence_and_repeat_none(train: list[Pair], held_out: list[Pair]) -> None:
    splits = [train, list(generate("valid", 1_000)), held_out]
    assert [len(split) for split in splits] == [5_000, 1_000, 1_000]
    assert len({pair.source for split in splits for pair in split}) == 7_000

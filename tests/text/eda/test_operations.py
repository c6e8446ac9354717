from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.rng import generator
from augury.text.eda.operations import (
    OPERATIONS,
    Operation,
    augment,
    change_count,
    clean,
    operation_of,
)

SYNONYMS = {
    "dog": ("hound",),
    "sees": ("notices", "observes"),
    "movie": ("motion picture",),
    "US": ("America",),
    "in": ("inch",),
    "é": ("e",),
}
STOP_WORDS = frozenset({"the", "in", "a"})
vocabulary = st.sampled_from(
    ["dog", "Dog,", "the", "sees", "movie.", "US", "us", "in", "cat", "...", "(é)", "x-y", "4"]
)
sentences = st.lists(vocabulary, max_size=12)
shares = st.floats(0, 1)
seeds = st.integers(0, 50)


def changed(text: str, operation: Operation, alpha: float = 0.2, key: int = 0) -> str:
    return " ".join(augment(text.split(), operation, alpha, generator(key), SYNONYMS, STOP_WORDS))


def all_of(text: str, operation: Operation, alpha: float = 0.2, keys: int = 200) -> Counter[str]:
    return Counter(changed(text, operation, alpha, key) for key in range(keys))


def is_subsequence(part: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(word in rest for word in part)


@pytest.mark.parametrize(
    ("alpha", "expected"), [(0.1, [1, 1, 1, 1, 1, 2]), (0.2, [1, 1, 1, 1, 2, 4])]
)
def test_the_number_of_changes(alpha: float, expected: list[int]) -> None:
    """As the authors' code counts them: `max(1, int(alpha * len))`."""
    assert [change_count(words, alpha) for words in (1, 4, 5, 9, 10, 20)] == expected


def test_as_many_words_are_replaced() -> None:
    synonyms = {f"w{number}": (f"s{number}",) for number in range(20)}
    for alpha, size, count in (
        (0.1, 10, 1),
        (0.1, 20, 2),
        (0.2, 9, 1),
        (0.2, 10, 2),
        (0.2, 20, 4),
        (1.0, 20, 20),
    ):
        words = list(synonyms)[:size]
        replaced = augment(words, "replacement", alpha, generator(alpha, size), synonyms, ())
        assert sum(word.startswith("s") for word in replaced) == count
        longer = augment(
            words,
            "insertion",
            alpha,
            generator(alpha, size),
            {**synonyms, **dict.fromkeys(words, ("s",))},
            (),
        )
        assert len(longer) == size + count


def test_all_occurrences_of_a_word_are_replaced_and_keep_case_and_punctuation() -> None:
    assert changed('Dog (dog) "dog"? dogs', "replacement") == 'Hound (hound) "hound"? dogs'


def test_a_word_is_looked_up_as_it_is_written_and_then_in_lower_case() -> None:
    assert changed("US", "replacement") == "America"
    assert changed("us", "replacement") == "us"
    assert changed("DOG!", "replacement") == "Hound!"


def test_a_synonym_of_several_words_becomes_several_words() -> None:
    words = augment(["A", "Movie."], "replacement", 0.2, generator(0), SYNONYMS, STOP_WORDS)
    assert words == ["A", "Motion", "picture."]


def test_every_synonym_is_drawn_alike() -> None:
    drawn = all_of("sees", "replacement", keys=1000)
    assert set(drawn) == {"notices", "observes"}
    assert 440 < drawn["notices"] < 560  # four standard deviations: 63


@pytest.mark.parametrize("operation", ["replacement", "insertion"])
def test_stop_words_and_words_without_synonyms_give_nothing(operation: Operation) -> None:
    assert set(all_of("In the cat ... in", operation)) == {"In the cat ... in"}


def test_insertion_puts_a_synonym_before_a_word() -> None:
    assert set(all_of("dog, Dog!", "insertion")) == {"hound dog, Dog!", "dog, hound Dog!"}


def test_insertion_gives_up_after_ten_tries() -> None:
    """One word in twenty has a synonym: a try finds it with probability 1/20."""
    text = " ".join(["cat"] * 19 + ["dog"])
    changed = sum(
        count for result, count in all_of(text, "insertion", 0.05, 2000).items() if result != text
    )
    assert abs(changed / 2000 - (1 - 0.95**10)) < 0.045  # 0.401, four standard deviations


def test_swap_gives_up_after_three_draws() -> None:
    """Of two words, a draw gives the same position twice with probability 1/2."""
    drawn = all_of("a b", "swap", keys=2000)
    assert set(drawn) == {"a b", "b a"}
    assert abs(drawn["a b"] / 2000 - 1 / 8) < 0.03  # four standard deviations


def test_swap_changes_as_many_positions() -> None:
    text = [f"w{number}" for number in range(200)]
    swapped = augment(text, "swap", 0.1, generator(0), {}, ())
    moved = sum(old != new for old, new in zip(text, swapped, strict=True))
    assert 30 <= moved <= 40  # twenty swaps, few of which share a position


@pytest.mark.parametrize("operation", ["swap", "deletion"])
@pytest.mark.parametrize("alpha", [0.0, 0.2, 1.0])
def test_one_word_is_neither_swapped_nor_deleted(operation: Operation, alpha: float) -> None:
    assert set(all_of("dog.", operation, alpha, 20)) == {"dog."}


def test_deletion_with_probabilities_zero_and_one() -> None:
    assert set(all_of("a b c", "deletion", 0.0)) == {"a b c"}
    assert set(all_of("a b c", "deletion", 1.0)) == {"a", "b", "c"}


def test_deletion_takes_the_share_asked_for() -> None:
    left = [
        len(augment(["w"] * 1000, "deletion", 0.2, generator(key), {}, ())) for key in range(20)
    ]
    assert abs(np.mean(left) - 800) < 12  # four standard deviations of the mean: 11.3


@pytest.mark.parametrize("operation", OPERATIONS)
def test_an_empty_sentence_stays_empty(operation: Operation) -> None:
    assert augment([], operation, 0.2, generator(0), SYNONYMS, STOP_WORDS) == []


@settings(max_examples=100, deadline=None)
@given(sentences, st.sampled_from(OPERATIONS), shares, seeds)
def test_what_an_operation_keeps(
    words: list[str], operation: Operation, alpha: float, seed: int
) -> None:
    before = list(words)
    result = augment(words, operation, alpha, generator(seed), SYNONYMS, STOP_WORDS)
    assert words == before
    assert bool(result) == bool(words)
    assert all(word and word.split() == [word] for word in result)
    assert result == augment(tuple(words), operation, alpha, generator(seed), SYNONYMS, STOP_WORDS)
    if operation == "swap":
        assert Counter(result) == Counter(words)
    elif operation == "deletion":
        assert is_subsequence(result, words)
    elif operation == "insertion":
        assert is_subsequence(words, result)
        assert not words or result[-1] == words[-1]
    else:
        assert len(result) == len(words) + result.count("picture.")
        assert [word for word in result if word in {"the", "in", "cat", "...", "x-y", "4"}] == [
            word for word in words if word in {"the", "in", "cat", "...", "x-y", "4"}
        ]


def test_the_stream_decides() -> None:
    text = "the dog sees a movie in the US with a cat"
    for operation in OPERATIONS:
        assert changed(text, operation, key=3) == changed(text, operation, key=3)
        assert len(all_of(text, operation, keys=40)) > 1


@pytest.mark.parametrize("offset", range(4))
def test_four_copies_in_a_row_are_the_four_operations(offset: int) -> None:
    for first in (0, 1, 5):
        assert {operation_of(copy, offset) for copy in range(first, first + 4)} == set(OPERATIONS)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It's a Dog-house, No. 3!", "its a dog house no"),
        ("The  cat’s\tpaw\n", "the cats paw"),
        ("Çok café", "ok caf"),
        ("42 ...", ""),
        ("", ""),
    ],
)
def test_cleaning(text: str, expected: str) -> None:
    assert clean(text) == expected

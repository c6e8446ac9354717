"""EDA: its four operations, synonyms and stop words."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.core.rng import generator
from augury.text.eda import OPERATIONS, Operation, augment, load_synonyms, without_stop_words

SYNONYMS = {
    "dog": ("hound",),
    "sees": ("notices", "observes"),
    "movie": ("motion picture",),
    "US": ("America",),
    "é": ("e",),
}
vocabulary = st.sampled_from(
    ["dog", "Dog,", "the", "sees", "movie.", "US", "us", "in", "cat", "...", "(é)", "x-y", "4"]
)
sentences = st.lists(vocabulary, max_size=12)
shares = st.floats(0, 1)
seeds = st.integers(0, 50)


def changed(text: str, operation: Operation, alpha: float = 0.2, key: int = 0) -> str:
    return " ".join(augment(text.split(), operation, alpha, generator(key), SYNONYMS))


def all_of(text: str, operation: Operation, alpha: float = 0.2, keys: int = 200) -> Counter[str]:
    return Counter(changed(text, operation, alpha, key) for key in range(keys))


def is_subsequence(part: list[str], whole: list[str]) -> bool:
    rest = iter(whole)
    return all(word in rest for word in part)


def test_as_many_words_are_replaced() -> None:
    synonyms = {f"w{number}": (f"s{number}",) for number in range(20)}
    for alpha, size, count in ((0.1, 10, 1), (0.2, 9, 1), (0.2, 20, 4), (1.0, 20, 20)):
        words = list(synonyms)[:size]
        replaced = augment(words, "replacement", alpha, generator(alpha, size), synonyms)
        assert sum(word.startswith("s") for word in replaced) == count
        random, every = generator(alpha, size), dict.fromkeys(synonyms, ("s",))
        assert len(augment(words, "insertion", alpha, random, every)) == size + count


def test_all_occurrences_of_a_word_are_replaced_and_keep_case_and_punctuation() -> None:
    assert changed('Dog (dog) "dog"? dogs', "replacement") == 'Hound (hound) "hound"? dogs'


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


def test_deletion_takes_the_share_asked_for() -> None:
    left = [len(augment(["w"] * 1000, "deletion", 0.2, generator(key), {})) for key in range(20)]
    assert abs(np.mean(left) - 800) < 12  # four standard deviations of the mean: 11.3


@settings(max_examples=100, deadline=None)
@given(sentences, st.sampled_from(OPERATIONS), shares, seeds)
def test_what_an_operation_keeps(
    words: list[str], operation: Operation, alpha: float, seed: int
) -> None:
    before = list(words)
    result = augment(words, operation, alpha, generator(seed), SYNONYMS)
    assert words == before
    assert bool(result) == bool(words)
    assert all(word and word.split() == [word] for word in result)
    assert result == augment(tuple(words), operation, alpha, generator(seed), SYNONYMS)
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


def written(path: Path, text: str) -> str:
    path.write_text(text, encoding="utf-8")
    return str(path)


def test_a_table_adds_up_over_lines_and_is_sorted(tmp_path: Path) -> None:
    path = written(
        tmp_path / "table.tsv",
        "dog\thound, canine\n\ncat\tkitty\r\ndog\tanimal,hound,canis_familiaris\n",
    )
    assert load_synonyms(path) == {
        "dog": ("animal", "canine", "canis familiaris", "hound"),
        "cat": ("kitty",),
    }


@pytest.mark.parametrize(
    "line", ["dog", "dog\t", "\thound", "dog\thound,,canine", "dog\thound\tcanine"]
)
def test_a_line_that_is_no_entry_is_named(tmp_path: Path, line: str) -> None:
    path = written(tmp_path / "table.tsv", f"cat\tkitty\n{line}\n")
    with pytest.raises(
        UserError, match=r"table\.tsv, line 2: .* is not an entry; use word<TAB>synonym"
    ):
        load_synonyms(path)


def test_open_english_wordnet(data: Path) -> None:
    synonyms = load_synonyms(str(data / "wordnet_oewn"))
    assert len(synonyms) == 52_691
    assert synonyms["movie"][:3] == ("film", "flick", "motion picture")
    assert "entity" not in synonyms


def test_the_bundled_lists() -> None:
    """The table serves words that EDA may change, and every synonym is new and in plain letters."""
    synonyms = load_synonyms()
    assert len(synonyms) == 342 and without_stop_words(synonyms) == synonyms
    stop_words = dict.fromkeys(["a", "the", "not", "don't", "is", "Are"], ("x",))
    assert without_stop_words(stop_words | synonyms) == synonyms
    assert synonyms["movie"] == ("film", "motion picture", "picture")
    for word, others in synonyms.items():
        assert 1 <= len(others) <= 4 and list(others) == sorted(set(others) - {word})
        letters = "".join(others).replace(" ", "")
        assert letters.isascii() and letters.isalpha() and letters.islower()

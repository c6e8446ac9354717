import hashlib
import math
import re
import unicodedata
from collections import Counter
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from augury.core.errors import UserError
from augury.corpora.builtin import LARGEST, LENGTH, NOTE, SPLITS, Pair, Split, generate

GERMAN = set("abcdefghijklmnopqrstuvwxyzäöüßABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÜ0123456789 .,?!„“")
ENGLISH = set("abcdefghijklmnopqrstuvwxyzäöüßABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÜ0123456789 .,?!“”'-")  # umlauts in names


@pytest.fixture(scope="module")
def train() -> list[Pair]:
    return list(generate("train", 5_000))


@pytest.fixture(scope="module")
def held_out() -> list[Pair]:
    return list(generate("test", 1_000))


def test_golden_text() -> None:
    lines = "".join(f"{pair.id}\t{pair.source}\t{pair.target}\n" for pair in generate("train", 1_000))
    digest = hashlib.sha256(lines.encode()).hexdigest()
    assert digest == "ed00f99808396d0ecc13a7676db6a90e75cf0f2534c00dd53aff762f3eb830e6"


def test_says_that_it_is_synthetic() -> None:
    assert NOTE.startswith("Synthetic text made by a grammar")


@settings(max_examples=15, deadline=None)
@given(split=st.sampled_from(SPLITS), seed=st.integers(0, 2**40), small=st.integers(1, 30), more=st.integers(0, 30))
def test_a_smaller_corpus_is_the_beginning_of_a_larger_one(split: Split, seed: int, small: int, more: int) -> None:
    larger = list(generate(split, small + more, seed=seed))
    assert list(generate(split, small, seed=seed)) == larger[:small]
    assert [pair.id for pair in larger] == [f"builtin-{split}-{index:08}" for index in range(small + more)]


def test_seed_and_lexicon_decide_the_text() -> None:
    def sources(**settings: int) -> list[str]:
        return [pair.source for pair in generate("train", 50, **settings)]

    assert sources() == sources(seed=1, lexicon=2000)
    assert sources() != sources(seed=2)
    assert sources() != sources(lexicon=500)


def test_splits_share_no_sentence_and_repeat_none(train: list[Pair], held_out: list[Pair]) -> None:
    splits = [train, list(generate("valid", 1_000)), held_out]
    assert [len(split) for split in splits] == [5_000, 1_000, 1_000]
    assert len({pair.source for split in splits for pair in split}) == 7_000


def test_splits_of_different_seeds_share_no_sentence(train: list[Pair]) -> None:
    short = {pair.source for pair in generate("test", 300, seed=2, lexicon=500)}
    assert short.isdisjoint(pair.source for pair in train)


def test_largest_size_is_made_as_it_is_read() -> None:
    assert next(generate("train", LARGEST)) == next(generate("train", 1))


def test_text_is_clean(train: list[Pair]) -> None:
    for pair in train:
        for text, alphabet in ((pair.source, GERMAN), (pair.target, ENGLISH)):
            assert set(text) <= alphabet, text
            assert unicodedata.is_normalized("NFC", text)
            assert text == " ".join(text.split(" ")) == text.strip()
            assert "  " not in text and ",," not in text and " ," not in text and ",." not in text
            assert text[0].isupper() or text[0] in "„“" or text[0].isdigit()
            assert len(text.split()) in LENGTH
    assert set("äöüßÄÖÜ") <= set("".join(pair.source for pair in train))


def test_both_sides_say_the_same(train: list[Pair]) -> None:
    for pair in train:
        assert pair.source.count("?") == pair.target.count("?")
        assert re.findall(r"\d+", pair.source) == re.findall(r"\d+", pair.target)
        assert ("Herr" in pair.source) <= bool(re.search("Mr", pair.target))


def test_sentence_lengths(train: list[Pair]) -> None:
    for side in ("source", "target"):
        mean = sum(len(getattr(pair, side).split()) for pair in train) / len(train)
        assert 8 < mean < 12


@pytest.mark.parametrize(("side", "hapax"), [("source", (0.40, 0.65)), ("target", (0.30, 0.55))])
def test_words_follow_zipf(train: list[Pair], side: str, hapax: tuple[float, float]) -> None:
    counts = Counter(word for pair in train for word in re.findall(r"\w+", getattr(pair, side)))
    frequencies = sorted(counts.values(), reverse=True)
    points = [(math.log(rank), math.log(frequency)) for rank, frequency in enumerate(frequencies[:1000], 1)]
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    slope = sum((x - mean_x) * (y - mean_y) for x, y in points) / sum((x - mean_x) ** 2 for x, _ in points)
    assert -1.3 < slope < -0.8
    assert hapax[0] < frequencies.count(1) / len(frequencies) < hapax[1]


def test_words_of_the_test_set_that_training_never_shows(train: list[Pair], held_out: list[Pair]) -> None:
    known = {word for pair in train for word in re.findall(r"\w+", pair.source)}
    words = [word for pair in held_out for word in re.findall(r"\w+", pair.source)]
    assert 0.03 < sum(word not in known for word in words) / len(words) < 0.12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"split": "dev", "size": 5}, "unknown split 'dev': allowed: test, train, valid"),
        ({"split": "train", "size": 0}, "no split of 0 pairs: give a size from 1 to 10,000,000"),
        ({"split": "train", "size": LARGEST + 1}, "no split of 10000001 pairs"),
        ({"split": "train", "size": 5, "lexicon": 10}, "no lexicon of 10 entries: 3.. are hand-written"),
        ({"split": "train", "size": 5, "lexicon": 10**6}, "to 50000"),
    ],
)
def test_impossible_requests_fail_at_once(arguments: dict[str, int], message: str) -> None:
    with pytest.raises(UserError, match=message):
        generate(**arguments)


def test_any_lexicon_speaks() -> None:
    for lexicon in (400, 10_000):
        assert len(list(islice(generate("train", 200, lexicon=lexicon), 200))) == 200
